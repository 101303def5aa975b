import { getRemedy } from '../domain/alerts.ts'
import { countNoun } from '../domain/values/nouns.ts'
import { listAlerts, resolveAlertsOfKind } from '../store/alerts/alerts.ts'
import { recordCommand } from './terminal/audit.ts'
import { type Command, serviceOption } from './terminal/command.ts'
import { queryAllDatabases, withDatabase } from './terminal/session.ts'
import { formatTable } from './terminal/table.ts'

export function buildAlertCommand(program: Command) {
  const alert = program
    .command('alert')
    .description('List and resolve alerts')
    .examples(
      ['alert list', 'lists the alerts of all services'],
      ['alert resolve voucher_pin_guessing', 'resolves all alerts of this type'],
    )

  alert
    .command('list')
    .description('List the newest unresolved alerts')
    .examples(['alert list', 'lists the newest 50 alerts, and what to do about them'])
    .action(() =>
      withDatabase(async ({ databases }) => {
        const alerts = (await queryAllDatabases(databases, listAlerts)).flat()
        console.log(
          formatTable(
            ['service', 'alert', 'subject', 'times', 'last', 'detail'],
            alerts.map(({ service, kind, subject, times, raisedAt, detail }) => [
              service,
              kind,
              subject,
              String(times),
              raisedAt.toISOString().slice(0, 19).replace('T', ' '),
              detail,
            ]),
          ),
        )
        for (const remedy of new Set(alerts.map(openAlert => `${openAlert.kind}: ${getRemedy(openAlert)}`)))
          console.log(remedy)
      }),
    )

  alert
    .command('resolve')
    .argument('<alert>', 'the alert type (see tillbridge alert list)')
    .description('Resolve all alerts of a type')
    .option(...serviceOption)
    .examples(['alert resolve email_failed --service luma', 'resolves them for one service'])
    .action((kind: string, { service: name }: { service?: string }) =>
      withDatabase(async ({ services }) => {
        const { service, db } = await services.find(name)
        const resolved = await db.transaction(async tx => {
          const count = await resolveAlertsOfKind(tx, service.id, kind)
          if (count) await recordCommand(tx, service, { operation: `alert resolve ${kind}`, subject: '/alerts' })
          return count
        })
        if (!resolved) throw new Error(`Service ${service.name} has no alert ${kind}. Run "tillbridge alert list".`)
        console.log(`${countNoun(resolved, 'alert')} resolved.`)
      }),
    )
}
