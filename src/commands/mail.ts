import { type Command, Option } from 'commander'
import { listMails, type MailStatus, retryMails } from '../store/mail/mails.ts'
import { examples } from './terminal/examples.ts'
import { serviceOption } from './terminal/service-option.ts'
import { withDatabase } from './terminal/session.ts'
import { table } from './terminal/table.ts'

export function mailCommand(program: Command) {
  const mail = program
    .command('mail')
    .description('E-mails to shoppers: how far they have come, and another attempt.')
    .addHelpText(
      'after',
      examples(['mail list --status failed', 'what was given up, and why'], ['mail retry', 'try all of those again']),
    )

  mail
    .command('list')
    .description('The newest e-mails of a service. Whom they go to and what they say is encrypted.')
    .option(...serviceOption)
    .addOption(new Option('--status <status>', 'only these').choices(['queued', 'sent', 'failed']))
    .addHelpText('after', examples(['mail list --service luma', 'the last 50']))
    .action(({ service: name, status }: { service?: string; status?: MailStatus }) =>
      withDatabase(async ({ services }) => {
        const { service, db } = await services.find(name)
        const found = await listMails(db, service, status, 50)
        console.log(
          table(
            ['mail', 'voucher', 'status', 'attempts', 'queued', 'sent', 'next attempt', 'last fault'],
            found.map(({ id, voucher, status: state, attempts, createdAt, sentAt, dueAt, lastFault }) => [
              id,
              voucher,
              state,
              String(attempts),
              shortly(createdAt),
              shortly(sentAt),
              shortly(dueAt),
              lastFault ?? '',
            ]),
          ),
        )
      }),
    )

  mail
    .command('retry')
    .argument('[mail]', 'its id, as the list shows it; without one all that failed')
    .description('Try e-mails again at once that failed, or that wait for their next attempt.')
    .option(...serviceOption)
    .addHelpText('after', examples(['mail retry', 'all that failed']))
    .action((id: string | undefined, { service: name }: { service?: string }) =>
      withDatabase(async ({ services }) => {
        const { service, db } = await services.find(name)
        const retried = await retryMails(db, service, id)
        if (id !== undefined && !retried)
          throw new Error(`There is no e-mail ${id} to be tried again: it was sent, is not due yet, or is forgotten.`)
        console.log(retried === 1 ? 'One e-mail is tried again.' : `${retried} e-mails are tried again.`)
      }),
    )
}

/** To the second, in UTC. */
const shortly = (moment: Date | null) => moment?.toISOString().slice(0, 19).replace('T', ' ') ?? ''
