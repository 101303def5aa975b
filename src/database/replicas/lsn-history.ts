import type { Lsn } from './lsn.ts'

export interface Lag {
  /** Age of the newest primary state that the replica has replayed completely. */
  seconds: number
  /** True if the lag can be longer, because the replica has not reached the start of the history. */
  isAtLeast: boolean
  bytes: number
}

/** The LSNs of the primary over time. It gives the lag of a replica without the clock of another machine. */
export interface LsnHistory {
  add(lsn: Lsn): void
  /** Returns the lag of a replica that has replayed up to an LSN. Returns undefined for another log, or if the history is empty. */
  lagAt(lsn: Lsn): Lag | undefined
  isKnown(): boolean
}

/** Ten minutes at one entry a second. */
const maxEntries = 600

/** Creates an empty history. It begins again if the `log` of the LSNs changes, such as after a promotion. */
export function createLsnHistory(): LsnHistory {
  let entries: { lsn: Lsn; since: number }[] = []
  return {
    add(lsn) {
      if (entries.at(-1)?.lsn.log !== lsn.log) entries = []
      entries.push({ lsn, since: performance.now() })
      if (entries.length > maxEntries) entries.shift()
    },
    lagAt({ log, at }) {
      const newest = entries.at(-1)
      if (newest?.lsn.log !== log) return
      if (at >= newest.lsn.at) return { seconds: 0, isAtLeast: false, bytes: 0 }
      const passed = entries.findLast(entry => entry.lsn.at <= at)
      return {
        seconds: (performance.now() - (passed ?? entries[0] ?? newest).since) / 1_000,
        isAtLeast: !passed,
        bytes: Number(newest.lsn.at - at),
      }
    },
    isKnown: () => entries.length > 0,
  }
}
