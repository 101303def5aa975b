export const faultKinds = {
  latency: 'responds `seconds` later (if `applied` is set, the effect comes first)',
  hang: 'never responds, and keeps the connection open',
  slow: 'sends `bytesPerSecond` (default 1)',
  'reset-before': 'the connection is reset before anything happens',
  'reset-during': 'the connection is reset in the middle of the response (after `bytes`, default half)',
  'lost-response': 'the effect happens, then the connection is reset without a response',
  truncated: 'XML that ends in the middle (after `bytes`, default half), in a complete HTTP response',
  malformed: 'XML that is not well-formed',
  html: 'an HTML page with `status` (default 500)',
  status: '`status` (default 503) with `Retry-After: retryAfter` (default 1)',
  error: 'an AP21Error with `status`, `code` and `description`',
  redirect: '302 to `location`',
  'wrong-root': 'another root element: `root`; without `root`, a record instead of a list, or `Unexpected`',
  'empty-body': '200 with an empty body',
  'same-page': 'the first page, whichever page is requested',
  shuffled: 'lists are in another order for each request',
  'wrong-clock': 'the clock is wrong by `seconds` for the request',
  reordered: 'children in reverse order, except in lists',
  'extra-elements': 'additional unknown elements',
  'trailing-blanks': 'trailing spaces in texts',
  'carriage-returns': 'a trailing `&#xD;` and line break in texts',
  bom: 'a byte order mark at the beginning',
  'no-declaration': 'no XML declaration',
  dtd: 'a DOCTYPE with exploding and external entities',
  endless: 'a body that never ends',
  down: 'every connection is reset immediately',
  'concurrent-change': 'back-office staff make `change` just before the request is handled',
} as const satisfies Record<string, string>

export type FaultKind = keyof typeof faultKinds

/** The requests that a fault applies to. Without a method or path it applies to every request. */
export interface FaultConditions {
  method?: string
  /** The path below the base, such as `/Persons/*`. It is case-insensitive, and `*` matches any characters. */
  path?: string
  /** Number of requests after which the fault ends. Default: it stays until it is removed. */
  times?: number
  /** The probability that the fault applies to a request. Default: 1. */
  probability?: number
}

export interface FaultInput extends FaultConditions {
  kind: FaultKind
  seconds?: number
  bytesPerSecond?: number
  bytes?: number
  status?: number
  retryAfter?: number | string
  code?: number
  description?: string
  location?: string
  root?: string
  /** True if the request takes effect in spite of the fault: for latency, hang, html, status, error. */
  applied?: boolean
  /** A change of `control/changes.ts`. Default of its `id`: the ID in the request's path. */
  change?: Record<string, unknown>
}

export interface FaultState {
  id: number
  /** The number of requests to which the fault applied. */
  matchCount: number
}

export type Fault = FaultInput & FaultState

const numbers = ['times', 'probability', 'seconds', 'bytesPerSecond', 'bytes', 'status', 'code'] as const
const texts = ['method', 'path', 'description', 'location', 'root'] as const
const fieldNames = new Set<string>([...numbers, ...texts, 'kind', 'retryAfter', 'applied', 'change'])

/** Parses a fault. Throws a TypeError that explains what is invalid. */
export function readFault(value: unknown): FaultInput {
  if (typeof value !== 'object' || value === null) throw new TypeError('A fault must be an object')
  const input = value as Record<string, unknown>
  if (typeof input.kind !== 'string' || !Object.hasOwn(faultKinds, input.kind))
    throw new TypeError(`kind must be one of ${Object.keys(faultKinds).join(', ')}`)
  for (const name of Object.keys(input)) if (!fieldNames.has(name)) throw new TypeError(`A fault has no ${name}`)
  for (const name of numbers)
    if (input[name] !== undefined && !(typeof input[name] === 'number' && Number.isFinite(input[name])))
      throw new TypeError(`${name} must be a number`)
  for (const name of texts)
    if (input[name] !== undefined && typeof input[name] !== 'string') throw new TypeError(`${name} must be a string`)
  if (input.applied !== undefined && typeof input.applied !== 'boolean')
    throw new TypeError('applied must be true or false')
  if (input.kind === 'concurrent-change' && (typeof input.change !== 'object' || input.change === null))
    throw new TypeError('concurrent-change must have a change')
  return { ...input } as unknown as FaultInput
}
