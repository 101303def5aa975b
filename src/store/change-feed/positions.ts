import type { Kind } from '../../domain/changes.ts'

/**
 * A position in the changes or in the tombstones of one kind. The reader has received everything at the position and before it. Timestamps
 * are microseconds since 1970. No record has an empty key, so an empty key is before all records with the timestamp.
 */
export type FeedPosition = readonly [timestamp: number, key: string]

/** The position of a reader in one kind. */
interface KindPosition {
  readonly changed: FeedPosition
  readonly removed: FeedPosition
}

/** The positions of a reader in each subscribed kind. */
export type FeedPositions = ReadonlyMap<Kind, KindPosition>

/** Returns the position of a reader that has received everything up to a timestamp, inclusive. */
export function createPositionAfter(timestamp: number): KindPosition {
  const position = [timestamp + 1, ''] as const
  return { changed: position, removed: position }
}

/** True if the reader has received nothing: no change is as old as 1970. */
export const isAtBeginning = ({ changed: [timestamp, key] }: KindPosition) => timestamp === 1 && key === ''

export const createInitialPositions = (kinds: readonly Kind[]): FeedPositions =>
  new Map(kinds.map(kind => [kind, createPositionAfter(0)]))

/** Returns the positions after one more change of a kind. */
export const advance = (
  positions: FeedPositions,
  kind: Kind,
  action: keyof KindPosition,
  position: FeedPosition,
): FeedPositions => {
  const previous = positions.get(kind) ?? createPositionAfter(0)
  return new Map([...positions, [kind, { ...previous, [action]: position }]])
}

/** Normalizes the positions of a reader that has received everything, so that all such readers have equal positions. */
export const advanceToEnd = (positions: FeedPositions): FeedPositions =>
  new Map(
    [...positions].map(([kind, { changed, removed }]) => {
      const timestamps = [changed, removed].map(([timestamp, key]) => (key === '' ? timestamp - 1 : timestamp))
      return [kind, createPositionAfter(Math.max(...timestamps))]
    }),
  )

/**
 * True if there may be changes after these positions. `newest`: the current positions. A reader between changes with the same timestamp
 * counts as having changes: it gets more of them, or an empty page that normalizes its positions (`advanceToEnd`).
 */
export const mayHaveChanges = (positions: FeedPositions, newest: FeedPositions) =>
  [...positions].some(
    ([kind, { changed, removed }]) =>
      changed[1] !== '' || removed[1] !== '' || (newest.get(kind)?.changed[0] ?? 0) > Math.min(changed[0], removed[0]),
  )

/** Returns the timestamp up to which the reader has received every kind. */
export const getCompleteUntil = (positions: FeedPositions) =>
  Math.min(...[...positions.values()].flatMap(({ changed, removed }) => [changed[0] - 1, removed[0] - 1]))

/** Positions as stored in a cursor: per kind, the timestamp up to which everything was received, or both positions. */
export type EncodedPositions = (number | readonly [...FeedPosition, ...FeedPosition])[]

/** Encodes positions in the order of their kinds. */
export const encodePositions = (positions: FeedPositions): EncodedPositions =>
  [...positions.values()].map(({ changed, removed }) =>
    changed[1] === '' && removed[1] === '' && changed[0] === removed[0] ? changed[0] - 1 : [...changed, ...removed],
  )

/** Decodes positions. `kinds`: the subscribed kinds, in the order in which they were encoded. */
export const decodePositions = (kinds: readonly Kind[], encoded: EncodedPositions): FeedPositions =>
  new Map(
    kinds.map((kind, i) => {
      const position = encoded[i] ?? 0
      if (typeof position === 'number') return [kind, createPositionAfter(position)]
      const [changedAt, changedKey, removedAt, removedKey] = position
      return [kind, { changed: [changedAt, changedKey], removed: [removedAt, removedKey] }]
    }),
  )

/** Parses a change timestamp such as `2026-11-21T09:31:27.803870Z`. Returns microseconds since 1970. */
export const parseTimestamp = (timestamp: string) =>
  Date.parse(`${timestamp.slice(0, 23)}Z`) * 1_000 + Number(timestamp.slice(23, 26))

/** Formats microseconds since 1970 as RFC 3339. */
export const formatTimestamp = (timestamp: number) =>
  `${new Date(Math.floor(timestamp / 1_000)).toISOString().slice(0, 23)}${String(timestamp % 1_000).padStart(3, '0')}Z`
