/** Thrown if a statement can't be tested on an installation. The message gives the reason. */
export class Untestable extends Error {}

/** Returns a value. Throws `Untestable` if it is missing. */
export function requireValue<T>(value: T | undefined, reason: string): T {
  if (value === undefined) throw new Untestable(reason)
  return value
}
