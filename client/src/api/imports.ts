// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Import, RefusedLines } from '../shapes/imports.ts'

/** Files of rows that are taken in, and what became of their lines. */
export interface ImportsApi {
  /** A file that is, or was, taken in: how far it has come, and what became of its lines. For 30 days, those of `tillbridge import` too: they are the runs of `GET /feeds/:feed/runs` whose origin is `file`. */
  get(id: string, options?: CallOptions): Promise<Import>
  /** Why lines of a file were refused, the most frequent reason first. Once the file is in: up to 1,000 reasons, each with the numbers of its first lines. What stands in the lines is not kept; mend them in the file and import it again. */
  refused(id: string, options?: CallOptions): Promise<RefusedLines[]>
}

export const imports = (call: Calls): ImportsApi => ({
  get: (id, options) => call.get(`/imports/${segment(id)}`, {}, options),
  refused: (id, options) => call.get(`/imports/${segment(id)}/rejected`, {}, options),
})
