import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import type { Role } from '../accounts.ts'
import type { Database } from '../db.ts'
import type { BackOffice } from '../domain/backoffice.ts'
import { type ApiError, type ErrorCode, faulty, notFound } from '../errors.ts'
import type { Keys } from '../secrets.ts'
import type { Service } from '../settings.ts'
import type { Page, Step } from '../store/page.ts'
import { hasControls } from './controls.ts'
import { admit, type Gate } from './gate.ts'
import { envelope, PageOf, paging, stepOf, type Warning } from './lists.ts'
import { readQuery } from './query.ts'

/** One operation as the OpenAPI document tells it. */
export interface Operation {
  method: 'GET'
  path: string
  summary: string
  description?: string
  tag: string
  /** Who may; absent: anyone, without credentials. */
  role?: Role
  /** Path parameters and what they are. */
  params: Params
  query: TObject
  /** Request headers of its own. */
  headers: Params
  answer: TSchema
  /** Answers with an ETag. */
  etag: boolean
  /** The errors of its own, beside those that every operation has. */
  errors: readonly ErrorCode[]
}

/** The parameters of a path: what each is. */
type Params = Record<string, { description: string; example: string }>

/** What a resource's function is given. */
export interface Context<Query = unknown, P extends Params = Params> {
  service: Service
  db: Database
  backOffice: BackOffice
  params: { [name in keyof P]: string }
  query: Query
  /** A request header, by its name. */
  header: (name: string) => string | undefined
  /** The caller's address, as told by a trusted proxy where there is one. */
  address: string
  keys: Keys
  /** `Prefer: handling=strict` (RFC 7240). */
  strict: boolean
}

interface Described<Q extends TObject, P extends Params> {
  summary: string
  description?: string
  tag: string
  role?: Role
  params?: P
  errors?: readonly ErrorCode[]
  query?: Q
  /** Request headers of its own, by name. */
  headers?: Params
}

interface Got<Q extends TObject, P extends Params> extends Described<Q, P> {
  answer: TSchema
  /** What is not found where there is nothing. */
  kind?: string
  /** One record with an ETag. */
  etag?: boolean
}

interface Listed<Q extends TObject, P extends Params> extends Described<Q, P> {
  item: TSchema
  /** How many records come without a `limit`. */
  whole?: number
}

/** What a page's function answers. */
export interface PageAnswer {
  page: Page
  warnings?: Warning[]
}

/** What the resources are made with: each call is one row of the contract. */
export interface Api {
  /** One record, as the JSON text it is stored as, or a value. Undefined: there is no such record. */
  get<Q extends TObject, P extends Params>(
    path: string,
    described: Got<Q, P>,
    answer: (context: Context<Static<Q>, P>) => Promise<{ record: string } | { data: unknown } | undefined>,
  ): void
  /** A list with cursors (contract 1.4). */
  list<Q extends TObject, P extends Params>(
    path: string,
    described: Listed<Q, P>,
    page: (context: Context<Static<Q>, P>, step: Step) => Promise<Page | PageAnswer>,
  ): void
  operations: Operation[]
}

export function apiOf(server: FastifyInstance, gate: Gate): Api {
  const operations: Operation[] = []
  const none = Type.Object({})

  const route = (
    path: string,
    described: Got<TObject, Params>,
    handle: (request: FastifyRequest, reply: FastifyReply, context: Context) => Promise<unknown>,
  ) => {
    const { params = {}, headers = {}, errors = [], query = none, etag = false, role = 'visitor', ...rest } = described
    operations.push({ ...rest, method: 'GET', path, role, params, errors, query, headers, etag })
    server.get(
      path,
      { onRequest: (request, reply) => admit(gate, request, reply, role, 'read') },
      async (request, reply) => {
        const { assignment } = request
        if (!assignment) throw new Error('the gate admits with an assignment')
        const { service } = assignment
        const context = {
          service,
          db: gate.db,
          backOffice: gate.backOffice(service),
          params: pathParams(request),
          query: undefined,
          header: (name: string) => request.headers[name.toLowerCase()]?.toString(),
          address: request.ip,
          keys: gate.keys,
          strict: /(^|[,;\s])handling\s*=\s*"?strict"?/i.test(String(request.headers.prefer ?? '')),
        }
        return handle(request, reply, context)
      },
    )
  }

  return {
    operations,
    get(path, described, answer) {
      const shape = described.query ?? none
      route(path, described, async (request, reply, context) => {
        const { query, faults } = readQuery(shape, request.query as URLSearchParams, context.service.settings.timeZone)
        const [first, ...more] = faults
        if (first) throw faulty([first, ...more])
        const found = await answer({ ...context, query: query as never, params: context.params as never })
        if (!found) throw notFound(described.kind ?? 'record')
        const body = 'record' in found ? `{"data":${found.record}}` : JSON.stringify(found)
        return described.etag ? sendTagged(request, reply, body) : reply.type(json).send(body)
      })
    },
    list(path, { item, whole = 100, query: filters, ...described }, page) {
      const shape = Type.Object({ ...(filters?.properties ?? {}), ...paging(whole) })
      route(path, { ...described, query: shape, answer: PageOf(item) }, async (request, reply, context) => {
        const { service } = context
        const { query, faults } = readQuery(shape, request.query as URLSearchParams, service.settings.timeZone)
        const { limit, after_cursor, ...chosen } = query as { limit?: number; after_cursor?: string }
        const listing = { service, cursors: gate.keys.cursors, list: instanceOf(request), filters: chosen }
        const step = stepOf(listing, { ...(limit && { limit }), ...(after_cursor && { after_cursor }) }, whole, faults)
        const answered = await page({ ...context, query: chosen as never, params: context.params as never }, step)
        const { page: found, warnings } = 'page' in answered ? answered : { page: answered, warnings: undefined }
        return reply.type(json).send(envelope(listing, found, step.after, warnings))
      })
    },
  }
}

const json = 'application/json; charset=utf-8'

/** The path that was asked for, without its query. */
export const instanceOf = (request: FastifyRequest) => request.url.split('?', 1)[0] ?? ''

/** The path's parameters; one that no identifier can be names no record. */
function pathParams(request: FastifyRequest) {
  const params = (request.params ?? {}) as Record<string, string>
  for (const value of Object.values(params)) {
    if (value.length > 250 || hasControls(value)) throw notFound('record')
  }
  return params
}

/** Answers with an ETag of the bytes; 304 where the caller has them already (RFC 9110, section 13). */
function sendTagged(request: FastifyRequest, reply: FastifyReply, body: string) {
  const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  reply.header('etag', tag)
  const known = String(request.headers['if-none-match'] ?? '')
    .split(',')
    .map(text => text.trim().replace(/^W\//, ''))
  if (known.includes(tag) || known.includes('*')) return reply.code(304).send()
  return reply.type(json).send(body)
}

/** The one error of a parameter whose value is known only to the resource. */
export const refuse = (parameter: string, code: ErrorCode, detail: string): ApiError =>
  faulty([{ parameter, code, detail }])
