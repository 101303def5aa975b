import type { Db } from '../database/db.ts'
import { EcommerceStatus } from '../domain/ecommerce/ecommerce-status.ts'
import { ApiError } from '../errors/api-error.ts'
import { EmptyBody } from '../http/body/body.ts'
import type { ReadContext } from '../http/routing/operation.ts'
import { get, post } from '../http/routing/route-definitions.ts'
import { findConnection } from '../store/ecommerce/connections.ts'
import { findPushState } from '../store/ecommerce/push-state.ts'
import { findNewestReconciliation, queueReconciliation } from '../store/ecommerce/reconciliations.ts'
import { countLevels } from '../store/ecommerce/status.ts'

const [tag, role, errors] = ['Syncs', 'admin', ['capability_unavailable']] as const

/** The stock push to the e-commerce platform. */
export const ecommerce = [
  get(
    '/ecommerce',
    {
      operationId: 'getEcommerce',
      tag,
      role,
      summary: 'Get the stock push',
      description: 'Levels of stock on the platform by state, and the newest comparison.',
      response: EcommerceStatus,
      errors,
    },
    async context => ({ data: await readStatus(context) }),
  ),

  post(
    '/ecommerce/reconciliations',
    {
      operationId: 'startReconciliation',
      tag,
      role,
      status: 202,
      summary: "Compare the platform's stock",
      description: 'Starts when a worker is free.',
      body: EmptyBody,
      response: EcommerceStatus,
      errors,
    },
    ({ keys, service }) =>
      async tx => {
        if (!(await queueReconciliation(tx, service)))
          throw new ApiError('capability_unavailable', 'The stock push is off. Set `stockPush` to `dryRun` or `on`.')
        return { data: await readStatus({ db: tx, keys, service }), subject: '/ecommerce' }
      },
  ),
]

async function readStatus({ db, keys, service }: Pick<ReadContext, 'keys' | 'service'> & { db: Db }) {
  const stored = await findConnection(db, keys, service)
  if (!stored)
    throw new ApiError(
      'capability_unavailable',
      'The service has no connection to an e-commerce platform. Run `tillbridge ecommerce set`.',
    )
  const { url, apiVersion, stockPush } = stored.settings
  const [push, counts, newest] = await Promise.all([
    findPushState(db, service),
    countLevels(db, service),
    findNewestReconciliation(db, service),
  ])
  const reconciliation = newest ? JSON.parse(newest.record) : null
  return { url, apiVersion, stockPush, isStopped: push?.isStopped ?? false, ...counts, reconciliation }
}
