import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { BackOffice } from '../../backoffice/port/back-office.ts'
import type { Driver } from '../../backoffice/port/driver.ts'
import type { Keys } from '../../crypto/keys.ts'
import type { Database } from '../../database/db.ts'
import type { Role } from '../../domain/accounts.ts'
import type { ApiKeyInUse, RequiredScope, StoreSource } from '../../domain/api-keys.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { hasControls } from '../../domain/values/characters.ts'
import { type ErrorCode, notFound } from '../../errors/api-error.ts'
import type { TObject, TSchema } from '../../schemas/schemas.ts'
import type { Sender } from '../../webhooks/sender.ts'
import { runInStages } from '../../writes/stages.ts'
import type { CommitPhase, Origin, Stages } from '../../writes/write.ts'
import { getOrigin } from '../admission/client-address.ts'
import type { AppContext, ProcessInfo } from '../app-context.ts'
import type { Deprecation, Deprecations } from '../deprecations.ts'
import type { Media } from '../negotiation/accept.ts'
import { prefersStrict } from './prefer.ts'

/** The description of each tag. */
export const tagDescriptions = {
  Stores: 'Retail locations and the platform locations they map to.',
  Staff: 'Store staff.',
  Inventory: 'Stock levels by store and SKU, and how much you can sell online.',
  Products: 'Styles with their colours, sizes, prices and barcodes.',
  Customers: 'Shopper profiles and marketing consent.',
  'Retail transactions': 'Sales and returns of all sales channels.',
  Checkout: 'Price a cart: quotes, freight options and coupons.',
  Orders: 'Place web orders and follow their status.',
  Returns: 'Return items from an order and track refunds.',
  Fulfilment: 'Ship orders and receive returns, as a warehouse does.',
  Rewards: 'Loyalty programs, tiers, points, rewards and gifts.',
  'Gift vouchers': 'Look up, lock, redeem and issue gift vouchers.',
  'Payment gateways': 'Payment gateways you can use in orders and vouchers.',
  Privacy: 'Data export and erasure for a customer.',
  Changes: 'The change feed: every change to every record, in order.',
  Webhooks: 'Endpoints that receive change notifications (Standard Webhooks).',
  Search: 'Find any record by number, name, email address or phone number.',
  Syncs: 'Syncs from the back office: schedule, lag and run history.',
  Imports: 'Import CSV or NDJSON files and review rejected lines.',
  Alerts: 'Problems that need attention, with steps to fix them.',
  Stats: 'Data behind the dashboard: requests, orders, sales, voucher balance.',
  Requests: 'Search logged API requests and see what each one did.',
  Accounts: 'API accounts with access to this service.',
  Mappings: 'Links between your stores, SKUs and customers and the e-commerce platform.',
  Service: 'Capabilities and settings of the service.',
  Audit: 'The audit log: each change with its account and time.',
  'Health and documentation': 'Health checks and documentation. No credentials needed.',
}

/** A tag of the OpenAPI document. */
export type Tag = keyof typeof tagDescriptions

/** One operation, as the OpenAPI document describes it. */
export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  /** The method name in the generated client: verb and noun, such as `placeOrder`. */
  operationId: string
  summary: string
  description: string
  tag: Tag
  /** The role that a caller needs. Absent if no credentials are needed. */
  role?: Role
  /** The scope that an API key needs. */
  scope: RequiredScope
  /** The part of a request that names its stores, for API keys that are limited to stores. */
  storeSource: StoreSource
  params: Params
  query: TObject
  /** The request headers of this operation, in addition to the common ones. */
  headers: RequestHeaders
  body?: TSchema
  /** True if the body is a file. */
  files?: boolean
  response: TSchema
  media: Media
  /** The schema of each line of the bulk export, if the operation has one. */
  exportLine?: TSchema
  /** The status codes of success. */
  statuses: readonly number[]
  /** True if an empty string in an optional field of the body differs from null. */
  keepsEmptyTexts?: boolean
  /** True if responses have an ETag. */
  etag: boolean
  /** True if the operation accepts an `Idempotency-Key`. */
  repeatable: boolean
  /** True if the operation honours `Prefer: handling=strict`. */
  supportsStrict?: true
  /** The response fields that are null after a dry run. */
  generated?: readonly string[]
  /** Set if clients should stop using the operation. */
  deprecated?: Deprecation | undefined
  /** True if responses can have warnings. */
  warns: boolean
  /** The error codes of this operation, in addition to the common ones. */
  errors: readonly ErrorCode[]
}

/** True if only the console uses the operation. It is not part of the API. */
export const isConsoleOperation = ({ path }: Pick<Operation, 'path'>) => path.startsWith('/console/')

/** An operation of a route, with the default role of its kind if its options name none. */
export type RouteOperation = Operation & { role: Role }

/** The parameters of a path, by name. */
export type Params = Record<string, { description: string; example: string }>
export type RequestHeaders = Record<string, RequestHeader>

interface RequestHeader {
  description: string
  /** Leave it out if a tool that sends it would get another response. */
  example?: string
  /** Default true. */
  required?: boolean
  /** Default: any string. */
  schema?: TSchema
}

/** The request, as every handler receives it. */
export interface RequestContext<P extends Params = Params> {
  service: Service
  backOffice: BackOffice
  driver: Pick<Driver, 'isEmbedded' | 'syncs' | 'breaker'>
  params: { [name in keyof P]: string }
  /** Returns a request header by its name, in any case. */
  header: (name: string) => string | undefined
  origin: Origin
  keys: Keys
  /** Sends requests to webhook endpoints. */
  sender: Sender
  /** True for `Prefer: handling=strict` (RFC 7240). */
  strict: boolean
  /** The caller's role in the service. Undefined if a recovered write has no caller any more. */
  role?: Role
}

/** The request, as a handler that reads receives it. */
export interface ReadContext<Query = unknown, P extends Params = Params> extends RequestContext<P> {
  role: Role
  /** The caller's account. */
  username: string
  /** The API key of the request. Undefined: a password or a session. */
  apiKey: ApiKeyInUse | undefined
  db: Database
  /** The deprecated operations of the API, by method and path. */
  deprecations: Deprecations
  processInfo: ProcessInfo
  /** Runs a read that counts failed attempts or reserves names. */
  runInStages: <T>(work: (stages: Stages) => Promise<CommitPhase<T>>) => Promise<T>
  query: Query
}

/** The options of every route. */
export interface RouteOptions<P extends Params> {
  /** The method name in the generated client: verb and noun, such as `placeOrder`. */
  operationId: string
  summary: string
  description: string
  tag: Tag
  role?: Role
  /** Replaces the scope: `any` API key can call the operation, or `none` can. */
  keys?: 'any' | 'none'
  params?: P
  errors?: readonly ErrorCode[]
  /** True if the operation honours `Prefer: handling=strict`. */
  supportsStrict?: true
  /** Request headers of this operation, by name. */
  headers?: RequestHeaders
  /** True for accounts: they are in the control database, wherever the service is. */
  inControlDatabase?: boolean
  /** Set if clients should stop using the operation. */
  deprecated?: Deprecation
}

/** Returns the context of the shard that has the service. Returns the control database's context for accounts. */
export function selectAppContext(
  control: AppContext,
  { appContext }: FastifyRequest,
  { inControlDatabase = false }: { inControlDatabase?: boolean } = {},
) {
  return inControlDatabase || !appContext ? control : appContext
}

function getAssignment({ assignment }: FastifyRequest) {
  if (!assignment) throw new Error('the request was not admitted: it has no assignment')
  return assignment
}

export function createRequestContext(app: AppContext, request: FastifyRequest): RequestContext {
  const { service, role } = getAssignment(request)
  const getHeader = (name: string) => request.headers[name.toLowerCase()]?.toString()
  return {
    service,
    role,
    backOffice: app.backOffice(service),
    driver: app.driver(service),
    params: readPathParams(request),
    header: getHeader,
    origin: getOrigin(request),
    keys: app.keys,
    sender: app.sender,
    strict: prefersStrict(getHeader('prefer')),
  }
}

/** Creates the context of a read, still without its query. */
export function createReadContext(app: AppContext, request: FastifyRequest): ReadContext {
  const { service, role, apiKey } = getAssignment(request)
  return {
    ...createRequestContext(app, request),
    role,
    username: request.username ?? '',
    apiKey,
    db: app.db,
    deprecations: app.deprecations ?? new Map(),
    processInfo: app.processInfo,
    runInStages: work => runInStages(app, service, work),
    query: undefined,
  }
}

/** Adds a parsed query to a context. The router guarantees that the path has the parameters of the definition. */
export const withQuery = <Query, P extends Params>(context: ReadContext, query: Query) =>
  ({ ...context, query }) as ReadContext<Query, P>

export const json = 'application/json; charset=utf-8'

/**
 * Returns the path of a request without its query, without a trailing slash, and without the host that a proxy can put before it
 * (RFC 9112, section 3.2.2).
 */
export function getRequestPath({ url = '' }: { url?: string | undefined }) {
  const end = url.indexOf('?')
  const path = end < 0 ? url : url.slice(0, end)
  // The common case. The two expressions would take longer than the rest of a request log entry.
  if (path.startsWith('/') && !path.endsWith('/')) return path
  return path.replace(/^https?:\/\/[^/]*/i, '').replace(/(?<=[^/])\/$/, '')
}

/** Normalizes the percent-encoding of each segment of a path (RFC 3986, section 6.2.2): `%2D` becomes `-`. */
export const normalizePath = (path: string) =>
  path
    .split('/')
    .map(part => encodeURIComponent(decodeURIComponent(part)))
    .join('/')

/** Returns the path parameters. Throws `not_found` if one of them can't be an identifier. */
function readPathParams(request: FastifyRequest) {
  const params = (request.params ?? {}) as Record<string, string>
  for (const value of Object.values(params)) {
    if (value.length > 250 || hasControls(value)) throw notFound('record')
  }
  return params
}

/** Creates the ETag of a response from its bytes (RFC 9110, section 8.8.3). */
export const createEtag = (body: string | Buffer) =>
  `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`

/** True if a list of tags (`If-Match`, `If-None-Match`) has this one. Proxies that compress a response mark its tag as weak. */
export function matchesEtag(list: string | undefined, tag: string) {
  const withoutWeakMark = (text: string) => text.trim().replace(/^W\//, '')
  const tags = (list ?? '').split(',').map(withoutWeakMark)
  return tags.includes(withoutWeakMark(tag)) || tags.includes('*')
}
