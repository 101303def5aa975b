import { AlertRecord } from '../domain/alerts.ts'
import { notFound } from '../errors/api-error.ts'
import { NoBody } from '../http/body/body.ts'
import { list, post } from '../http/routing/route-definitions.ts'
import { alertPage, settleOne } from '../store/alerts/alerts.ts'

const [tag, role] = ['Alerts', 'maintainer'] as const

/** What somebody has to look at, with the way out. Some name vouchers, so that whoever only reads does not see them. */
export const alerts = [
  list(
    '/alerts',
    {
      operationId: 'listAlerts',
      tag,
      role,
      summary: 'List alerts',
      description:
        'Each with what to do about it. Those that settle themselves go once what they are about is well again.',
      item: AlertRecord,
    },
    ({ db, service }, asked) => alertPage(db, service, asked),
  ),

  post(
    '/alerts/:id/settle',
    {
      operationId: 'settleAlert',
      tag,
      role,
      status: 200,
      summary: 'Resolve an alert',
      description: 'Should it happen again, there is another one.',
      params: { id: { description: 'The alert.', example: '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44' } },
      body: NoBody,
      answer: AlertRecord,
    },
    ({ service, params: { id } }) =>
      async tx => {
        const settled = await settleOne(tx, service, id)
        if (!settled) throw notFound('alert')
        return { record: settled.record, subject: `/alerts/${encodeURIComponent(id)}` }
      },
  ),
]
