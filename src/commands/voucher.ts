import type { Command } from 'commander'
import { type Decision, decideOnVoucher } from '../backoffice/embedded/vouchers/decisions.ts'
import { readLedger } from '../store/vouchers/ledger.ts'
import { readVoucher } from '../store/vouchers/vouchers.ts'
import { leaveCommandLine } from './terminal/audit.ts'
import { examples } from './terminal/examples.ts'
import { requireOwnTables } from './terminal/require-embedded.ts'
import { serviceOption } from './terminal/service-option.ts'
import { withDatabase } from './terminal/session.ts'
import { table } from './terminal/table.ts'

interface Options {
  service?: string
}

const decisions: Record<Decision, { description: string; why: string; impossible: string }> = {
  suspend: {
    description: 'Suspend a voucher',
    why: 'it was reported stolen',
    impossible: 'Only an active or locked voucher can be suspended',
  },
  resume: {
    description: 'Resume a suspended voucher',
    why: 'it was found',
    impossible: 'Only a suspended voucher can be resumed',
  },
  unlock: {
    description: 'Unlock a voucher',
    why: 'the till that locked it has crashed',
    impossible: 'Only a locked voucher can be unlocked',
  },
  activate: {
    description: 'Activate a voucher',
    why: 'a card was sold',
    impossible: 'Only a pending voucher can be activated',
  },
}

export function voucherCommand(program: Command) {
  const voucher = program
    .command('voucher')
    .description('Inspect and manage gift vouchers')
    .addHelpText(
      'after',
      examples(
        ['voucher show 9100001 --service luma', 'its balance and its ledger'],
        ['voucher suspend 9100001 --service luma', 'nobody can use it'],
        ['voucher resume 9100001 --service luma', 'it can be used again'],
      ),
    )

  voucher
    .command('show')
    .argument('<number>')
    .description('Show a voucher and its ledger')
    .option(...serviceOption)
    .addHelpText('after', examples(['voucher show 9100001', 'its balance and its ledger']))
    .action((number: string, { service: name }: Options) =>
      withDatabase(async ({ services }) => {
        const { service, db } = await services.find(name)
        const found = await readVoucher(db, service, number)
        if (!found) throw noVoucher(number)
        const { email, ...facts } = found
        const rows = Object.entries({ ...facts, email: email?.status ?? null })
        console.log(
          table(
            ['field', 'value'],
            rows.map(([field, value]) => [field, String(value ?? '-')]),
          ),
        )
        const ledger = await readLedger(db, service, found)
        console.log(
          `\n${table(
            ['at', 'entry', 'amount', 'state', 'locked by', 'order'],
            ledger.map(({ at, kind, amount, state, lockedBy, orderNumber }) => [
              ...[at, kind, amount, state],
              ...[lockedBy ?? '-', orderNumber ?? '-'],
            ]),
          )}`,
        )
      }),
    )

  for (const [decision, { description, why, impossible }] of Object.entries(decisions))
    voucher
      .command(decision)
      .argument('<number>')
      .description(description)
      .option(...serviceOption)
      .addHelpText('after', examples([`voucher ${decision} 9100001 --service luma`, why]))
      .action((number: string, { service: name }: Options) =>
        withDatabase(async ({ keys, services }) => {
          const placed = await services.find(name)
          await requireOwnTables({ keys }, placed, 'Vouchers', 'it is decided there')
          const { service, db } = placed
          const outcome = await db.transaction(async tx => {
            const outcome = await decideOnVoucher(tx, service, number, decision as Decision)
            const subject = `/vouchers/${encodeURIComponent(number)}`
            if (outcome?.done) await leaveCommandLine(tx, service, { operation: `voucher ${decision}`, subject })
            return outcome
          })
          if (!outcome) throw noVoucher(number)
          if (!outcome.done) throw new Error(`${impossible}; ${number} is ${outcome.state}.`)
          console.log(`The voucher ${number} is ${outcome.state}.`)
        }),
      )
}

const noVoucher = (number: string) => new Error(`There is no voucher ${number}.`)
