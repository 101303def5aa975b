import type { Calls } from './calls/calls.ts'
import type { RecordChange } from './shapes/changes.ts'

export interface FollowOptions {
  /** The kinds of records. Default: all. */
  kinds?: readonly RecordChange['kind'][] | undefined
  /** The cursor that `save` received last. Default: from the beginning, which is the current state of everything. */
  from?: string | undefined
  /** Stores the cursor after all changes before it have been handled. The next run continues `from` it. */
  save?: ((cursor: string) => unknown) | undefined
  /** True if each change contains its record. */
  records?: boolean | undefined
  /** Stops the iteration. */
  signal?: AbortSignal | undefined
}

/** Seconds that the service waits for a change before it returns an empty response. */
const wait = 20

/**
 * Yields all changes, endlessly, also across outages of the service. Changes that weren't saved are yielded again after a restart,
 * so each change comes at least once. Throws `cursor_expired` if `from` is too old: start without it then.
 */
export async function* follow(call: Calls, options: FollowOptions = {}): AsyncGenerator<RecordChange, void, undefined> {
  const { kinds, save, records, signal } = options
  const query = { kinds: kinds?.join(','), records, wait }
  const retryOptions = { signal, retryTimeoutMs: Number.POSITIVE_INFINITY }
  let cursor = options.from
  while (!signal?.aborted) {
    const page = await call
      .list<RecordChange>('/changes', { ...query, afterCursor: cursor }, retryOptions)
      .page()
      .catch(ignoreAbort(signal))
    if (!page) return
    yield* page.data
    const { endCursor } = page.meta
    // The caller requests the next change only after it has handled this page.
    if (endCursor !== null && endCursor !== cursor) await save?.(endCursor)
    cursor = endCursor ?? cursor
  }
}

/** Aborting the iteration isn't an error. */
const ignoreAbort = (signal: AbortSignal | undefined) => (error: unknown) => {
  if (!signal?.aborted) throw error
  return undefined
}
