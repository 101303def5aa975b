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
    description: 'Stop a gift voucher from being used, also where a sale holds it, until it is resumed.',
    why: 'it was reported stolen',
    impossible: 'Only a voucher that is active or locked can be suspended',
  },
  resume: {
    description: 'Let a suspended gift voucher be used again.',
    why: 'it was found',
    impossible: 'Only a voucher that is suspended can be resumed',
  },
  release: {
    description: 'Take a gift voucher from the sale that holds it: another one can use it at once.',
    why: 'a till has died with it',
    impossible: 'Only a voucher that is locked can be released',
  },
  activate: {
    description: 'Put a gift voucher that was not issued yet into use.',
    why: 'a card was sold',
    impossible: 'Only a voucher that is pending can be activated',
  },
}

export function voucherCommand(program: Command) {
  const voucher = program
    .command('voucher')
    .description('Gift vouchers: what has become of one, and stopping it. A PIN is never shown.')
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
    .description('A gift voucher, and each step in its ledger.')
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
            ['at', 'step', 'amount', 'state', 'held by', 'order'],
            ledger.map(({ at, kind, amount, state, heldBy, orderNumber }) => [
              ...[at, kind, amount, state],
              ...[heldBy ?? '-', orderNumber ?? '-'],
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
