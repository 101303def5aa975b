import type { Country } from '../world/settings.ts'
import type { Payload } from '../xml/payload.ts'

/** A request, once it has been let in. */
export interface Asking {
  method: string
  /** Below the base, as sent, without a slash at its end. */
  path: string
  /** A parameter of the query, whatever the case of its name. */
  query(name: string): string | undefined
  /** What the path has for `{…}`, in their order. */
  parameters: string[]
  /** The payload version that `Accept` asks for: 1 to 4. */
  version: number
  country: Country
  /** Where this API is, for `Location`. */
  root: string
  /** What was posted; throws a refusal where it is no XML. */
  payload(): Payload
  /** Set by faults. */
  paging: { samePage?: boolean; shuffled?: boolean }
}

/** Reads a query, the names in any case. The first of several counts. */
export function readQuery(search: string): (name: string) => string | undefined {
  const values = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(search)) {
    const key = name.toLowerCase()
    if (!values.has(key)) values.set(key, value)
  }
  return name => values.get(name.toLowerCase())
}

/** The major version of `Accept: version_2.0`; 1 where none is asked for. */
export function payloadVersion(accept: string): number {
  const match = /version_(\d+)/i.exec(accept)
  return match ? Number(match[1]) : 1
}

/** A whole number from text; undefined where it is none. */
export const whole = (text: string | undefined) => (text && /^-?\d{1,15}$/.test(text) ? Number(text) : undefined)
