import type { Db } from '../database/db.ts'
import { Sync, SyncRun, SyncRunInput, syncName } from '../domain/sync/syncs.ts'
import { notFound } from '../errors/api-error.ts'
import type { ReadContext } from '../http/routing/operation.ts'
import { get, list, post } from '../http/routing/route-definitions.ts'
import { importTypes } from '../import/pipeline/import-types.ts'
import { Type } from '../schemas/schemas.ts'
import { listPlatformSyncs } from '../store/ecommerce/connections.ts'
import { readRunPage } from '../store/sync/runs.ts'
import { renderSyncs, requestRun, syncExists } from '../store/sync/sync-list.ts'

const [tag, kind] = ['Syncs', 'sync'] as const
const syncParams = { sync: syncName }

/** Syncs from the back office and the e-commerce platform, with their runs, and imports of files. */
export const syncs = [
  get(
    '/syncs',
    {
      operationId: 'listSyncs',
      tag,
      summary: 'List syncs',
      description:
        'The syncs from the back office come first, in the order of their dependencies, then those from the e-commerce platform. Import types with at least one imported file follow.',
      response: Type.Array(Sync),
    },
    async context => ({ record: await readSyncs(context.db, context) }),
  ),

  list(
    '/syncs/:sync/runs',
    {
      operationId: 'listSyncRuns',
      tag,
      summary: 'List sync runs',
      description: 'The runs of the last 30 days, newest first. A running one has the counts so far.',
      params: syncParams,
      item: SyncRun,
    },
    async ({ db, service, driver, params: { sync } }, page) => {
      const isScheduled = (await listScheduled(db, { service, driver })).some(({ name }) => name === sync)
      if (!isScheduled && !(await syncExists(db, service, sync))) throw notFound(kind)
      return readRunPage(db, service, sync, page)
    },
  ),

  post(
    '/syncs/:sync/run',
    {
      operationId: 'startSync',
      tag,
      status: 202,
      summary: 'Start a sync',
      description:
        'The run starts when a worker is free. If a run is in progress, the requested run follows it. `Location` lists the runs of the sync.',
      params: syncParams,
      body: SyncRunInput,
      response: Sync,
    },
    context => async tx => {
      const { service, driver, params, body } = context
      if (!(await listScheduled(tx, { service, driver })).some(({ name }) => name === params.sync)) throw notFound(kind)
      await requestRun(tx, service, params.sync, body.full ?? false)
      const syncRecords = JSON.parse(await readSyncs(tx, context)) as Sync[]
      const data = syncRecords.find(({ sync }) => sync === params.sync)
      return { data, subject: `/syncs/${encodeURIComponent(params.sync)}/runs` }
    },
  ),
]

/** Returns the records (`Sync`) of a service as one JSON array. */
export const readSyncs = async (db: Db, context: Pick<ReadContext, 'service' | 'driver'>) =>
  renderSyncs(db, context.service, await listScheduled(db, context), Object.keys(importTypes))

/** Returns the syncs of the back office, then the syncs of the e-commerce platform. */
const listScheduled = async (db: Db, { service, driver }: Pick<ReadContext, 'service' | 'driver'>) => [
  ...driver.syncs.map(({ name, intervalSeconds }) => ({ name, intervalSeconds })),
  ...(await listPlatformSyncs(db, service)),
]
