import type { Connection, Size } from './connection.ts'
import type { Endpoint } from './errors.ts'

/** A call of the Retail API. */
export interface Asking {
  /** What it is about, for the meaning of its errors. */
  endpoint: Endpoint
  /** Below the base, e.g. `['Persons', id, 'Orders']`. What no identifier can be is nobody's, and is not asked for. */
  path: readonly (string | number)[]
  /** Without `countryCode`, which every call has. */
  query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** The payload version. */
  version?: 1 | 2 | 3 | 4
  /** How much may come, and how long it may take. */
  size?: Size
  /** Of the request that this call is made for (W3C Trace Context). */
  traceparent?: string | undefined
  signal?: AbortSignal
}

/** A write. Without a body none is sent. */
export interface Writing extends Asking {
  method: 'POST' | 'PUT' | 'DELETE'
  body?: string
}

/** What goes into a log as it is; everything else in a query may be personal, or a secret. */
const harmless = new Set(['countrycode', 'startrow', 'pagerows', 'updatedafter', 'changedsince', 'storeid', 'order'])

/** Whether a path is the one that it is meant to be: an identifier with anything else in it could lead to another one. */
export const isPath = ({ path }: Pick<Asking, 'path'>) => path.every(name => /^[\w-]+$/.test(String(name)))

const part = (text: string | number | boolean) => encodeURIComponent(String(text).toWellFormed())

/** The address of a call, and the same without values of its query, for logs. */
export function addressOf({ url, countryCode }: Pick<Connection, 'url' | 'countryCode'>, { path, query = {} }: Asking) {
  const asked = Object.entries({ countryCode, ...query }).filter(entry => entry[1] !== undefined) as [string, string][]
  const below = path.join('/')
  const search = (shown: (name: string, value: string) => string) =>
    asked.map(([name, value]) => `${part(name)}=${shown(name, value)}`).join('&')
  const target = new URL(url.endsWith('/') ? url : `${url}/`)
  target.pathname += below
  target.search = search((_, value) => part(value))
  const masked = search((name, value) => (harmless.has(name.toLowerCase()) ? part(value) : '***'))
  return { target, shown: `/${below}?${masked}` }
}

const traceparentForm = /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** The headers of a call. */
export function headersOf(
  { username, password }: Pick<Connection, 'username' | 'password'>,
  { version = 2, traceparent }: Asking,
): Record<string, string> {
  const isKnown = username !== undefined && password !== undefined
  return {
    accept: `version_${version}.0`,
    'content-type': 'text/xml',
    'accept-encoding': 'identity',
    ...(isKnown && { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }),
    ...(traceparent !== undefined && traceparentForm.test(traceparent) && { traceparent }),
  }
}

/** The identifier of what was made: the last part of `Location`, before its query; undefined where there is none. */
export function idIn(location: string | undefined): string | undefined {
  const last = location
    ?.split(/[?#]/, 1)[0]
    ?.split('/')
    .findLast(part => part !== '')
  return last === undefined || !/^[\w-]{1,100}$/.test(last) ? undefined : last
}
