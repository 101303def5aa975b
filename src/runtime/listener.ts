import { createServer, type Server } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { openIdentityProvider } from '../auth/identity-provider.ts'
import { createSessions } from '../auth/sessions.ts'
import { createSignIn } from '../auth/sign-in.ts'
import type { BackOffices } from '../backoffice/back-offices.ts'
import type { Config } from '../config/config.ts'
import { createRateLimiter } from '../http/limits/rate-limit.ts'
import { logRejections } from '../http/observability/access-log.ts'
import { measureRequests } from '../http/observability/metrics.ts'
import { rejectPlainHttp } from '../http/protocol/malformed-requests.ts'
import type { RouteDefinition } from '../http/routing/route-definitions.ts'
import { routes } from '../resources/resources.ts'
import type { Sample } from '../telemetry/samples.ts'
import { countRequestConnections, writeQueue } from '../writes/fair-queue.ts'
import type { App } from './app.ts'
import { type CertificateMaintenance, loadCertificate, maintainCertificate } from './certificate.ts'
import { collectProcessSamples } from './metrics.ts'
import { buildServer } from './server.ts'
import { createShardGateway } from './shards/shards.ts'

/** A process that serves requests. */
export interface Listening {
  /** The URL that clients use. */
  baseUrl: string
  /** The CA certificate that clients must trust, if the certificate is a local one. */
  caFile: string | undefined
  server: FastifyInstance
  /** The metrics of this process. */
  samples(): Sample[]
  /**
   * Stops being ready, waits until load balancers notice (SHUTDOWN_DELAY_SECONDS), stops accepting connections, and waits at most `graceMs` for
   * running requests. 0 ends all connections at once.
   */
  close(graceMs: number): Promise<void>
}

interface ListenOptions {
  /** True once requests can be served. Default: always. */
  isReady?: () => boolean
  /** The routes that are served. Default: all. */
  definitions?: readonly RouteDefinition[]
}

/** Serves the API over HTTPS. The app stays open after `close`. */
export async function listen(
  app: App,
  { isReady = () => true, definitions = routes }: ListenOptions = {},
): Promise<Listening> {
  const { config, log, backOffices, shards } = app
  const { db, keys, pools = {}, replicas } = app.installation
  const certificate = loadCertificate(config)
  createSecureContext({ cert: certificate.cert, key: certificate.key })
  const shutdown = new AbortController()
  let isLeaving = false
  let baseUrl = ''
  let maintenance: CertificateMaintenance | undefined
  const getPublicUrl = () => config.publicUrl ?? baseUrl
  const identityProvider = openIdentityProvider(config, keys, () => `${getPublicUrl()}/console`)
  const writes = writeQueue(countRequestConnections(pools.writes ?? db.pool))
  const shared = {
    keys,
    signIn: createSignIn(db, keys),
    sessions: createSessions(db, keys),
    ...(identityProvider && { identityProvider }),
    rate: createRateLimiter(),
    sender: app.webhookSender,
    processInfo: {
      certificateExpiresAt: () => maintenance?.expiresAt() ?? certificate.notAfter,
      backupIntervalHours: config.backupIntervalHours,
    },
    shutdownSignal: shutdown.signal,
  }
  const getBackOfficeContext = ({ get, getDriver, getSyncTimes }: BackOffices) => ({
    backOffice: get,
    driver: getDriver,
    syncedAt: getSyncTimes,
  })
  const gateway = createShardGateway(shards, (shard, acquirePermit) => ({
    ...shared,
    ...getBackOfficeContext(shard.backOffices),
    db: shard.db,
    acquirePermit,
  }))
  const { server, clientMemory } = await buildServer({
    appContext: {
      ...shared,
      ...getBackOfficeContext(backOffices),
      db,
      acquirePermit: writes.acquire,
      shardGateway: gateway.open,
    },
    definitions,
    log,
    accessLog: config.accessLog,
    certificate,
    http2: config.http2,
    trustedProxies: config.trustedProxies,
    publicUrl: getPublicUrl,
    ready: () => !isLeaving && isReady(),
    clientMemoryBytes: config.maxMemoryMib * 1024 * 1024 * clientMemoryShare,
  })
  // A client that uses an existing connection opens its next one to another process.
  server.addHook('onRequest', (request, reply, done) => {
    if (isLeaving && request.raw.httpVersionMajor === 1) reply.header('connection', 'close')
    done()
  })
  const requests = measureRequests(server, config.metricsMaxServices)
  await server.listen({ port: config.port, host: config.host }).catch(rethrowListenError(config, 'PORT'))
  const address = server.server.address()
  baseUrl = `https://localhost:${typeof address === 'object' ? address?.port : config.port}`
  maintenance = maintainCertificate(server, certificate, config, log)
  let plain: Server | undefined
  const close = async (graceMs: number) => {
    isLeaving = true
    // No load balancer sends requests to a process that was never ready.
    if (isReady()) await delay(config.shutdownDelaySeconds * 1_000)
    shutdown.abort()
    maintenance?.stop()
    plain?.close()
    const force = setTimeout(clientMemory.closeAll, graceMs)
    await server.close()
    clearTimeout(force)
  }
  try {
    if (config.plainPort !== undefined)
      plain = await listenPlainHttp(config.plainPort, config, getPublicUrl, log).catch(
        rethrowListenError(config, 'PLAIN_PORT'),
      )
  } catch (error) {
    await close(0)
    throw error
  }
  // A configured certificate is valid for the public name, a local one for localhost.
  const reachableUrl = certificate.caFile === undefined ? getPublicUrl() : baseUrl
  const getOwnParts = () => ({ pools, backOffices, replicas, waitingWrites: writes.waiting })
  const collectSamples = () => [
    ...requests(),
    ...clientMemory.samples(),
    ...(maintenance?.samples() ?? []),
    ...collectProcessSamples([getOwnParts(), ...gateway.opened()]),
  ]
  return { baseUrl: reachableUrl, caFile: certificate.caFile, server, samples: collectSamples, close }
}

/** The share of a process's memory that clients can occupy. The rest is for the program and its work. */
const clientMemoryShare = 0.4

/** Explains why listening on the configured address failed. */
const rethrowListenError =
  ({ host, port, plainPort }: Config, setting: 'PORT' | 'PLAIN_PORT') =>
  ({ code, message }: NodeJS.ErrnoException): never => {
    const number = setting === 'PORT' ? port : plainPort
    if (code === 'EADDRINUSE')
      throw new Error(`Port ${number} of ${host} is in use by another program. Set ${setting} to a free port.`)
    throw new Error(`Port ${number} of ${host} can't be opened (${code ?? message}). Check HOST and ${setting}.`)
  }

function listenPlainHttp(
  port: number,
  { host, accessLog }: Config,
  publicUrl: () => string,
  log: Logger,
): Promise<Server> {
  const level = accessLog ? 'info' : 'debug'
  const server = createServer(rejectPlainHttp(publicUrl, logRejections(log, level)))
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve(server))
  })
}
