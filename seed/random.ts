/** Pseudo-random numbers that are the same on every machine. */
export interface Random {
  /** At least 0, below 1. */
  fraction(): number
  /** An integer from both ends, inclusive. */
  integer(from: number, to: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
  /** Draws distinct items of a list, in the order drawn. */
  some<T>(list: readonly T[], count: number): T[]
}

/**
 * Creates a generator for one part of the shop, so that draws of one part don't affect another.
 * Mulberry32 over an FNV-1a hash of the part's name. It uses 32-bit integers only, so all engines agree.
 */
export function randomFor(part: string): Random {
  let state = 0x811c9dc5
  for (let i = 0; i < part.length; i++) state = Math.imul(state ^ part.charCodeAt(i), 0x01000193)
  const fraction = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const integer = (from: number, to: number) => from + Math.floor(fraction() * (to - from + 1))
  const pick = <T>(list: readonly T[]) => list[integer(0, list.length - 1)] as T
  return {
    fraction,
    integer,
    chance: probability => fraction() < probability,
    pick,
    some(list, count) {
      const remaining = [...list]
      return Array.from({ length: Math.min(count, remaining.length) }, () =>
        remaining.splice(integer(0, remaining.length - 1), 1),
      ).flat()
    },
  }
}

/** Draws indexes by their weights. */
export interface Draw {
  /** Returns an index. `below` limits it to the first indexes. */
  index(random: Random, below?: number): number
}

export function drawBy(weights: readonly number[]): Draw {
  const sums: number[] = []
  let total = 0
  for (const weight of weights) {
    total += weight
    sums.push(total)
  }
  return {
    index(random, below = weights.length) {
      const target = random.fraction() * (sums[below - 1] ?? 0)
      let low = 0
      let high = below - 1
      while (low < high) {
        const middle = (low + high) >> 1
        if ((sums[middle] ?? 0) > target) high = middle
        else low = middle + 1
      }
      return low
    },
  }
}

/** Draws the items of a list by their weights. */
export function drawFrom<T>(items: readonly (readonly [item: T, weight: number])[]): (random: Random) => T {
  const draw = drawBy(items.map(([, weight]) => weight))
  return random => (items[draw.index(random)] as readonly [T, number])[0]
}
