import type { WalPosition } from './lsn.ts'

/** How far a replica is behind the primary. */
export interface Lag {
  /** Since it has all that the primary had then. */
  seconds: number
  /** It may be longer: it has not come to where the trail begins. */
  isAtLeast: boolean
  bytes: number
}

/** Where the primary's log was at which time. From this a replica's lag is known without the clock of another machine. */
export interface LsnHistory {
  add(position: WalPosition): void
  /** The lag of a replica that has replayed this much; undefined where that is another log, or nothing is known of the primary. */
  lagAt(position: WalPosition): Lag | undefined
  isKnown(): boolean
}

/** Looks that are remembered: ten minutes. */
const maxEntries = 600

export function createLsnHistory(): LsnHistory {
  let marks: { position: WalPosition; since: number }[] = []
  return {
    add(position) {
      if (marks.at(-1)?.position.log !== position.log) marks = []
      marks.push({ position, since: performance.now() })
      if (marks.length > maxEntries) marks.shift()
    },
    lagAt({ log, at }) {
      const newest = marks.at(-1)
      if (newest?.position.log !== log) return
      if (at >= newest.position.at) return { seconds: 0, isAtLeast: false, bytes: 0 }
      const passed = marks.findLast(mark => mark.position.at <= at)
      return {
        seconds: (performance.now() - (passed ?? marks[0] ?? newest).since) / 1_000,
        isAtLeast: !passed,
        bytes: Number(newest.position.at - at),
      }
    },
    isKnown: () => marks.length > 0,
  }
}
