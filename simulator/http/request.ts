import type { Country } from '../world/settings.ts'
import type { Payload } from '../xml/payload.ts'

export interface ApiRequest {
  method: string
  /** The path below the base, as sent, without a trailing slash. */
  path: string
  /** Returns a query parameter. Names are case-insensitive. */
  query(name: string): string | undefined
  /** The values of `{…}` in the path, in order. */
  parameters: string[]
  /** The payload version in `Accept`: 1 to 4. */
  version: number
  country: Country
  /** The base URL of this API, for `Location`. */
  root: string
  /** Parses the posted XML. Throws an error response if it is malformed. */
  payload(): Payload
  /** Set by faults. */
  paging: { samePage?: boolean; shuffled?: boolean }
}

/** Parses a query. Names are case-insensitive, and the first of several values counts. */
export function readQuery(search: string): (name: string) => string | undefined {
  const values = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(search)) {
    const key = name.toLowerCase()
    if (!values.has(key)) values.set(key, value)
  }
  return name => values.get(name.toLowerCase())
}

/** Returns the major version of a header such as `Accept: version_2.0`. Default: 1. */
export function parsePayloadVersion(accept: string): number {
  const match = /version_(\d+)/i.exec(accept)
  return match ? Number(match[1]) : 1
}

/** Parses an integer, or returns undefined. */
export const parseInteger = (text: string | undefined) => (text && /^-?\d{1,15}$/.test(text) ? Number(text) : undefined)
