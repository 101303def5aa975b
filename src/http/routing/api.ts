import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CapabilityName } from '../../backoffice/port/back-office.ts'
import type { RunLimited } from '../../concurrency/semaphore.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type FieldError, notFound } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import { type Static, type TObject, type TSchema, Type } from '../../schemas/schemas.ts'
import type { Page, PageRequest } from '../../store/lists/page.ts'
import { admit, type Gate } from '../admission/admit.ts'
import { requireJsonBody } from '../body/body.ts'
import { openingsOf } from '../limits/concurrency-limit.ts'
import { type Media, mediumFor } from '../negotiation/accept.ts'
import { envelope, type PageAnswer, PageOf, pageRequestOf, paging } from '../pagination/lists.ts'
import type { Whole } from '../streaming/bulk-export.ts'
import { sendEvents } from '../streaming/event-stream.ts'
import { faultsOfWhole, wholeOf } from '../streaming/export-chunks.ts'
import { wholeLists } from '../streaming/export-route.ts'
import { type Waiting, waitingOf } from '../streaming/long-poll.ts'
import {
  type Context,
  contextOf,
  type Described,
  gateOf,
  instanceOf,
  json,
  namesTag,
  type Operation,
  type Params,
  tagOf,
  type WholeList,
  withQuery,
} from './operation.ts'
import { readQuery } from './query.ts'
import { type Upload, uploadsOf } from './uploads.ts'
import { handleWrite, howOf, type WriteDescribed, type WriteMethod, type WriteWork } from './writes.ts'

interface Read<Q extends TObject, P extends Params> extends Described<P> {
  query?: Q
  /** What is wrong with a query beside the shape of each parameter; `given` also has those that could not be read. */
  judge?: (query: Partial<Static<Q>>, given: URLSearchParams, service: Service) => FieldError[]
}

interface Got<Q extends TObject, P extends Params> extends Read<Q, P> {
  answer: TSchema
  /** What is not found where there is nothing. */
  kind?: string
  /** One record with an ETag. */
  etag?: boolean
  /** The same told as a whole, where it is a list (contract 12). */
  whole?: WholeList & { of: (context: Context<Static<Q>, P>, turn: RunLimited) => Promise<Whole> }
}

interface Listed<Q extends TObject, P extends Params> extends Read<Q, P> {
  item: TSchema
  /** How many records come without a `limit`. */
  withoutLimit?: number
  /** The capability of a back office without which the list lacks something; a warning says what. */
  needs?: CapabilityName
  /** The feed that fills the list where a back office is pulled from; `meta.syncedAt` tells when it last did. */
  feed?: string
}

type PageWork<Q extends TObject, P extends Params> = (
  context: Context<Static<Q>, P>,
  asked: PageRequest,
) => Promise<Page | PageAnswer>

type Write = <B extends TSchema, P extends Params>(
  path: string,
  described: WriteDescribed<B, P>,
  work: WriteWork<Static<B>, P>,
) => void

/** Data as the JSON text it is stored as, or as a value; beside it, where there is any, what the answer tells about it. */
type Found = ({ record: string } | { data: unknown }) & { meta?: object }

/** What the resources are made with: each call is one row of the contract. */
export interface Api {
  /** One record, or what else is no list. Undefined: there is no such record. */
  get<Q extends TObject, P extends Params>(
    path: string,
    described: Got<Q, P>,
    answer: (context: Context<Static<Q>, P>, waits: () => Waiting) => Promise<Found | undefined>,
  ): void
  /** Events as they come, some whole ones in a text, until the caller goes. What throws before them is answered as ever. */
  stream<Q extends TObject, P extends Params>(
    path: string,
    described: Got<Q, P>,
    events: (context: Context<Static<Q>, P>, waiting: Waiting) => Promise<AsyncIterable<string>>,
  ): void
  /** A list with cursors (contract 1.4). */
  list<Q extends TObject, P extends Params>(path: string, described: Listed<Q, P>, page: PageWork<Q, P>): void
  /** A write; what it leaves behind is in its last transaction (contract 1.5). */
  post: Write
  put: Write
  delete: Write
  /** A write whose body is a file, and which goes on after its answer. */
  upload: Upload
  operations: Operation[]
}

type Handle = (request: FastifyRequest, reply: FastifyReply, context: Context, waits: () => Waiting) => Promise<unknown>

const none = Type.Object({})
const listMedia: Media = ['json', 'lines']
const asksForLines = ({ headers }: FastifyRequest) => mediumFor(headers.accept, listMedia) === 'lines'

export function apiOf(server: FastifyInstance, gate: Gate): Api {
  const operations: Operation[] = []
  const openStream = openingsOf('too_many_streams')
  const { limitFor, tell } = wholeLists(gate)

  const read = (
    path: string,
    described: Described<Params> & Pick<Got<TObject, Params>, 'query' | 'answer' | 'etag'>,
    handle: Handle,
    { whole, media = whole ? listMedia : ['json'] }: { whole?: WholeList | undefined; media?: Media } = {},
  ) => {
    const { params = {}, headers = {}, errors = [], query = none, etag = false, role = 'visitor', ...told } = described
    const { ofAccounts = false, ...rest } = told
    const fixed = { method: 'GET', statuses: [200], media, repeatable: false, warns: false } as const
    operations.push({ ...rest, ...(whole && { whole }), ...fixed, path, role, params, errors, query, headers, etag })
    server.get(
      path,
      { onRequest: (request, reply) => admit(gate, request, reply, { role, policy: 'read', media }) },
      async (request, reply) =>
        handle(request, reply, contextOf(gateOf(gate, request, { ofAccounts }), request), () =>
          waitingOf(gate, request, reply, role),
        ),
    )
  }

  const write =
    (method: WriteMethod): Write =>
    (path, described, work) => {
      const { params = {}, headers = {}, errors = [], role = 'maintainer', policy = 'write', ...rest } = described
      const how = howOf(method, path, described)
      const { warns = false, statuses = [how.status], operationId, tag, summary, description, answer, body } = rest
      const { etag, repeatable, keepsEmptyTexts, made } = how
      const told = { operationId, tag, summary, description, answer, body }
      const asked = { method, path, role, params, headers, query: none, errors, media: ['json'] } as const
      operations.push({ ...told, ...asked, statuses, etag, repeatable, warns, keepsEmptyTexts, made })
      server.route({
        method,
        url: path,
        async onRequest(request, reply) {
          await admit(gate, request, reply, { role, policy, media: ['json'] })
          requireJsonBody(request, body)
        },
        handler: (request, reply) => handleWrite(gate, how, request, reply, work as WriteWork),
      })
    }

  return {
    operations,
    get(path, { whole, ...described }, answer) {
      const handle: Handle = async (request, reply, known, waits) => {
        const isWhole = whole !== undefined && asksForLines(request)
        const context = readOf(described, request, known, isWhole)
        if (isWhole) return tell(request, reply, described.role, () => whole.of(context, limitFor(context)))
        const found = await answer(context, waits)
        if (!found) throw notFound(described.kind ?? 'record')
        const body = 'record' in found ? enveloped(found.record, found.meta) : JSON.stringify(found)
        return described.etag ? sendTagged(request, reply, body) : reply.type(json).send(body)
      }
      read(path, described, handle, { whole })
    },
    stream(path, described, events) {
      const handle: Handle = async (request, reply, known, waits) => {
        const context = readOf(described, request, known)
        return openStream(request, async () => {
          const waiting = waits()
          const texts = await events(context, waiting)
          await sendEvents(request, reply, texts, waiting.over)
          return reply
        })
      }
      read(path, described, handle, { media: ['events'] })
    },
    list<Q extends TObject, P extends Params>(path: string, listed: Listed<Q, P>, page: PageWork<Q, P>) {
      const { item, withoutLimit = 100, needs, feed, query: filters, judge, ...described } = listed
      const shape = Type.Object({ ...(filters?.properties ?? {}), ...paging(withoutLimit) })
      const handle: Handle = async (request, reply, context) => {
        const { service } = context
        const { query, given, errors: faults } = readQuery(shape, request.query as string, service.settings.timeZone)
        const { limit, after_cursor, ...others } = query as { limit?: number; after_cursor?: string }
        const chosen = others as Static<Q>
        faults.push(...(judge?.(chosen, given, service) ?? []))
        const lacking = needs && context.backOffice.untold.get(needs)
        const pageOf = async (asked: PageRequest) => {
          const answered = await page(withQuery(context, chosen), asked)
          const {
            page: found,
            warnings: own = [],
            syncedAt = feed && gateOf(gate, request).syncedAt?.(service)?.get(feed),
            asOf = found.asOf,
          }: PageAnswer = 'page' in answered ? answered : { page: answered }
          const warnings = lacking ? [...own, { code: 'capability_unavailable', detail: lacking }] : own
          return { page: found, beside: { asOf, syncedAt, warnings: warnings.length ? warnings : undefined } }
        }
        if (asksForLines(request)) {
          throwIfAny([...faults, ...faultsOfWhole(given)])
          return tell(request, reply, described.role, () => wholeOf(service, limitFor(context), pageOf))
        }
        const walk = { service, list: instanceOf(request), filters: chosen, key: gate.keys.cursors }
        const asked = pageRequestOf(walk, { limit, after_cursor }, withoutLimit, faults)
        const { page: found, beside } = await pageOf(asked)
        return reply.type(json).send(envelope(walk, asked, found, beside))
      }
      read(path, { ...described, query: shape, answer: PageOf(item) }, handle, { whole: { item } })
    },
    post: write('POST'),
    put: write('PUT'),
    delete: write('DELETE'),
    upload: uploadsOf(server, gate, operations),
  }
}

/** What is known of a request and its query, read by its shape; every fault of that is told. */
function readOf<Q extends TObject, P extends Params>(
  { query: shape, judge }: Read<Q, P>,
  request: FastifyRequest,
  known: Context,
  isWhole = false,
): Context<Static<Q>, P> {
  const { service } = known
  const {
    query,
    given,
    errors: faults,
  } = readQuery((shape ?? none) as Q, request.query as string, service.settings.timeZone)
  throwIfAny([...faults, ...(isWhole ? faultsOfWhole(given) : []), ...(judge?.(query, given, service) ?? [])])
  return withQuery(known, query)
}

const enveloped = (data: string, meta: object | undefined) =>
  meta ? `{"data":${data},"meta":${JSON.stringify(meta)}}` : `{"data":${data}}`

/** Answers with an ETag of the bytes; 304 where the caller has them already (RFC 9110, section 13). */
function sendTagged(request: FastifyRequest, reply: FastifyReply, body: string) {
  const tag = tagOf(body)
  reply.header('etag', tag)
  if (namesTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return reply.type(json).send(body)
}
