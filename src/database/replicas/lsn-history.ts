import type { WalPosition } from './lsn.ts'

/** The lag of a replica behind the primary. */
export interface Lag {
  /** Age of the newest primary state that the replica has replayed completely. */
  seconds: number
  /** True if the lag can be longer, because the replica has not reached the start of the history. */
  isAtLeast: boolean
  bytes: number
}

/** The LSNs of the primary over time. It gives the lag of a replica without the clock of another machine. */
export interface LsnHistory {
  add(position: WalPosition): void
  /** Returns the lag of a replica that has replayed up to an LSN. Returns undefined for another log, or if the history is empty. */
  lagAt(position: WalPosition): Lag | undefined
  isKnown(): boolean
}

/** Ten minutes at one entry a second. */
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
