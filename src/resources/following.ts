import type { Db } from '../db.ts'
import { type Kind, kinds, pathsOf } from '../domain/changes.ts'
import { ApiError, type Fault } from '../errors.ts'
import { seal, unseal, type Walk } from '../http/cursor.ts'
import { comment, eventText } from '../http/event-stream.ts'
import type { Context } from '../http/operation.ts'
import type { Waiting } from '../http/waiting.ts'
import { refuse } from '../refuse.ts'
import type { Change, Told } from '../store/changes/feed.ts'
import type { Asked } from '../store/changes/page.ts'
import { beginningOf, type Places, read, type Written, write } from '../store/changes/places.ts'
import { changesBehind } from '../store/changes/waiting.ts'

/** What is followed, as a query says it. */
interface Following {
  kinds?: string
  after_cursor?: string
}

/** Milliseconds of quiet, after which a comment shows that a stream is alive. */
const quietMs = 15_000
/** Milliseconds until a stream asks again whether its caller is still admitted; signing in knows of a revocation 2 s late at most. */
const trustMs = 2_500

/** What a stream has been told, and what comes behind it, as texts of events. */
export async function* eventsOf(
  db: Db,
  walk: Walk,
  first: Told,
  asked: Asked,
  { over, stillAdmitted }: Waiting,
): AsyncGenerator<string> {
  let told = first
  let saidAt = Number.NEGATIVE_INFINITY
  while (!over.aborted) {
    if (told.changes.length || performance.now() - saidAt >= quietMs) {
      yield eventsIn(walk, told)
      saidAt = performance.now()
    }
    told = orExpired(await changesBehind(db, await stillAdmitted(), told, asked, { ms: trustMs, over }))
  }
}

/** The last change stands where all do who have been told everything; where there is none, they are told that place all the same. */
function eventsIn(walk: Walk, { changes, places }: Told): string {
  const idOf = (at: Places) => seal(walk, write(at))
  if (!changes.length) return comment + eventText({ id: idOf(places) })
  const last = changes.at(-1)
  const texts = changes.map(change =>
    eventText({ id: idOf(change === last ? places : change.places), event: 'change', data: item(change) }),
  )
  return texts.join('')
}

export function orExpired(told: Told | undefined): Told {
  if (!told) throw new ApiError('cursor_expired')
  return told
}

/** The kinds that are followed, in their order. */
export const kindsOf = ({ kinds: named }: Following): readonly Kind[] => {
  const words = named?.split(',')
  return words ? kinds.filter(kind => words.includes(kind)) : kinds
}

export function faultsOfKinds(named: string | undefined): Fault[] {
  const unknown = (named?.split(',') ?? []).filter(word => !kinds.some(kind => kind === word))
  if (!unknown.length) return []
  const detail = `\`kinds\` are, separated by commas: ${kinds.map(kind => `\`${kind}\``).join(', ')}.`
  return [{ parameter: 'kinds', code: 'invalid_parameter', detail }]
}

/** Cursors go from request to request, and from stream to request, of the same service and kinds. */
export const walkOf = (service: Context['service'], { cursors: key }: Context['keys'], query: Following): Walk => ({
  service,
  list: '/changes',
  filters: { kinds: kindsOf(query) },
  key,
})

export function placesOf(walk: Walk, query: Following): Places {
  const followed = kindsOf(query)
  if (query.after_cursor === undefined) return beginningOf(followed)
  const written = unseal(walk, query.after_cursor)
  const detail = '`after_cursor` is no cursor of these kinds of changes.'
  if (!written) refuse([{ parameter: 'after_cursor', code: 'invalid_cursor', detail }])
  return read(followed, written as Written)
}

/** A change as it is told. */
export function item({ kind, id, action, changedAt, name, record }: Change): string {
  const path = action === 'changed' ? { path: `${pathsOf[kind]}/${encodeURIComponent(name)}` } : {}
  const head = JSON.stringify({ kind, id, action, changedAt, ...path })
  return record === null ? head : `${head.slice(0, -1)},"record":${record}}`
}
