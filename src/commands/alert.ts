import type { Command } from 'commander'
import { wayOutOf } from '../domain/alerts.ts'
import { listAlerts, settleKind } from '../store/alerts/alerts.ts'
import { leaveCommandLine } from './terminal/audit.ts'
import { examples } from './terminal/examples.ts'
import { serviceOption } from './terminal/service-option.ts'
import { eachDatabase, withDatabase } from './terminal/session.ts'
import { table } from './terminal/table.ts'

export function alertCommand(program: Command) {
  const alert = program
    .command('alert')
    .description('Alerts: what somebody has to look at, until it is settled.')
    .addHelpText(
      'after',
      examples(['alert list', 'those of all services'], ['alert settle voucher_refused', 'somebody has looked at it']),
    )

  alert
    .command('list')
    .description(
      'The newest alerts that are not settled. Some settle themselves: when the mail server takes e-mails again.',
    )
    .addHelpText('after', examples(['alert list', 'those of all services']))
    .action(() =>
      withDatabase(async ({ databases }) => {
        const found = (await eachDatabase(databases, listAlerts)).flat()
        console.log(
          table(
            ['service', 'alert', 'about', 'times', 'last', 'what'],
            found.map(({ service, kind, subject, times, raisedAt, detail }) => [
              service,
              kind,
              subject,
              String(times),
              raisedAt.toISOString().slice(0, 19).replace('T', ' '),
              detail,
            ]),
          ),
        )
        for (const wayOut of new Set(found.map(one => `${one.kind}: ${wayOutOf(one)}`))) console.log(wayOut)
      }),
    )

  alert
    .command('settle')
    .argument('<alert>', 'its kind, as the list shows it')
    .description('Put away all alerts of a kind, after somebody has looked at them.')
    .option(...serviceOption)
    .addHelpText('after', examples(['alert settle mail_failed --service luma', 'for one service']))
    .action((kind: string, { service: name }: { service?: string }) =>
      withDatabase(async ({ services }) => {
        const { service, db } = await services.find(name)
        const settled = await db.transaction(async tx => {
          const settled = await settleKind(tx, service.id, kind)
          if (settled) await leaveCommandLine(tx, service, { operation: `alert settle ${kind}`, subject: '/alerts' })
          return settled
        })
        if (!settled) throw new Error(`There is no alert ${kind} of ${service.name}.`)
        console.log(settled === 1 ? 'One alert is settled.' : `${settled} alerts are settled.`)
      }),
    )
}
