import type { Connection, ResponseSize } from './connection.ts'
import type { Endpoint } from './errors.ts'

export interface RetailRequest {
  /** Selects the meaning of error codes, and labels metrics and traces. */
  endpoint: Endpoint
  /** Segments below the base URL, for example `['Persons', id, 'Orders']`. An invalid segment counts as a missing record. */
  path: readonly (string | number)[]
  /** Query parameters, except `countryCode`, which is added to every request. */
  query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** The payload version. Default 2. */
  version?: 1 | 2 | 3 | 4
  /** Selects the deadline and the largest response. Default `call`. */
  size?: ResponseSize
  /** The trace context of the API request behind this call (W3C Trace Context). */
  traceparent?: string | undefined
  signal?: AbortSignal
}

export interface WriteRequest extends RetailRequest {
  method: 'POST' | 'PUT' | 'DELETE'
  body?: string
}

/** A write method that calculates something and stores nothing. Like a read, it can be repeated, and its outcome doesn't matter. */
export interface CalculationRequest extends WriteRequest {
  method: 'PUT' | 'POST'
}

/** Query parameters that are logged with their values. All others can be personal or secret. */
const loggableParameters = new Set([
  'countrycode',
  'startrow',
  'pagerows',
  'updatedafter',
  'changedsince',
  'storeid',
  'order',
])

/** True if a value has the form of the back office's identifiers. Other values can't exist, and could change a path. */
export const isId = (id: string) => /^\d{1,22}$/.test(id)

/** True if each segment has only letters, digits, underscores and hyphens. Any other character could change the path. */
export const isValidPath = ({ path }: Pick<RetailRequest, 'path'>) => path.every(name => /^[\w-]+$/.test(String(name)))

const encodeParameter = (value: string | number | boolean) => encodeURIComponent(String(value).toWellFormed())

/** Returns the URL of a request. `masked` is its path and query for logs, with most parameter values hidden. */
export function buildUrl(
  { url, countryCode }: Pick<Connection, 'url' | 'countryCode'>,
  { path, query = {} }: RetailRequest,
) {
  const parameters = Object.entries({ countryCode, ...query }).filter(entry => entry[1] !== undefined) as [
    string,
    string,
  ][]
  const joinedPath = path.join('/')
  const buildQuery = (render: (name: string, value: string) => string) =>
    parameters.map(([name, value]) => `${encodeParameter(name)}=${render(name, value)}`).join('&')
  const target = new URL(url.endsWith('/') ? url : `${url}/`)
  target.pathname += joinedPath
  target.search = buildQuery((_, value) => encodeParameter(value))
  const maskedQuery = buildQuery((name, value) =>
    loggableParameters.has(name.toLowerCase()) ? encodeParameter(value) : '***',
  )
  return { target, masked: `/${joinedPath}?${maskedQuery}` }
}

const traceparentPattern = /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

export function buildHeaders(
  { username, password }: Pick<Connection, 'username' | 'password'>,
  { version = 2, traceparent }: RetailRequest,
): Record<string, string> {
  const hasCredentials = username !== undefined && password !== undefined
  return {
    accept: `version_${version}.0`,
    'content-type': 'text/xml',
    'accept-encoding': 'identity',
    ...(hasCredentials && { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }),
    ...(traceparent !== undefined && traceparentPattern.test(traceparent) && { traceparent }),
  }
}

/** Returns the identifier of a created record: the last segment of `Location`, without its query. Returns undefined if it has no valid identifier. */
export function parseLocationId(location: string | undefined): string | undefined {
  const last = location
    ?.split(/[?#]/, 1)[0]
    ?.split('/')
    .findLast(part => part !== '')
  return last === undefined || !/^[\w-]{1,100}$/.test(last) ? undefined : last
}
