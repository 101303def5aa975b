/** Thrown where an installation gives no occasion to try a statement; the message says why. */
export class NotTried extends Error {}

/** Something that is there, or the statement cannot be tried. */
export function requireValue<T>(value: T | undefined, why: string): T {
  if (value === undefined) throw new NotTried(why)
  return value
}
