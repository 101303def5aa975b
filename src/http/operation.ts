import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Role } from '../accounts.ts'
import type { Database } from '../db.ts'
import type { BackOffice } from '../domain/port/backoffice.ts'
import type { Driver } from '../domain/port/driver.ts'
import type { Finish, Origin, Steps } from '../domain/write.ts'
import { type ErrorCode, notFound } from '../errors.ts'
import type { Keys } from '../secrets.ts'
import type { Service } from '../settings.ts'
import type { TObject, TSchema } from '../shapes/shapes.ts'
import type { Sender } from '../webhooks/sender.ts'
import { hasControls } from './controls.ts'
import type { Gate } from './gate.ts'
import type { Media } from './media/accept.ts'
import { inSteps } from './once/carrying-out.ts'
import { originOf } from './origin.ts'
import { isStrict } from './prefer.ts'

/** One operation as the OpenAPI document tells it. */
export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  /** What a client calls it by: a verb and what it acts on, `placeOrder`. */
  operationId: string
  summary: string
  description: string
  tag: string
  /** Who may; absent: anyone, without credentials. */
  role?: Role
  /** Path parameters and what they are. */
  params: Params
  query: TObject
  /** Request headers of its own. */
  headers: OwnHeaders
  body?: TSchema
  /** Takes a file as its body. */
  files?: boolean
  answer: TSchema
  /** What it can answer with. */
  media: Media
  /** What a line is, where it can answer with a whole list. */
  line?: TSchema
  /** The statuses it succeeds with. */
  statuses: readonly number[]
  /** Whether an empty text in an optional field of the body is something else than null. */
  keepsEmptyTexts?: boolean
  /** Answers with an ETag. */
  etag: boolean
  /** Takes an Idempotency-Key. */
  repeatable: boolean
  /** Heeds `Prefer: handling=strict`. */
  heedsStrict?: true
  /** What of the answer a trial shows as null. */
  made?: readonly string[]
  /** May answer with warnings. */
  warns: boolean
  /** The errors of its own, beside those that every operation has. */
  errors: readonly ErrorCode[]
}

/** The parameters of a path: what each is. */
export type Params = Record<string, { description: string; example: string }>
export type OwnHeaders = Record<string, OwnHeader>

interface OwnHeader {
  description: string
  example: string
  /** True unless told otherwise. */
  required?: boolean
  /** Its schema, where it is not any text. */
  schema?: object
}

/** What a resource's function is given. */
export interface Context<Query = unknown, P extends Params = Params> {
  service: Service
  /** What the caller is there. */
  role: Role
  db: Database
  /** For what a read counts or holds. */
  inSteps: <T>(work: (steps: Steps) => Promise<Finish<T>>) => Promise<T>
  backOffice: BackOffice
  driver: Pick<Driver, 'feeds' | 'breaker'>
  params: { [name in keyof P]: string }
  query: Query
  /** A request header, by its name. */
  header: (name: string) => string | undefined
  origin: Origin
  keys: Keys
  /** The way out to the endpoints of webhooks. */
  sender: Sender
  /** `Prefer: handling=strict` (RFC 7240). */
  strict: boolean
}

export interface Described<P extends Params> {
  /** What a client calls it by: a verb and what it acts on, `placeOrder`. */
  operationId: string
  summary: string
  description: string
  tag: string
  role?: Role
  params?: P
  errors?: readonly ErrorCode[]
  /** Whether it heeds `Prefer: handling=strict`. */
  heedsStrict?: true
  /** Request headers of its own, by name. */
  headers?: OwnHeaders
  /** Whether it is about accounts: these are in the control database, wherever the service is. */
  ofAccounts?: boolean
}

/** Where an operation is carried out: in the database of the service, unless it is about accounts. */
export function gateOf(control: Gate, { ofAccounts = false }: { ofAccounts?: boolean }, { gate }: FastifyRequest) {
  return ofAccounts || !gate ? control : gate
}

/** What a request says, as resources are told it. */
export function contextOf(gate: Gate, request: FastifyRequest): Context {
  const { assignment } = request
  if (!assignment) throw new Error('the gate admits with an assignment')
  const { service, role } = assignment
  const header = (name: string) => request.headers[name.toLowerCase()]?.toString()
  return {
    service,
    role,
    db: gate.db,
    inSteps: work => inSteps(gate, service, work),
    backOffice: gate.backOffice(service),
    driver: gate.driver(service),
    params: pathParams(request),
    query: undefined,
    header,
    origin: originOf(request),
    keys: gate.keys,
    sender: gate.sender,
    strict: isStrict(header('prefer')),
  }
}

export const json = 'application/json; charset=utf-8'

/**
 * The path that was asked for: without its query, without the host that a proxy may put before it (RFC 9112, section 3.2.2), and
 * without a slash at its end, which makes no other path (contract 15).
 */
export const instanceOf = ({ url = '' }: { url?: string | undefined }) =>
  (url.split('?', 1)[0] ?? '').replace(/^https?:\/\/[^/]*/i, '').replace(/(?<=[^/])\/$/, '')

/** The path's parameters; one that no identifier can be names no record. */
function pathParams(request: FastifyRequest) {
  const params = (request.params ?? {}) as Record<string, string>
  for (const value of Object.values(params)) {
    if (value.length > 250 || hasControls(value)) throw notFound('record')
  }
  return params
}

/** The ETag of an answer: of its bytes (RFC 9110, section 8.8.3). */
export const tagOf = (body: string | Buffer) =>
  `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`

/** Whether a list of tags, as `If-Match` and `If-None-Match` have it, names this one; proxies that pack an answer mark its tag as weak. */
export function namesTag(list: string | undefined, tag: string) {
  const tags = (list ?? '').split(',').map(text => text.trim().replace(/^W\//, ''))
  return tags.includes(tag) || tags.includes('*')
}
