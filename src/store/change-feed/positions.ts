import type { Kind } from '../../domain/changes.ts'

/**
 * In the changes, or the removals, of one kind, by stamp and key: what is at the place has been told, and all before it. Stamps are
 * microseconds since 1970; no key is empty, so that an empty one stands before all that has the stamp.
 */
export type FeedPosition = readonly [stamp: number, key: string]

/** Where a reader stands in one kind. */
interface KindPosition {
  readonly changed: FeedPosition
  readonly removed: FeedPosition
}

/** Where a reader of the feed stands in each kind that it follows. */
export type FeedPositions = ReadonlyMap<Kind, KindPosition>

/** All that is stamped then, or earlier, has been told. */
export function createPositionAfter(stamp: number): KindPosition {
  const place = [stamp + 1, ''] as const
  return { changed: place, removed: place }
}

/** Nothing has been told: no change is as old as 1970. */
export const isAtBeginning = ({ changed: [stamp, key] }: KindPosition) => stamp === 1 && key === ''

export const createInitialPositions = (kinds: readonly Kind[]): FeedPositions =>
  new Map(kinds.map(kind => [kind, createPositionAfter(0)]))

/** One more of a kind has been told. */
export const advance = (
  positions: FeedPositions,
  kind: Kind,
  action: keyof KindPosition,
  place: FeedPosition,
): FeedPositions => {
  const stand = positions.get(kind) ?? createPositionAfter(0)
  return new Map([...positions, [kind, { ...stand, [action]: place }]])
}

/** The same where nothing is left to tell. Whoever has been told everything stands at the same positions, however they came there. */
export const advanceToEnd = (positions: FeedPositions): FeedPositions =>
  new Map(
    [...positions].map(([kind, { changed, removed }]) => {
      const [last, other] = [changed, removed].map(([stamp, key]) => (key === '' ? stamp - 1 : stamp)) as [
        number,
        number,
      ]
      return [kind, createPositionAfter(Math.max(last, other))]
    }),
  )

/**
 * Whether there may be something to tell who stands there, where `newest` is what is newest of each kind. Who is in the midst of changes that
 * carry one stamp, or of removals, has more to be told, or comes to its end by being told that there is none (`havingToldAll`).
 */
export const mayHaveChanges = (positions: FeedPositions, newest: FeedPositions) =>
  [...positions].some(
    ([kind, { changed, removed }]) =>
      changed[1] !== '' || removed[1] !== '' || (newest.get(kind)?.changed[0] ?? 0) > Math.min(changed[0], removed[0]),
  )

/** The stamp up to which everything has been told, of every kind. */
export const getCompleteUntil = (positions: FeedPositions) =>
  Math.min(...[...positions.values()].flatMap(({ changed, removed }) => [changed[0] - 1, removed[0] - 1]))

/** Places as they are written down: of each kind the stamp up to which all has been told, or both positions. */
export type EncodedPositions = (number | readonly [...FeedPosition, ...FeedPosition])[]

export const encodePositions = (positions: FeedPositions): EncodedPositions =>
  [...positions.values()].map(({ changed, removed }) =>
    changed[1] === '' && removed[1] === '' && changed[0] === removed[0] ? changed[0] - 1 : [...changed, ...removed],
  )

/** Of the kinds that were followed, in their order. */
export const decodePositions = (kinds: readonly Kind[], written: EncodedPositions): FeedPositions =>
  new Map(
    kinds.map((kind, i) => {
      const stand = written[i] ?? 0
      if (typeof stand === 'number') return [kind, createPositionAfter(stand)]
      const [changedAt, changed, removedAt, removed] = stand
      return [kind, { changed: [changedAt, changed], removed: [removedAt, removed] }]
    }),
  )

/** Microseconds since 1970 of a stamp as answers have it: `2026-11-21T09:31:27.803870Z`. */
export const parseTimestamp = (text: string) => Date.parse(`${text.slice(0, 23)}Z`) * 1_000 + Number(text.slice(23, 26))

export const formatTimestamp = (stamp: number) =>
  `${new Date(Math.floor(stamp / 1_000)).toISOString().slice(0, 23)}${String(stamp % 1_000).padStart(3, '0')}Z`
