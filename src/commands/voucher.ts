import { type Decision, decideOnVoucher } from '../backoffice/embedded/vouchers/decisions.ts'
import { readLedger } from '../store/vouchers/ledger.ts'
import { readVoucher } from '../store/vouchers/vouchers.ts'
import { commandWriter, recordCommand } from './terminal/audit.ts'
import { type Command, serviceOption } from './terminal/command.ts'
import { requireEmbeddedBackOffice } from './terminal/require-embedded.ts'
import { withDatabase } from './terminal/session.ts'
import { formatTable } from './terminal/table.ts'

interface Options {
  service?: string
}

const decisions: Record<Decision, { description: string; example: string; requirement: string }> = {
  suspend: {
    description: 'Suspend a voucher',
    example: 'blocks a voucher that was reported stolen',
    requirement: 'Only an active or locked voucher can be suspended',
  },
  resume: {
    description: 'Resume a suspended voucher',
    example: 'unblocks it',
    requirement: 'Only a suspended voucher can be resumed',
  },
  unlock: {
    description: 'Unlock a voucher',
    example: 'releases the lock of a crashed till',
    requirement: 'Only a locked voucher can be unlocked',
  },
  activate: {
    description: 'Activate a voucher',
    example: 'activates a card when it is sold',
    requirement: 'Only a pending voucher can be activated',
  },
}

export function buildVoucherCommand(program: Command) {
  const voucher = program
    .command('voucher')
    .description('Inspect and manage gift vouchers')
    .examples(
      ['voucher show 9100001 --service luma', 'shows its balance and ledger'],
      ['voucher suspend 9100001 --service luma', 'blocks it'],
      ['voucher resume 9100001 --service luma', 'unblocks it'],
    )

  voucher
    .command('show')
    .argument('<number>')
    .description('Show a voucher and its ledger')
    .option(...serviceOption)
    .examples(['voucher show 9100001', 'shows its balance and ledger'])
    .action((number: string, { service: name }: Options) =>
      withDatabase(async ({ services }) => {
        const { service, db } = await services.find(name)
        const record = await readVoucher(db, service, number)
        if (!record) throw voucherNotFound(number)
        const { email, ...facts } = record
        const rows = Object.entries({ ...facts, email: email?.status ?? null })
        console.log(
          formatTable(
            ['field', 'value'],
            rows.map(([field, value]) => [field, String(value ?? '-')]),
          ),
        )
        const ledger = await readLedger(db, service, record)
        console.log(
          `\n${formatTable(
            [`at (${service.settings.timeZone})`, 'entry', 'amount', 'state', 'account', 'locked by', 'order'],
            ledger.map(({ at, kind, amount, state, username, lockedBy, orderNumber }) => [
              ...[at, kind, amount, state],
              ...[username ?? '-', lockedBy ?? '-', orderNumber ?? '-'],
            ]),
          )}`,
        )
      }),
    )

  for (const [decision, { description, example, requirement }] of Object.entries(decisions))
    voucher
      .command(decision)
      .argument('<number>')
      .description(description)
      .option(...serviceOption)
      .examples([`voucher ${decision} 9100001 --service luma`, example])
      .action((number: string, { service: name }: Options) =>
        withDatabase(async ({ keys, services }) => {
          const located = await services.find(name)
          await requireEmbeddedBackOffice({ keys }, located, 'Vouchers', 'manage them there')
          const { service, db } = located
          const outcome = await db.transaction(async tx => {
            const result = await decideOnVoucher(tx, service, number, decision as Decision, commandWriter)
            const subject = `/vouchers/${encodeURIComponent(number)}`
            if (result?.isApplied) await recordCommand(tx, service, { operation: `voucher ${decision}`, subject })
            return result
          })
          if (!outcome) throw voucherNotFound(number)
          if (!outcome.isApplied) throw new Error(`${requirement}; ${number} is ${outcome.state}.`)
          console.log(`Voucher ${number} is ${outcome.state}.`)
        }),
      )
}

const voucherNotFound = (number: string) => new Error(`Voucher ${number} not found.`)
