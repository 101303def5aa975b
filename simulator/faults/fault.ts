export const faultKinds = {
  latency: 'answers `seconds` later (the effect comes first where `applied` is set)',
  hang: 'never answers, and keeps the connection',
  slow: 'sends `bytesPerSecond` (default 1)',
  'reset-before': 'the connection is reset before anything happens',
  'reset-during': 'the connection is reset in the middle of the answer (after `bytes`, else half)',
  'lost-answer': 'the effect happens, then the connection is reset without an answer',
  truncated: 'XML that ends in the middle (after `bytes`, else half), in whole HTTP',
  malformed: 'XML that is not well-formed',
  html: 'an HTML page with `status` (default 500)',
  status: '`status` (default 503) with `Retry-After: retryAfter` (default 1)',
  error: 'an AP21Error with `status`, `code` and `description`',
  redirect: '302 to `location`',
  'wrong-root': 'another root element: `root`, else a single record where a list is due, else `Unexpected`',
  'empty-body': '200 and nothing',
  'same-page': 'the first page, whichever page is requested',
  shuffled: 'lists are in another order for each request',
  'wrong-clock': 'the clock is wrong by `seconds` for the request',
  reordered: 'children in the opposite order (lists stay)',
  'extra-elements': 'unknown elements in between',
  'trailing-blanks': 'blanks at the ends of texts',
  'carriage-returns': '`&#xD;` and a line break in texts',
  bom: 'a byte order mark first',
  'no-declaration': 'no XML declaration',
  dtd: 'a DOCTYPE with exploding and external entities',
  endless: 'a body that never ends',
  down: 'every connection is reset at once',
  'concurrent-change': 'back-office staff make `change` just before the request is handled',
} as const satisfies Record<string, string>

export type FaultKind = keyof typeof faultKinds

/** The requests that a fault applies to. Without a method or path it applies to every request. */
export interface FaultConditions {
  method?: string
  /** Below the base, e.g. `/Persons/*`; any case; `*` stands for anything. */
  path?: string
  /** Number of requests after which the fault ends. Default: it stays until it is removed. */
  times?: number
  /** Meets a request with this probability; default 1. */
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
  /** See changes.ts. Without an `id` it is the one in the request's path. */
  change?: Record<string, unknown>
}

export interface FaultState {
  id: number
  /** How many requests it has met. */
  met: number
}

export type Fault = FaultInput & FaultState

const numbers = ['times', 'probability', 'seconds', 'bytesPerSecond', 'bytes', 'status', 'code'] as const
const texts = ['method', 'path', 'description', 'location', 'root'] as const
const fieldNames = new Set<string>([...numbers, ...texts, 'kind', 'retryAfter', 'applied', 'change'])

/** Parses a fault. Throws a TypeError that explains what is invalid. */
export function readFault(value: unknown): FaultInput {
  if (typeof value !== 'object' || value === null) throw new TypeError('A fault is an object')
  const input = value as Record<string, unknown>
  if (typeof input.kind !== 'string' || !Object.hasOwn(faultKinds, input.kind))
    throw new TypeError(`kind must be one of ${Object.keys(faultKinds).join(', ')}`)
  for (const name of Object.keys(input)) if (!fieldNames.has(name)) throw new TypeError(`A fault has no ${name}`)
  for (const name of numbers)
    if (input[name] !== undefined && !(typeof input[name] === 'number' && Number.isFinite(input[name])))
      throw new TypeError(`${name} must be a number`)
  for (const name of texts)
    if (input[name] !== undefined && typeof input[name] !== 'string') throw new TypeError(`${name} is text`)
  if (input.applied !== undefined && typeof input.applied !== 'boolean') throw new TypeError('applied is true or false')
  if (input.kind === 'concurrent-change' && (typeof input.change !== 'object' || input.change === null))
    throw new TypeError('concurrent-change needs a change')
  return { ...input } as unknown as FaultInput
}
