// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { ImportRun, RejectedLines } from '../shapes/imports.ts'

/** Import CSV or NDJSON files and review rejected lines. */
export interface ImportsApi {
  /** Get an import. Available for 30 days, also for imports of `tillbridge import`. `GET /syncs/:sync/runs` lists them with the origin `file`. */
  get(id: string, options?: CallOptions): Promise<ImportRun>
  /** List rejected lines. Available when the import has ended: at most 1,000 reasons, most frequent first, each with the numbers of its lines. Tillbridge does not store the content of rejected lines. Correct them in the file and import it again. */
  rejected(id: string, options?: CallOptions): Promise<RejectedLines[]>
  /** Cancel an import. The import stops within a few seconds, after the batch in progress. Imported lines stay. The run then has the state `failed` and names the last line in `detail`. An import that has ended stays as it is. */
  cancel(id: string, options?: WriteOptions): Promise<ImportRun>
}

export const imports = (call: Calls): ImportsApi => ({
  get: (id, options) => call.get(`/imports/${segment(id)}`, {}, options),
  rejected: (id, options) => call.get(`/imports/${segment(id)}/rejected`, {}, options),
  cancel: (id, options) => call.post(`/imports/${segment(id)}/cancel`, undefined, options),
})
