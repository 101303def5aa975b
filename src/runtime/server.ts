import { METHODS } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import type { Bindings, Logger } from 'pino'
import { registerConsole } from '../console/console.ts'
import { ApiError } from '../errors/api-error.ts'
import { countUnroutedRequest } from '../http/admission/admit.ts'
import { trackAccountUse } from '../http/admission/last-used.ts'
import type { AppContext } from '../http/app-context.ts'
import { parseBodiesAsBytes } from '../http/body/body.ts'
import { limitBodyTime } from '../http/body/time-limit.ts'
import { announceDeprecations, listDeprecations } from '../http/deprecations.ts'
import { registerPublicPages } from '../http/docs/public.ts'
import { type ClientMemory, limitClientMemory } from '../http/limits/client-memory.ts'
import { maxStreams, shareTurns } from '../http/limits/turns-of-connections.ts'
import { getLogFields, type LogRejection, logRejections, writeAccessLog } from '../http/observability/access-log.ts'
import { createFieldList } from '../http/observability/error-fields.ts'
import { writeRequestLog } from '../http/observability/request-log.ts'
import { traceRequests } from '../http/observability/tracing.ts'
import { createProblemResponse, defaultHeaders, toPublicError } from '../http/problem.ts'
import { getRequestId, rejectExpectation, rejectMalformedRequest } from '../http/protocol/malformed-requests.ts'
import { rejectOtherMethods } from '../http/protocol/other-methods.ts'
import { checkRequestLimits, maxHeaderSize } from '../http/protocol/request-limits.ts'
import { getRequestPath, isConsoleOperation } from '../http/routing/operation.ts'
import type { RouteDefinition } from '../http/routing/route-definitions.ts'
import { registerRoutes } from '../http/routing/router.ts'
import { acceptFileBodies } from '../http/routing/uploads.ts'
import { registerPlatformEvents } from '../inbound/platform-events.ts'
import { registerMcp } from '../mcp/endpoint.ts'
import { tlsOptions } from '../tls/tls.ts'

interface ServerOptions {
  appContext: AppContext
  log: Logger
  /** True if each request is logged at `info` instead of `debug`. */
  accessLog?: boolean
  certificate: { cert: string; key: string }
  http2: boolean
  trustedProxies: readonly string[]
  definitions: readonly RouteDefinition[]
  /** The address that errors point to. */
  publicUrl: () => string
  /** True if requests can be sent to this process; false while it starts or stops. */
  ready: () => boolean
  /** Bytes that connections, open requests and unread responses can occupy. */
  clientMemoryBytes: number
}

/** The HTTPS server and its connections. */
interface BuiltServer {
  server: FastifyInstance
  clientMemory: ClientMemory
}

/** Builds the HTTPS server with every resource. It isn't listening yet. */
export async function buildServer(options: ServerOptions): Promise<BuiltServer> {
  const { log, accessLog = false, publicUrl, definitions } = options
  const operations = definitions.map(({ operation }) => operation).filter(operation => !isConsoleOperation(operation))
  const appContext = { ...options.appContext, deprecations: listDeprecations(operations) }
  const level = accessLog ? 'info' : 'debug'
  const logRejection = logRejections(log, level)
  const listFields = createFieldList(definitions.map(({ operation }) => operation))
  const sendProblem: SendProblem = (error, request, reply) => {
    request.errorCode = error.code
    request.errorFields = listFields(error.errors)
    const context = { publicUrl: publicUrl(), requestId: request.id, instance: getRequestPath(request) }
    const { status, headers, body } = createProblemResponse(error, context)
    return reply.code(status).headers(headers).send(body)
  }
  const server = createFastify(options, sendProblem, logRejection)
  shareTurns(server.server)
  Object.assign(server.server, timeouts).on('checkExpectation', rejectExpectation(publicUrl, logRejection))
  const methodsByPath = collectMethods(server)
  const clientMemory = limitClientMemory(server, { budget: options.clientMemoryBytes, log })
  traceRequests(server)
  writeAccessLog(server, log, level)
  writeRequestLog(server, { ...appContext, log })
  trackAccountUse(server, { ...appContext, log })
  announceDeprecations(server, appContext.deprecations, { ...appContext, log })
  server.decorateRequest('assignment', undefined)
  server.decorateRequest('username', undefined)
  server.decorateRequest('appContext', undefined)
  parseBodiesAsBytes(server)
  acceptFileBodies(server)

  server.addHook('onRequest', (request, reply, done) => {
    reply.headers({ ...defaultHeaders, 'x-request-id': request.id })
    limitBodyTime(request, timeouts.requestTimeout)
    const error = checkRequestLimits(request)
    if (error || !request.is404) done(error)
    else rejectUnrouted(request, reply).catch(done)
  })

  server.setErrorHandler((error, request, reply) => {
    const publicError = toPublicError(error)
    if (publicError.status >= 500)
      request.log.error(
        { err: publicError.cause ?? error, ...getLogFields(request), 'error.type': publicError.code },
        publicError.code,
      )
    return sendProblem(publicError, request, reply)
  })

  registerRoutes(server, appContext, definitions)
  registerPublicPages(server, operations, { appContext, publicUrl, ready: options.ready })
  registerConsole(server, appContext)
  registerMcp(server, appContext, operations)
  registerPlatformEvents(server, appContext)
  const rejectUnrouted = rejectOtherMethods(server, methodsByPath, (request, reply) =>
    countUnroutedRequest(appContext, request, reply),
  )
  return { server, clientMemory }
}

/** Sends an error response. */
type SendProblem = (error: ApiError, request: FastifyRequest, reply: FastifyReply) => FastifyReply

/** Creates the HTTPS server without routes. */
function createFastify(
  { log, certificate, http2, trustedProxies, publicUrl }: ServerOptions,
  sendProblem: SendProblem,
  logRejection: LogRejection,
) {
  return Fastify({
    ...(http2 ? { http2: true as const } : {}),
    https: {
      ...tlsOptions,
      ...certificate,
      ...timeouts,
      allowHTTP1: true,
      maxHeaderSize,
      settings: http2Settings,
      ...resetLimit,
      requireHostHeader: false,
    },
    loggerInstance: log,
    // Fastify would log a warning with all its options for a method that Node does not list.
    childLoggerFactory: (
      logger: Logger,
      bindings: Bindings,
      loggerOptions: object,
      { method = '' }: FastifyRequest['raw'],
    ) => logger.child(bindings, METHODS.includes(method) ? loggerOptions : { level: 'silent' }),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    // `readBody` parses bodies, and responses are bytes already. Set, so that Fastify does not load its own compilers.
    schemaController: {
      compilersFactory: {
        buildValidator: () => () => () => true,
        buildSerializer: () => () => (data: unknown) => data,
      },
    },
    trustProxy: trustedProxies.length ? [...trustedProxies] : false,
    genReqId: getRequestId,
    requestTimeout: timeouts.requestTimeout,
    connectionTimeout: 60_000,
    keepAliveTimeout: 65_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // `parseQuery` parses queries, and `readPathParams` validates identifiers.
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: Number.MAX_SAFE_INTEGER,
      querystringParser: (text: string) => text as never,
    },
    clientErrorHandler: rejectMalformedRequest(publicUrl, logRejection),
    // Fastify's router rejects a malformed path before any hook runs.
    frameworkErrors: (_: unknown, request: FastifyRequest, reply: FastifyReply) =>
      sendProblem(
        checkRequestLimits(request) ?? new ApiError('invalid_parameter', 'The path must be percent-encoded UTF-8.'),
        request,
        reply,
      ),
  } as Parameters<typeof Fastify>[0]) as unknown as FastifyInstance
}

/** Milliseconds. Also set on the server itself, because an HTTP/2 server accepts no options for its HTTP/1.1 connections. */
const timeouts = { headersTimeout: 15_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000 }
const http2Settings = { maxConcurrentStreams: maxStreams }
/** HTTP/2: a client that resets more streams at once, or more per second afterwards, is disconnected. */
const resetLimit = { streamResetBurst: maxStreams, streamResetRate: 33 }

/** Collects the methods of each path while routes are registered. */
function collectMethods(server: FastifyInstance) {
  const methodsByPath = new Map<string, string[]>()
  server.addHook('onRoute', ({ url, method }) => {
    methodsByPath.set(url, [...(methodsByPath.get(url) ?? []), ...[method].flat()])
  })
  return methodsByPath
}
