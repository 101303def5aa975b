/** Registers the route definitions with Fastify: admission, query, handler and response of each route. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import type { Static, TObject } from '../../schemas/schemas.ts'
import type { PageRequest } from '../../store/lists/page.ts'
import { admit, type Gate } from '../admission/admit.ts'
import { requireJsonBody } from '../body/body.ts'
import { concurrencyLimit } from '../limits/concurrency-limit.ts'
import { chooseMedium } from '../negotiation/accept.ts'
import { type PageResult, renderPage, toPageRequest } from '../pagination/lists.ts'
import { sendEvents } from '../streaming/event-stream.ts'
import { exportPages, findExportConflicts } from '../streaming/export-chunks.ts'
import { bulkExporter } from '../streaming/export-route.ts'
import { type LongRequest, startLongRequest } from '../streaming/long-poll.ts'
import {
  type Context,
  contextOf,
  gateOf,
  instanceOf,
  json,
  namesTag,
  type Params,
  tagOf,
  withQuery,
} from './operation.ts'
import { readQuery } from './query.ts'
import {
  type GetOptions,
  type GetRoute,
  type ListRoute,
  noQuery,
  type RouteDefinition,
  type StreamRoute,
  type WriteRoute,
} from './route-definitions.ts'
import { uploadRouter } from './uploads.ts'
import { handleWrite } from './writes.ts'

type Handle = (
  request: FastifyRequest,
  reply: FastifyReply,
  context: Context,
  startLong: () => LongRequest,
) => Promise<unknown>

const wantsExport = ({ headers }: FastifyRequest) => chooseMedium(headers.accept, ['json', 'lines']) === 'lines'

export function registerRoutes(server: FastifyInstance, gate: Gate, definitions: readonly RouteDefinition[]) {
  const limitStreams = concurrencyLimit('too_many_streams')
  const { limitFor, send: sendExport } = bulkExporter(gate)
  const registerUpload = uploadRouter(server, gate)

  const registerRead = ({ operation, options }: GetRoute | ListRoute | StreamRoute, handle: Handle) => {
    const { path, media } = operation
    const { ofAccounts = false, role = 'visitor' } = options
    server.get(
      path,
      { onRequest: (request, reply) => admit(gate, request, reply, { role, policy: 'read', media }) },
      async (request, reply) =>
        handle(request, reply, contextOf(gateOf(gate, request, { ofAccounts }), request), () =>
          startLongRequest(gate, request, reply, role),
        ),
    )
  }

  const registerGet = (route: GetRoute) => {
    const { whole, role, kind = 'record', etag } = route.options
    registerRead(route, async (request, reply, unread, startLong) => {
      const isExport = whole !== undefined && wantsExport(request)
      const context = withParsedQuery(route.options, request, unread, isExport)
      if (isExport) return sendExport(request, reply, role, () => whole.of(context, limitFor(context)))
      const found = await route.handler(context, startLong)
      if (!found) throw notFound(kind)
      const body = 'record' in found ? enveloped(found.record, found.meta) : JSON.stringify(found)
      return etag ? sendTagged(request, reply, body) : reply.type(json).send(body)
    })
  }

  const registerStream = (route: StreamRoute) =>
    registerRead(route, async (request, reply, unread, startLong) => {
      const context = withParsedQuery(route.options, request, unread)
      return limitStreams(request, async () => {
        const long = startLong()
        const events = await route.handler(context, long)
        await sendEvents(request, reply, events, long.signal)
        return reply
      })
    })

  const registerList = (route: ListRoute) => {
    const { withoutLimit = 100, needs, sync, judge, role } = route.options
    registerRead(route, async (request, reply, context) => {
      const { service } = context
      const { query, given, errors } = readQuery(route.query, request.query as string, service.settings.timeZone)
      const { limit, after_cursor, ...filters } = query as { limit?: number; after_cursor?: string }
      errors.push(...(judge?.(filters, given, service) ?? []))
      const missing = needs && context.backOffice.untold.get(needs)
      const loadPage = async (asked: PageRequest) => {
        const result = await route.handler(withQuery(context, filters), asked)
        const {
          page,
          warnings: own = [],
          syncedAt = sync && gateOf(gate, request).syncedAt?.(service)?.get(sync),
          asOf = page.asOf,
        }: PageResult = 'page' in result ? result : { page: result }
        const warnings = missing ? [...own, { code: 'capability_unavailable', detail: missing }] : own
        return { page, meta: { asOf, syncedAt, warnings: warnings.length ? warnings : undefined } }
      }
      if (wantsExport(request)) {
        throwIfAny([...errors, ...findExportConflicts(given)])
        return sendExport(request, reply, role, () => exportPages(service, limitFor(context), loadPage))
      }
      const scope = { service, list: instanceOf(request), filters, key: gate.keys.cursors }
      const asked = toPageRequest(scope, { limit, after_cursor }, withoutLimit, errors)
      const { page, meta } = await loadPage(asked)
      return reply.type(json).send(renderPage(scope, asked, page, meta))
    })
  }

  const registerWrite = ({ operation, options, how, handler }: WriteRoute) => {
    const { role = 'maintainer', policy = 'write', body } = options
    const { method, path } = operation
    server.route({
      method,
      url: path,
      async onRequest(request, reply) {
        await admit(gate, request, reply, { role, policy, media: ['json'] })
        requireJsonBody(request, body)
      },
      handler: (request, reply) => handleWrite(gate, how, request, reply, handler),
    })
  }

  for (const route of definitions) {
    if (route.type === 'get') registerGet(route)
    else if (route.type === 'list') registerList(route)
    else if (route.type === 'stream') registerStream(route)
    else if (route.type === 'write') registerWrite(route)
    else registerUpload(route.operation.path, route.options, route.handler)
  }
}

/** Parses the query by its schema. Throws all of its errors at once. */
function withParsedQuery(
  { query: schema, judge }: Pick<GetOptions, 'query' | 'judge'>,
  request: FastifyRequest,
  context: Context,
  isExport = false,
): Context<Static<TObject>, Params> {
  const { service } = context
  const { query, given, errors } = readQuery(schema ?? noQuery, request.query as string, service.settings.timeZone)
  throwIfAny([...errors, ...(isExport ? findExportConflicts(given) : []), ...(judge?.(query, given, service) ?? [])])
  return withQuery(context, query as Static<TObject>)
}

const enveloped = (data: string, meta: object | undefined) =>
  meta ? `{"data":${data},"meta":${JSON.stringify(meta)}}` : `{"data":${data}}`

/** Sends a body with an ETag of its bytes, or 304 if the caller has them already (RFC 9110, section 13). */
function sendTagged(request: FastifyRequest, reply: FastifyReply, body: string) {
  const tag = tagOf(body)
  reply.header('etag', tag)
  if (namesTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return reply.type(json).send(body)
}
