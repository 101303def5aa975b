import type { Position } from './position.ts'

/** How far a replica is behind the primary. */
export interface Lag {
  /** Since it has all that the primary had then; at least so many, where it is longer than the trail reaches. */
  seconds: number
  bytes: number
}

/** Where the primary's log was when: what tells a replica's lag without a clock of another machine. */
export interface Trail {
  add(position: Position): void
  /** Of a replica that has replayed this much; undefined where that is another log, or nothing is known of the primary. */
  lagAt(position: Position): Lag | undefined
  isKnown(): boolean
}

/** Looks that are remembered: ten minutes. */
const longest = 600

export function trailOf(): Trail {
  let marks: { position: Position; since: number }[] = []
  return {
    add(position) {
      if (marks.at(-1)?.position.log !== position.log) marks = []
      marks.push({ position, since: performance.now() })
      if (marks.length > longest) marks.shift()
    },
    lagAt({ log, at }) {
      const newest = marks.at(-1)
      if (newest?.position.log !== log) return
      if (at >= newest.position.at) return { seconds: 0, bytes: 0 }
      const passed = marks.findLast(mark => mark.position.at <= at) ?? marks[0]
      return {
        seconds: (performance.now() - (passed?.since ?? 0)) / 1_000,
        bytes: Number(newest.position.at - at),
      }
    },
    isKnown: () => marks.length > 0,
  }
}
