import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { sessionsOf } from '../auth/sessions.ts'
import { signIn } from '../auth/sign-in.ts'
import { type BackOffices, openBackOffices } from '../backoffice/back-offices.ts'
import type { BackOffice } from '../backoffice/port/back-office.ts'
import { backOfficeSettings, type Config } from '../config/config.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { rateLimiter } from '../http/limits/rate-limit.ts'
import { noteRefusals } from '../http/observability/access-log.ts'
import { measureRequests } from '../http/observability/metrics.ts'
import { refusePlainHttp } from '../http/protocol/malformed-requests.ts'
import type { Sample } from '../telemetry/samples.ts'
import { senderWithin } from '../webhooks/sender.ts'
import { writeQueue } from '../writes/fair-queue.ts'
import { loadCertificate, maintainCertificate } from './certificate.ts'
import type { Installation } from './installation/installation.ts'
import { processSamples } from './metrics.ts'
import { buildServer } from './server.ts'
import { createShardGateway } from './shards/gateway.ts'
import { createShards, type Shards } from './shards/shards.ts'

/** A process that serves requests. */
export interface Listening {
  /** Where callers reach it. */
  baseUrl: string
  /** The authority that callers have to trust, where the certificate is a local one. */
  caFile: string | undefined
  server: FastifyInstance
  /** What this process has to tell of itself. */
  samples(): Sample[]
  /** Has load balancers look elsewhere (SHUTDOWN_DELAY_SECONDS) if it was ready, stops accepting, finishes what runs, for at most `graceMs`; 0: all at once. */
  close(graceMs: number): Promise<void>
}

interface How {
  /** Whether all is there that requests need; without it: from the beginning. */
  isReady?: () => boolean
  /** What stands behind the services: open already, and closed by whoever opened them. */
  offices?: BackOffices
  /** The data databases: closed by whoever opened them. */
  databases?: Shards
  /** What stands behind each, instead of what they are set to. */
  backOffice?: ((service: Service) => BackOffice) | undefined
}

/** Serves the installation over HTTPS. */
export async function listen(
  config: Config,
  { db, keys, pools = {}, replicas }: Installation,
  log: Logger,
  { offices: given, databases: givenDatabases, backOffice, isReady = () => true }: How = {},
): Promise<Listening> {
  const certificate = loadCertificate(config)
  createSecureContext({ cert: certificate.cert, key: certificate.key })
  const offices = given ?? (await openBackOffices({ db, keys, defaults: backOfficeSettings(config), log }))
  const databases = givenDatabases ?? createShards(config, { db, keys }, log)
  const closeOwn = async () => {
    if (!given) offices.close()
    if (!givenDatabases) await databases.close()
  }
  const ending = new AbortController()
  let isLeaving = false
  let baseUrl = ''
  const publicUrl = () => config.publicUrl ?? baseUrl
  const writes = writeQueue((pools.writes ?? db.pool).options.max)
  const shared = {
    keys,
    signIn: signIn(db, keys),
    sessions: sessionsOf(db, keys),
    rate: rateLimiter(),
    sender: senderWithin(config.webhookNetworks),
    ending: ending.signal,
  }
  const behind = ({ of, driverOf, syncedAt }: BackOffices) => ({
    backOffice: backOffice ?? of,
    driver: driverOf,
    syncedAt,
  })
  const gates = createShardGateway(databases, ({ db, offices }, turn) => ({ ...shared, ...behind(offices), db, turn }))
  const server = await buildServer({
    gate: { ...shared, ...behind(offices), db, turn: writes.acquire, elsewhere: gates.of },
    log,
    accessLog: config.accessLog,
    certificate,
    http2: config.http2,
    trustedProxies: config.trustedProxies,
    publicUrl,
    ready: () => !isLeaving && isReady(),
  })
  // Who has a connection here makes the next one elsewhere.
  server.addHook('onRequest', (request, reply, done) => {
    if (isLeaving && request.raw.httpVersionMajor === 1) reply.header('connection', 'close')
    done()
  })
  const requests = measureRequests(server)
  const cutOff = cuttingOff(server)
  await server.listen({ port: config.port, host: config.host }).catch(async fault => {
    await closeOwn()
    refused(config, 'PORT')(fault)
  })
  const address = server.server.address()
  baseUrl = `https://localhost:${typeof address === 'object' ? address?.port : config.port}`
  const kept = maintainCertificate(server, certificate, config, log)
  let plain: Server | undefined
  const close = async (graceMs: number) => {
    isLeaving = true
    // No load balancer looks here for a process that never was ready.
    if (isReady()) await delay(config.shutdownDelaySeconds * 1_000)
    ending.abort()
    kept.leave()
    plain?.close()
    const force = setTimeout(cutOff, graceMs)
    await server.close()
    clearTimeout(force)
    await closeOwn()
  }
  try {
    if (config.plainPort !== undefined)
      plain = await onPlainPort(config.plainPort, config, publicUrl, log).catch(refused(config, 'PLAIN_PORT'))
  } catch (error) {
    await close(0)
    throw error
  }
  // A certificate of one's own is for a name of one's own.
  const reach = certificate.caFile === undefined ? publicUrl() : baseUrl
  const own = () => ({ pools, offices, replicas, waitingWrites: writes.waiting })
  const samples = () => [...requests(), ...kept.samples(), ...processSamples([own(), ...gates.reached()])]
  return { baseUrl: reach, caFile: certificate.caFile, server, samples, close }
}

/** Answers with what ends all connections that the server then has: an HTTP/2 server cannot end its own. */
function cuttingOff({ server }: FastifyInstance): () => void {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return () => {
    for (const socket of sockets) socket.destroy()
  }
}

/** Says why nothing can listen there to whoever chose the address. */
const refused =
  ({ host, port, plainPort }: Config, setting: 'PORT' | 'PLAIN_PORT') =>
  ({ code, message }: NodeJS.ErrnoException): never => {
    const number = setting === 'PORT' ? port : plainPort
    if (code === 'EADDRINUSE')
      throw new Error(`Port ${number} of ${host} is in use by another program; set ${setting} to a free one.`)
    throw new Error(`Port ${number} of ${host} cannot be listened on (${code ?? message}); check HOST and ${setting}.`)
  }

function onPlainPort(port: number, { host, accessLog }: Config, publicUrl: () => string, log: Logger): Promise<Server> {
  const level = accessLog ? 'info' : 'debug'
  const server = createServer(refusePlainHttp(publicUrl, noteRefusals(log, level)))
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve(server))
  })
}
