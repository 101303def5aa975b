import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { BackOffice } from '../../backoffice/port/back-office.ts'
import type { Driver } from '../../backoffice/port/driver.ts'
import type { Keys } from '../../crypto/keys.ts'
import type { Database } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { hasControls } from '../../domain/values/characters.ts'
import { type ErrorCode, notFound } from '../../errors/api-error.ts'
import type { TObject, TSchema } from '../../schemas/schemas.ts'
import type { Role } from '../../store/accounts/accounts.ts'
import type { Sender } from '../../webhooks/sender.ts'
import { inSteps } from '../../writes/stages.ts'
import type { Finish, Origin, Steps } from '../../writes/write.ts'
import type { Gate } from '../admission/admit.ts'
import { originOf } from '../admission/client-address.ts'
import type { Media } from '../negotiation/accept.ts'
import { isStrict } from './prefer.ts'

/** What each tag is about. */
export const tagDescriptions = {
  Stores: 'Where the retailer sells: addresses, and the e-commerce locations that stores are mapped to.',
  Staff: 'Who works in the stores.',
  Inventory: 'What each store has, and how much of it may be sold online.',
  Products: 'What is sold: styles, their colours, and the sizes with prices and barcodes.',
  Customers: 'Who buys, with what they have agreed to be told.',
  'Retail transactions': 'What was sold and returned, in stores, by the head office and on the web.',
  Orders: 'What shoppers buy on the web: placing an order, and how far it has come.',
  Returns: 'What comes back of an order, why, and what is refunded.',
  Rewards: 'Loyalty programmes, and the points, rewards and gifts of their members.',
  'Gift vouchers': "What a shopper's gift voucher is still worth.",
  'Payment gateways': 'The ways to pay that the back office knows.',
  Privacy: 'What is kept of a person, and having it erased.',
  Changes: 'What has changed, of every kind of record, for whoever keeps a copy or acts on it.',
  Webhooks: 'Endpoints of yours that are told what has changed, signed as Standard Webhooks has it.',
  Feeds: 'How fresh the data is: what is pulled from a back office or comes as files, and what became of each run.',
  Imports: 'Files of rows that are taken in, and what became of their lines.',
  Alerts: 'What somebody has to look at, with the way out.',
  Figures: 'The day in numbers: requests, orders, sales, vouchers that are owed for, and how old the data is.',
  Requests: 'The log of requests: what was asked, by whom, what became of it, and what it took time for.',
  Accounts: 'Who may use this service, and as what.',
  Mappings: 'What stores, SKUs and customers are in the e-commerce platform.',
  Service: 'What this service can do, and how it is set.',
  Audit: 'Who wrote what, and when.',
  'Health and documentation': 'For load balancers, developers and browsers; without credentials.',
}

/** What resources are listed under. */
export type Tag = keyof typeof tagDescriptions

/** One operation as the OpenAPI document tells it. */
export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  /** What a client calls it by: a verb and what it acts on, `placeOrder`. */
  operationId: string
  summary: string
  description: string
  tag: Tag
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
  /** Where it can answer with a whole list. */
  whole?: WholeList
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

export interface WholeList {
  /** What each line is. */
  item: TSchema
  /** Whether a header has the cursor to follow on from, and none tells of a sync or of warnings. */
  hasEndCursor?: boolean
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

/** What any function of a resource is given. */
export interface Asked<P extends Params = Params> {
  service: Service
  backOffice: BackOffice
  driver: Pick<Driver, 'isOurs' | 'feeds' | 'breaker'>
  params: { [name in keyof P]: string }
  /** A request header, by its name. */
  header: (name: string) => string | undefined
  origin: Origin
  keys: Keys
  /** The way out to the endpoints of webhooks. */
  sender: Sender
  /** `Prefer: handling=strict` (RFC 7240). */
  strict: boolean
}

/** What one that reads is given. */
export interface Context<Query = unknown, P extends Params = Params> extends Asked<P> {
  /** What the caller is there. */
  role: Role
  db: Database
  /** For what a read counts or holds. */
  inSteps: <T>(work: (steps: Steps) => Promise<Finish<T>>) => Promise<T>
  query: Query
}

export interface Described<P extends Params> {
  /** What a client calls it by: a verb and what it acts on, `placeOrder`. */
  operationId: string
  summary: string
  description: string
  tag: Tag
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
export function gateOf(control: Gate, { gate }: FastifyRequest, { ofAccounts = false }: { ofAccounts?: boolean } = {}) {
  return ofAccounts || !gate ? control : gate
}

function assignmentOf({ assignment }: FastifyRequest) {
  if (!assignment) throw new Error('the gate admits with an assignment')
  return assignment
}

/** What a request says, as resources are told it. */
export function askedOf(gate: Gate, request: FastifyRequest): Asked {
  const { service } = assignmentOf(request)
  const header = (name: string) => request.headers[name.toLowerCase()]?.toString()
  return {
    service,
    backOffice: gate.backOffice(service),
    driver: gate.driver(service),
    params: pathParams(request),
    header,
    origin: originOf(request),
    keys: gate.keys,
    sender: gate.sender,
    strict: isStrict(header('prefer')),
  }
}

export function contextOf(gate: Gate, request: FastifyRequest): Context {
  const { service, role } = assignmentOf(request)
  return {
    ...askedOf(gate, request),
    role,
    db: gate.db,
    inSteps: work => inSteps(gate, service, work),
    query: undefined,
  }
}

/** The context with a query that was read by its shape; that the path has the parameters that it was described with is the router's doing. */
export const withQuery = <Query, P extends Params>(context: Context, query: Query) =>
  ({ ...context, query }) as Context<Query, P>

export const json = 'application/json; charset=utf-8'

/**
 * The path that was asked for: without its query, without the host that a proxy may put before it (RFC 9112, section 3.2.2), and
 * without a slash at its end, which makes no other path (contract 15).
 */
export function instanceOf({ url = '' }: { url?: string | undefined }) {
  const end = url.indexOf('?')
  const path = end < 0 ? url : url.slice(0, end)
  // As most paths are: two expressions would take longer than all else that is said of a request in its log.
  if (path.startsWith('/') && !path.endsWith('/')) return path
  return path.replace(/^https?:\/\/[^/]*/i, '').replace(/(?<=[^/])\/$/, '')
}

/** A path with each of its parts written in the one way there is (RFC 3986, section 6.2.2): `%2D` is `-`. */
export const plainly = (path: string) =>
  path
    .split('/')
    .map(part => encodeURIComponent(decodeURIComponent(part)))
    .join('/')

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
