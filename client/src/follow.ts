import type { Calls } from './calls/calls.ts'
import type { RecordChange } from './shapes/changes.ts'

export interface Following {
  /** What to be told of; all kinds unless told otherwise. */
  kinds?: readonly RecordChange['kind'][] | undefined
  /** Where to go on: what `save` was given last. Absent: from the beginning, which is everything as it stands. */
  from?: string | undefined
  /** Keeps the place, once all changes before it have been handled; the next run goes on `from` it. */
  save?: ((cursor: string) => unknown) | undefined
  /** Whether each change carries its record. */
  records?: boolean | undefined
  /** Ends it. */
  signal?: AbortSignal | undefined
}

/** Seconds that the service waits for a change before it answers that there is none. */
const wait = 20

/**
 * Follows all changes without end, also while the service is away for a while. A run that breaks off, anywhere, is told again of what
 * it had not saved: each change comes at least once. Ends in `cursor_expired` where `from` is too old; begin without it then.
 */
export async function* follow(call: Calls, following: Following = {}): AsyncGenerator<RecordChange, void, undefined> {
  const { kinds, save, records, signal } = following
  const query = { kinds: kinds?.join(','), records, wait }
  const endurance = { signal, patienceMs: Number.POSITIVE_INFINITY }
  let place = following.from
  while (!signal?.aborted) {
    const page = await call
      .list<RecordChange>('/changes', { ...query, afterCursor: place }, endurance)
      .page()
      .catch(unless(signal))
    if (!page) return
    yield* page.data
    const { endCursor } = page.meta
    // Whoever asks for the next change has handled this one.
    if (endCursor !== null && endCursor !== place) await save?.(endCursor)
    place = endCursor ?? place
  }
}

/** Whoever ends it knows why: that is no error. */
const unless = (signal: AbortSignal | undefined) => (error: unknown) => {
  if (!signal?.aborted) throw error
  return undefined
}
