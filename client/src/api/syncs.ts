// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { Sync, SyncRunInput } from '../shapes/syncs.ts'
import type { SyncRun } from '../shapes/imports.ts'

/** Syncs from the back office: schedule, lag and run history. */
export interface SyncsApi {
  /** List syncs. The syncs from the back office come first, in the order of their dependencies, then those from the e-commerce platform. Import types with at least one imported file follow. */
  list(options?: CallOptions): Promise<Sync[]>
  /** List sync runs. The runs of the last 30 days, newest first. A running one has the counts so far. */
  runs(sync: string, query?: Paging, options?: CallOptions): Paginator<SyncRun>
  /** Start a sync. The run starts when a worker is free. If a run is in progress, the requested run follows it. `Location` lists the runs of the sync. */
  run(sync: string, body: SyncRunInput, options?: WriteOptions): Promise<Sync>
}

export const syncs = (call: Calls): SyncsApi => ({
  list: (options) => call.get('/syncs', {}, options),
  runs: (sync, query, options) => call.list(`/syncs/${segment(sync)}/runs`, query, options),
  run: (sync, body, options) => call.post(`/syncs/${segment(sync)}/run`, body, options),
})
