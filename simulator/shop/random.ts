/** Pseudo-random draws. The same seed gives the same draws. */
export interface Random {
  /** Returns a number from 0 to less than 1. */
  fraction(): number
  /** Returns an integer between two integers, inclusive. */
  integer(from: number, to: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
  /** Returns the items in another order. */
  shuffle<T>(list: readonly T[]): T[]
  /** Returns 36 characters in the form of a GUID. */
  guid(): string
}

/** Creates a separate generator for each name, so that more draws in one part do not change the others (splitmix32 over FNV-1a). */
export function randomFor(seed: string, part: string): Random {
  let state = 0x811c9dc5
  for (const letter of `${seed}/${part}`) state = Math.imul(state ^ (letter.codePointAt(0) ?? 0), 0x01000193)
  const bits = () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
  const fraction = () => bits() / 4_294_967_296
  const integer = (from: number, to: number) => from + Math.floor(fraction() * (to - from + 1))
  return {
    fraction,
    integer,
    chance: probability => fraction() < probability,
    pick: <T>(list: readonly T[]) => list[integer(0, list.length - 1)] as T,
    shuffle(list) {
      const remaining = [...list]
      return list.flatMap(() => remaining.splice(integer(0, remaining.length - 1), 1))
    },
    guid() {
      const hex = Array.from({ length: 4 }, () => bits().toString(16).padStart(8, '0')).join('')
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
    },
  }
}
