import { AlertRecord } from '../domain/alerts.ts'
import { notFound } from '../errors/api-error.ts'
import { EmptyBody } from '../http/body/body.ts'
import { list, post } from '../http/routing/route-definitions.ts'
import { readAlertPage, resolveAlertById } from '../store/alerts/alerts.ts'

const [tag, role] = ['Alerts', 'maintainer'] as const

/** Problems that need attention, with their remedies. Visitors can't list them, because some contain voucher numbers. */
export const alerts = [
  list(
    '/alerts',
    {
      operationId: 'listAlerts',
      tag,
      role,
      summary: 'List alerts',
      description:
        'Unresolved alerts, each with its remedy. An alert with `autoResolves` disappears when its cause is fixed.',
      item: AlertRecord,
    },
    ({ db, service }, page) => readAlertPage(db, service, page),
  ),

  post(
    '/alerts/:id/resolve',
    {
      operationId: 'resolveAlert',
      tag,
      role,
      status: 200,
      summary: 'Resolve an alert',
      description: 'If the problem recurs, Tillbridge records a new alert.',
      params: { id: { description: 'The alert.', example: '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44' } },
      body: EmptyBody,
      response: AlertRecord,
    },
    ({ service, params: { id } }) =>
      async tx => {
        const resolved = await resolveAlertById(tx, service, id)
        if (!resolved) throw notFound('alert')
        return { record: resolved.record, subject: `/alerts/${encodeURIComponent(id)}` }
      },
  ),
]
