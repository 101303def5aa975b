import {
  EcommerceLevel,
  EcommerceStatus,
  levelStates,
  StockReconciliation,
} from '../domain/ecommerce/ecommerce-status.ts'
import { ApiError, type FieldError } from '../errors/api-error.ts'
import { NoBody } from '../http/body/body.ts'
import { Filter } from '../http/pagination/lists.ts'
import type { ReadContext } from '../http/routing/operation.ts'
import { get, list, post } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { findConnection } from '../store/ecommerce/connections.ts'
import { findPushState } from '../store/ecommerce/push-state.ts'
import { findReconciliation, queueReconciliation, readReconciliationPage } from '../store/ecommerce/reconciliations.ts'
import { countLevels, readLevelPage } from '../store/ecommerce/status.ts'

const [tag, role, errors] = ['Syncs', 'admin', ['capability_unavailable']] as const
const missing = 'The service has no connection to an e-commerce platform. Run `tillbridge ecommerce set`.'

async function requireConnection({ db, keys, service }: Pick<ReadContext, 'db' | 'keys' | 'service'>) {
  const stored = await findConnection(db, keys, service)
  if (!stored) throw new ApiError('capability_unavailable', missing)
  return stored
}

/** The states of a filter that are unknown. */
const checkStates = (text: string | undefined): FieldError[] =>
  (text?.split(',') ?? []).every(name => (levelStates as readonly string[]).includes(name))
    ? []
    : [{ parameter: 'state', code: 'invalid_parameter', detail: `\`state\` must list ${levelStates.join(', ')}.` }]

/** The connection to the e-commerce platform: its stock. */
export const ecommerce = [
  get(
    '/ecommerce',
    {
      operationId: 'getEcommerce',
      tag,
      role,
      summary: 'Get the stock push',
      description: 'The stock push to the platform.',
      response: EcommerceStatus,
      errors,
    },
    async context => {
      const { db, service } = context
      const { settings } = await requireConnection(context)
      const { url, apiVersion, stockPush } = settings
      const [push, counts] = [await findPushState(db, service), await countLevels(db, service)]
      const isStopped = push?.isStopped ?? false
      return { data: { url, apiVersion, stockPush, isStopped, ...counts } }
    },
  ),

  list(
    '/ecommerce/levels',
    {
      operationId: 'listEcommerceLevels',
      tag,
      role,
      summary: 'List stock of the platform',
      description: 'Each with its desired quantity.',
      query: Type.Object({ state: Type.Optional(Filter('States, separated by commas.', 'due,held')) }),
      item: EcommerceLevel,
      errors,
      validate: ({ state }) => checkStates(state),
    },
    async (context, page) => {
      const { db, service, driver, query } = context
      const { settings } = await requireConnection(context)
      const rules = { isEmbedded: driver.isEmbedded, nettingDelayMinutes: settings.nettingDelayMinutes }
      return readLevelPage(db, service, rules, query.state?.split(','), page)
    },
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
      body: NoBody,
      response: StockReconciliation,
      errors,
    },
    ({ service }) =>
      async tx => {
        const id = await queueReconciliation(tx, service)
        const queued = id === undefined ? undefined : await findReconciliation(tx, service, id)
        if (!queued)
          throw new ApiError('capability_unavailable', 'The stock push is off. Set `stockPush` to `dryRun` or `on`.')
        return { record: queued.record, subject: '/ecommerce/reconciliations' }
      },
  ),

  list(
    '/ecommerce/reconciliations',
    {
      operationId: 'listReconciliations',
      tag,
      role,
      summary: 'List stock comparisons',
      description: 'Newest first, for 90 days.',
      item: StockReconciliation,
      errors,
    },
    async (context, page) => {
      await requireConnection(context)
      return readReconciliationPage(context.db, context.service, page)
    },
  ),
]
