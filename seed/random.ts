/** Pseudo-random draws that are the same on every machine. */
export interface Random {
  /** Returns a number from 0 to less than 1. */
  fraction(): number
  /** Returns an integer between two integers, inclusive. */
  integer(from: number, to: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
  /** Draws distinct items of a list, in random order. */
  sample<T>(list: readonly T[], count: number): T[]
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
    sample(list, count) {
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

/** Creates a draw of indexes. An index is drawn in proportion to its weight. */
export function createDraw(weights: readonly number[]): Draw {
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

/** Returns a function that draws items of a list in proportion to their weights. */
export function createItemDraw<T>(items: readonly (readonly [item: T, weight: number])[]): (random: Random) => T {
  const draw = createDraw(items.map(([, weight]) => weight))
  return random => (items[draw.index(random)] as readonly [T, number])[0]
}
