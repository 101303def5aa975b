import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { BackOffice } from '../../backoffice/port/back-office.ts'
import type { Driver } from '../../backoffice/port/driver.ts'
import type { Keys } from '../../crypto/keys.ts'
import type { Database } from '../../database/db.ts'
import type { Role } from '../../domain/accounts.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { hasControls } from '../../domain/values/characters.ts'
import { type ErrorCode, notFound } from '../../errors/api-error.ts'
import type { TObject, TSchema } from '../../schemas/schemas.ts'
import type { Sender } from '../../webhooks/sender.ts'
import { inSteps } from '../../writes/stages.ts'
import type { CommitPhase, Origin, Steps } from '../../writes/write.ts'
import type { Gate } from '../admission/admit.ts'
import { originOf } from '../admission/client-address.ts'
import type { Media } from '../negotiation/accept.ts'
import { isStrict } from './prefer.ts'

/** The description of each tag. */
export const tagDescriptions = {
  Stores: 'Retail locations and the platform locations they map to.',
  Staff: 'Store staff.',
  Inventory: 'Stock levels by store and SKU, and how much you can sell online.',
  Products: 'Styles with their colours, sizes, prices and barcodes.',
  Customers: 'Shopper profiles and marketing consent.',
  'Retail transactions': 'Sales and returns from stores, head office and the web.',
  Orders: 'Place web orders and follow their status.',
  Returns: 'Return items from an order and track refunds.',
  Rewards: 'Loyalty programs, tiers, points, rewards and gifts.',
  'Gift vouchers': 'Look up, lock, redeem and issue gift vouchers.',
  'Payment gateways': 'Payment gateways you can use in orders and vouchers.',
  Privacy: 'Data export and erasure for a customer.',
  Changes: 'The change sync: every change to every record, in order.',
  Webhooks: 'Endpoints that receive change notifications (Standard Webhooks).',
  Syncs: 'Syncs from the back office: schedule, lag and run history.',
  Imports: 'Import CSV or NDJSON files and review rejected lines.',
  Alerts: 'Problems that need attention, with steps to fix them.',
  Stats: 'Data behind the dashboard: requests, orders, sales, voucher balance.',
  Requests: 'Search logged API requests and see what each one did.',
  Accounts: 'API accounts with access to this service.',
  Mappings: 'Links between your stores, SKUs and customers and the e-commerce platform.',
  Service: 'Capabilities and settings of the service.',
  Audit: 'Who changed what, and when.',
  'Health and documentation': 'Health checks and documentation. No credentials needed.',
}

/** A tag of the OpenAPI document. */
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
  driver: Pick<Driver, 'isOurs' | 'syncs' | 'breaker'>
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
  inSteps: <T>(work: (steps: Steps) => Promise<CommitPhase<T>>) => Promise<T>
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
