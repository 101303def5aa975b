import { setTimeout as delay } from 'node:timers/promises'

/** Has something take turns. */
export type Turn = <T>(work: () => Promise<T>) => Promise<T>

/** Milliseconds that a piece of work gives way for at most, and between two looks. */
const patienceMs = 20
const lookMs = 1

/**
 * Has work give way while others are busy, though never for long: what takes minutes anyway leaves the processors to what somebody waits
 * for. `busy`: how many are, this work included.
 */
export function givingWay(turn: Turn, busy: () => number): Turn {
  let own = 0
  return work =>
    turn(async () => {
      const latest = performance.now() + patienceMs
      while (busy() > own && performance.now() < latest) await delay(lookMs)
      own++
      return work().finally(() => own--)
    })
}

/** Has work take turns, so many at a time, in the order in which it comes. */
export function turnsOf(most: number): Turn {
  const waiting: (() => void)[] = []
  let free = most
  return async work => {
    if (free > 0) free--
    else await new Promise<void>(begin => waiting.push(begin))
    try {
      return await work()
    } finally {
      const begin = waiting.shift()
      if (begin) begin()
      else free++
    }
  }
}
