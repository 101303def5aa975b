/** Registers the route definitions with Fastify: admission, query, handler and response of each route. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { notFound } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import type { Static, TObject } from '../../schemas/schemas.ts'
import type { Page, PageRequest } from '../../store/lists/page.ts'
import { admit } from '../admission/admit.ts'
import type { AppContext } from '../app-context.ts'
import { requireJsonBody } from '../body/body.ts'
import { concurrencyLimit } from '../limits/concurrency-limit.ts'
import { chooseMedium } from '../negotiation/accept.ts'
import { type PageResult, renderPage, toPageRequest } from '../pagination/lists.ts'
import { sendEvents } from '../streaming/event-stream.ts'
import { exportPages, findExportConflicts, type ListMetaFields } from '../streaming/export-chunks.ts'
import { createBulkExporter } from '../streaming/export-route.ts'
import { type LongRequest, startLongRequest } from '../streaming/long-poll.ts'
import {
  createEtag,
  createReadContext,
  getRequestPath,
  json,
  matchesEtag,
  type Params,
  type ReadContext,
  selectAppContext,
  withQuery,
} from './operation.ts'
import { parseQuery } from './query.ts'
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

/** Handles a read. If the response waits for changes, the handler must call `beginWait` first. */
type Handle = (
  request: FastifyRequest,
  reply: FastifyReply,
  context: ReadContext,
  beginWait: () => LongRequest,
) => Promise<unknown>

/** A bulk export has the path of its list, and is chosen by `Accept: application/x-ndjson`. */
const wantsExport = ({ headers }: FastifyRequest) => chooseMedium(headers.accept, ['json', 'lines']) === 'lines'

export function registerRoutes(server: FastifyInstance, app: AppContext, definitions: readonly RouteDefinition[]) {
  const limitStreams = concurrencyLimit('too_many_streams')
  const { getConnectionLimit, send: sendExport } = createBulkExporter(app)
  const registerUpload = uploadRouter(server, app)

  const registerRead = ({ operation, options }: GetRoute | ListRoute | StreamRoute, handle: Handle) => {
    const { path, role, media } = operation
    const { inControlDatabase = false } = options
    server.get(
      path,
      { onRequest: (request, reply) => admit(app, request, reply, { operation, policy: 'read', media }) },
      async (request, reply) =>
        handle(request, reply, createReadContext(selectAppContext(app, request, { inControlDatabase }), request), () =>
          startLongRequest(app, request, reply, role),
        ),
    )
  }

  const registerGet = (route: GetRoute) => {
    const { role } = route.operation
    const { bulkExport, recordName = 'record', etag } = route.options
    registerRead(route, async (request, reply, baseContext, beginWait) => {
      const isExport = bulkExport !== undefined && wantsExport(request)
      const context = withParsedQuery(route.options, request, baseContext, isExport)
      if (isExport)
        return sendExport(request, reply, role, () => bulkExport.begin(context, getConnectionLimit(context)))
      const result = await route.handler(context, beginWait)
      if (!result) throw notFound(recordName)
      const body = 'record' in result ? addEnvelope(result.record, result.meta) : JSON.stringify(result)
      return etag ? sendTagged(request, reply, body) : reply.type(json).send(body)
    })
  }

  const registerStream = (route: StreamRoute) =>
    registerRead(route, async (request, reply, baseContext, beginWait) => {
      const context = withParsedQuery(route.options, request, baseContext)
      return limitStreams(request, async () => {
        const long = beginWait()
        const events = await route.handler(context, long)
        await sendEvents(request, reply, events, long.signal)
        return reply
      })
    })

  const registerList = (route: ListRoute) => {
    const { role } = route.operation
    const { defaultLimit = 100, requires, sync, validate } = route.options
    registerRead(route, async (request, reply, context) => {
      const { service } = context
      const { query, sent, errors } = parseQuery(route.query, request.query as string, service.settings.timeZone)
      const { limit, after_cursor, ...filters } = query as { limit?: number; after_cursor?: string }
      errors.push(...(validate?.(filters, sent, service) ?? []))
      const unsupportedReason = requires && context.backOffice.unsupportedFields.get(requires)
      const loadPage = async (nextPage: PageRequest) => {
        const result = await route.handler(withQuery(context, filters), nextPage)
        const {
          page,
          warnings: ownWarnings = [],
          syncedAt = getSyncedAt(selectAppContext(app, request), service, sync),
          asOf = page.asOf,
        }: PageResult = 'page' in result ? result : { page: result }
        const warnings = unsupportedReason
          ? [...ownWarnings, { code: 'capability_unavailable', detail: unsupportedReason }]
          : ownWarnings
        return { page, meta: { asOf, syncedAt, warnings: warnings.length ? warnings : undefined } }
      }
      if (wantsExport(request)) {
        throwIfAny([...errors, ...findExportConflicts(sent)])
        return sendExport(request, reply, role, () => exportPages(service, getConnectionLimit(context), loadPage))
      }
      const cursorScope = { service, list: getRequestPath(request), filters, key: app.keys.cursors }
      // Throws `errors` together with the errors of the cursor.
      const pageRequest = toPageRequest(cursorScope, { limit, after_cursor }, defaultLimit, errors)
      const { page, meta } = await loadPage(pageRequest)
      const isPoll = sent.has('updated_after') && after_cursor === undefined
      if (isPoll && isUnchanged(request, reply, createPageEtag(service, page, meta))) return reply.code(304).send()
      return reply.type(json).send(renderPage(cursorScope, pageRequest, page, meta))
    })
  }

  const registerWrite = ({ operation, options, writeOptions, handler }: WriteRoute) => {
    const { policy = 'write', body } = options
    const { method, path } = operation
    server.route({
      method,
      url: path,
      async onRequest(request, reply) {
        await admit(app, request, reply, { operation, policy, media: ['json'] })
        requireJsonBody(request, body)
      },
      handler: (request, reply) => handleWrite(app, writeOptions, request, reply, handler),
    })
  }

  for (const route of definitions) {
    if (route.type === 'get') registerGet(route)
    else if (route.type === 'list') registerList(route)
    else if (route.type === 'stream') registerStream(route)
    else if (route.type === 'write') registerWrite(route)
    else registerUpload(route.operation, route.options, route.handler)
  }
}

/** Parses the query by its schema. Throws all of its errors at once. */
function withParsedQuery(
  { query: schema, validate }: Pick<GetOptions, 'query' | 'validate'>,
  request: FastifyRequest,
  context: ReadContext,
  isExport = false,
): ReadContext<Static<TObject>, Params> {
  const { service } = context
  const { query, sent, errors } = parseQuery(schema ?? noQuery, request.query as string, service.settings.timeZone)
  throwIfAny([...errors, ...(isExport ? findExportConflicts(sent) : []), ...(validate?.(query, sent, service) ?? [])])
  return withQuery(context, query as Static<TObject>)
}

/** Returns the time of a sync's last successful run. */
const getSyncedAt = ({ syncedAt }: AppContext, service: Service, sync: string | undefined) =>
  sync && syncedAt?.(service)?.get(sync)

const addEnvelope = (data: string, meta: object | undefined) =>
  meta ? `{"data":${data},"meta":${JSON.stringify(meta)}}` : `{"data":${data}}`

/** Creates the ETag of a list's first page. Weak, because equal pages have different cursors. A restore changes it, because cursors become invalid. */
const createPageEtag = ({ settings, restoredAt }: Service, { records, hasNextPage }: Page, meta: ListMetaFields) =>
  `W/${createEtag(records.join() + JSON.stringify([hasNextPage, settings.timeZone, restoredAt, meta]))}`

/** Sends a body with an ETag of its bytes, or 304 if the caller has this body already. */
const sendTagged = (request: FastifyRequest, reply: FastifyReply, body: string) =>
  isUnchanged(request, reply, createEtag(body)) ? reply.code(304).send() : reply.type(json).send(body)

/** Sets the ETag of a response. Returns true if the caller has this response already (RFC 9110, section 13). */
function isUnchanged(request: FastifyRequest, reply: FastifyReply, tag: string) {
  reply.header('etag', tag)
  return matchesEtag(request.headers['if-none-match'], tag)
}
