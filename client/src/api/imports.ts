// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Import, RefusedLines } from '../shapes/imports.ts'

/** Import CSV or NDJSON files and review rejected lines. */
export interface ImportsApi {
  /** Get an import. For 30 days, those of `tillbridge import` too: they are the runs of `GET /feeds/:feed/runs` whose origin is `file`. */
  get(id: string, options?: CallOptions): Promise<Import>
  /** List rejected lines. Once the file is in: up to 1,000 reasons, each with the numbers of its first lines. What stands in the lines is not kept; mend them in the file and import it again. */
  refused(id: string, options?: CallOptions): Promise<RefusedLines[]>
}

export const imports = (call: Calls): ImportsApi => ({
  get: (id, options) => call.get(`/imports/${segment(id)}`, {}, options),
  refused: (id, options) => call.get(`/imports/${segment(id)}/rejected`, {}, options),
})
