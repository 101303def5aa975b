import { Option } from 'commander'
import { countNoun } from '../domain/values/nouns.ts'
import { type EmailStatus, listEmails, retryEmails } from '../store/mail/emails.ts'
import { type Command, serviceOption } from './terminal/command.ts'
import { withDatabase } from './terminal/session.ts'
import { formatTable } from './terminal/table.ts'

export function buildMailCommand(program: Command) {
  const mail = program
    .command('mail')
    .description('Inspect and retry emails')
    .examples(
      ['mail list --status failed', 'lists failed emails with their errors'],
      ['mail retry', 'retries all failed emails'],
    )

  mail
    .command('list')
    .description('List the newest emails of a service')
    .option(...serviceOption)
    .addOption(new Option('--status <status>', 'only emails with this status').choices(['queued', 'sent', 'failed']))
    .examples(['mail list --service luma', 'lists the last 50, without their encrypted content'])
    .action(({ service: name, status }: { service?: string; status?: EmailStatus }) =>
      withDatabase(async ({ services }) => {
        const { service, db } = await services.find(name)
        const emails = await listEmails(db, service, status, 50)
        console.log(
          formatTable(
            ['mail', 'voucher', 'status', 'attempts', 'queued', 'sent', 'next attempt', 'last error'],
            emails.map(({ id, voucher, status: state, attempts, createdAt, sentAt, dueAt, lastError }) => [
              id,
              voucher,
              state,
              String(attempts),
              toSecond(createdAt),
              toSecond(sentAt),
              toSecond(dueAt),
              lastError ?? '',
            ]),
          ),
        )
      }),
    )

  mail
    .command('retry')
    .argument('[mail]', 'the ID from `mail list` (default: all failed emails)')
    .description('Retry emails now')
    .option(...serviceOption)
    .examples(['mail retry', 'retries all failed emails'])
    .action((id: string | undefined, { service: name }: { service?: string }) =>
      withDatabase(async ({ services }) => {
        const { service, db } = await services.find(name)
        const retried = await retryEmails(db, service, id)
        if (id !== undefined && !retried)
          throw new Error(
            `Email ${id} can't be retried: it was sent, is not queued or was purged. Run "tillbridge mail list".`,
          )
        console.log(`${countNoun(retried, 'email')} will be retried.`)
      }),
    )
}

/** Formats a timestamp to the second, in UTC. */
const toSecond = (timestamp: Date | null) => timestamp?.toISOString().slice(0, 19).replace('T', ' ') ?? ''
