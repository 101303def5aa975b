import type { Db } from '../database/db.ts'
import {
  EcommerceStatus,
  levelStates,
  PlatformLevel,
  StockDrift,
  StockReconciliation,
} from '../domain/ecommerce/ecommerce-status.ts'
import { Flag, OneOf } from '../domain/values/fields.ts'
import { ApiError, notFound } from '../errors/api-error.ts'
import { EmptyBody } from '../http/body/body.ts'
import { Filter } from '../http/pagination/lists.ts'
import type { ReadContext } from '../http/routing/operation.ts'
import { get, list, post } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { readPoints } from '../store/ecommerce/budget.ts'
import { findConnection } from '../store/ecommerce/connections.ts'
import { approvePush, findPushState, pushStockJob, startPush } from '../store/ecommerce/push-state.ts'
import {
  dryRunDays,
  findNewestReconciliation,
  hasRecentDryRun,
  queueReconciliation,
  readDriftPage,
  readReconciliationPage,
  reconciliationExists,
} from '../store/ecommerce/reconciliations.ts'
import { countLevels, readLevelPage } from '../store/ecommerce/status.ts'
import { addJob } from '../store/jobs/jobs.ts'

const [tag, role, errors] = ['Syncs', 'admin', ['capability_unavailable']] as const
const subject = '/ecommerce'

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
        if (!(await queueReconciliation(tx, service))) throw createPushOffError()
        return { data: await readStatus({ db: tx, keys, service }), subject }
      },
  ),

  list(
    '/ecommerce/reconciliations',
    {
      operationId: 'listReconciliations',
      tag,
      role,
      summary: 'List comparisons of stock',
      description: 'Those of 90 days, newest first.',
      defaultLimit: 20,
      item: StockReconciliation,
    },
    ({ db, service }, page) => readReconciliationPage(db, service, page),
  ),

  list(
    '/ecommerce/reconciliations/:id/drift',
    {
      operationId: 'listStockDrift',
      tag,
      role,
      summary: 'List stock that others changed',
      description: 'By item and location.',
      params: { id: { description: 'The comparison.', example: '019a1f0e-7c11-7b6e-9d0f-2b7d3c1a8e44' } },
      item: StockDrift,
    },
    async ({ db, service, params: { id } }, page) => {
      if (!(await reconciliationExists(db, service, id))) throw notFound('reconciliation')
      return readDriftPage(db, service, id, page)
    },
  ),

  list(
    '/ecommerce/levels',
    {
      operationId: 'listStockLevels',
      tag,
      role,
      summary: 'List stock on the platform',
      description: 'By item and location.',
      query: Type.Object({
        state: Type.Optional(OneOf('Only this state.', levelStates)),
        reason: Filter('Only levels held for this reason.', 'unmapped'),
        itemId: Filter('Only this item.', 'gid://shopify/InventoryItem/43729076'),
      }),
      item: PlatformLevel,
      errors,
    },
    async ({ db, keys, service, driver: { isEmbedded }, query }, page) => {
      const { nettingDelayMinutes } = (await requireConnection({ db, keys, service })).settings
      return readLevelPage(db, service, { isEmbedded, nettingDelayMinutes }, query, page)
    },
  ),

  post(
    '/ecommerce/push',
    {
      operationId: 'pushStock',
      tag,
      role,
      status: 202,
      summary: 'Push stock now',
      description:
        '`approve` confirms the first push after a dry run, or continues a stopped one. Review the differences before.',
      body: Type.Object(
        { approve: Type.Optional(Flag('True: a person has reviewed the differences.')) },
        { $id: 'StockPushInput', additionalProperties: false },
      ),
      response: EcommerceStatus,
      errors,
    },
    ({ keys, service, body: { approve = false } }) =>
      async tx => {
        const { stockPush } = (await requireConnection({ db: tx, keys, service })).settings
        if (stockPush === 'off' || (stockPush === 'dryRun' && !approve)) throw createPushOffError()
        if (stockPush === 'dryRun') {
          if (!(await hasRecentDryRun(tx, service)))
            throw new ApiError(
              'capability_unavailable',
              `The push requires a dry run of the last ${dryRunDays} days. Call \`POST /ecommerce/reconciliations\` first.`,
            )
          await startPush(tx, service)
        } else if (approve) await approvePush(tx, service)
        else if ((await findPushState(tx, service))?.isStopped)
          throw new ApiError('capability_unavailable', 'The push is stopped. Review the levels, then send `approve`.')
        await addJob(tx, service.id, pushStockJob)
        return { data: await readStatus({ db: tx, keys, service }), subject }
      },
  ),
]

const createPushOffError = () =>
  new ApiError('capability_unavailable', 'The stock push is off. Set `stockPush` to `dryRun` or `on`.')

type ConnectionContext = Pick<ReadContext, 'keys' | 'service'> & { db: Db }

async function requireConnection({ db, keys, service }: ConnectionContext) {
  const stored = await findConnection(db, keys, service)
  if (stored) return stored
  throw new ApiError(
    'capability_unavailable',
    'The service has no connection to an e-commerce platform. Run `tillbridge ecommerce set`.',
  )
}

async function readStatus({ db, keys, service }: ConnectionContext) {
  const { connectionId, settings, subscriptions } = await requireConnection({ db, keys, service })
  const { driver, url, apiVersion, stockPush } = settings
  const [push, counts, points, newest] = await Promise.all([
    findPushState(db, service),
    countLevels(db, service),
    readPoints(db, service, connectionId),
    findNewestReconciliation(db, service),
  ])
  const reconciliation = newest ? JSON.parse(newest.record) : null
  return {
    driver,
    url,
    apiVersion,
    stockPush,
    isStopped: push?.isStopped ?? false,
    ...counts,
    points: points ?? null,
    subscriptions,
    reconciliation,
  }
}
