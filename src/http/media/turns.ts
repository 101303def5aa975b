/** Has something take turns. */
export type Turn = <T>(work: () => Promise<T>) => Promise<T>

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
