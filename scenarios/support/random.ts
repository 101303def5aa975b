/** Numbers that the same seed gives in the same order (mulberry32). */
export function seeded(seed: number) {
  let state = seed >>> 0
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    fraction,
    /** A whole number from `least` to `most`, both included. */
    whole: (least: number, most: number) => least + Math.floor(fraction() * (most - least + 1)),
    pick: <T>(from: readonly T[]): T => from[Math.floor(fraction() * from.length)] as T,
    chance: (share: number) => fraction() < share,
  }
}

export type Random = ReturnType<typeof seeded>
