import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { memoize, ttlCache } from '../concurrency/ttl-cache.ts'
import type { Db } from '../database/db.ts'
import { mainConnection } from '../domain/ecommerce/connection-settings.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { eventReaders } from '../ecommerce/connections.ts'
import type { PlatformEvent } from '../ecommerce/port/events.ts'
import { ApiError } from '../errors/api-error.ts'
import type { AppContext } from '../http/app-context.ts'
import { type EventConnection, findEventConnection, hasConnection } from '../store/ecommerce/connections.ts'
import { checkLevelsJob, isExpectedLevel, storeEvent } from '../store/ecommerce/events.ts'
import { addJob, willRun } from '../store/jobs/jobs.ts'
import { syncJob } from '../store/sync/status.ts'
import { listAllServices } from '../store/tenancy/services.ts'
import { transact } from '../writes/commit.ts'

/**
 * Receives the events of e-commerce platforms: `POST /ecommerce/events/{service}/{connection}`, signed by the platform.
 * Guarantees: 200 only after the commit; an event is stored once; forged requests leave no row, and however many arrive, they read the
 * database once in `cacheMs`.
 */

/**
 * Milliseconds for which services and secrets are cached, so that a flood of requests reads the database only a few times. Events that arrive
 * this soon after a service or a secret was added are rejected, and the platform repeats them.
 */
const cacheMs = 250

/** A connection for which no request is signed. So an unknown service costs the same time as a wrong signature. */
const noConnection: EventConnection = {
  driver: 'shopify',
  url: 'https://localhost',
  secrets: [randomBytes(32).toString('hex')],
}

interface Receiver {
  context: AppContext
  service: Service
  connection: EventConnection
}

export function registerPlatformEvents(server: FastifyInstance, app: AppContext) {
  const listServices = memoize(
    async () => new Map((await listAllServices(app.db)).map(service => [service.name, service])),
    cacheMs,
  )
  const receivers = ttlCache<Receiver | undefined>({ ttlMs: cacheMs, load: findReceiver })

  async function findReceiver(name: string): Promise<Receiver | undefined> {
    const controlEntry = (await listServices()).get(name)
    if (!controlEntry) return
    const shard =
      controlEntry.database !== undefined && app.shardGateway
        ? await app.shardGateway(controlEntry.database)
        : undefined
    const context = shard?.appContext ?? app
    const service = shard ? await shard.service(controlEntry.id) : controlEntry
    const connection = service && (await findEventConnection(context.db, app.keys, service))
    return service && connection && { context, service, connection }
  }

  server.post<{ Params: { service: string; connection: string } }>(
    '/ecommerce/events/:service/:connection',
    async (request, reply) => {
      const { params, headers } = request
      const isKnown = (await listServices()).has(params.service) && params.connection === mainConnection
      const receiver = isKnown ? await receivers.get(params.service) : undefined
      const { driver, url, secrets } = receiver?.connection ?? noConnection
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const event = eventReaders[driver]({ body, headers, url, secrets })
      if (!receiver || event === 'forged')
        throw new ApiError('invalid_credentials', "The request isn't signed with the secret of a connection.")
      const { context, service } = receiver
      if (event !== 'ignored') await receive(context, service, event)
      return reply.code(200).send()
    },
  )
}

/**
 * Stores an event, and then adds the job that reads its record. All events share one job, so its row is not touched if a run that begins after
 * the commit will read the event: otherwise, they would wait for each other. If the process dies between both transactions, the platform sends
 * the event again.
 */
async function receive(context: AppContext, service: Service, event: PlatformEvent): Promise<void> {
  const dueAt = await transact(context, service, tx => store(tx, service, event), { isResumable: true })
  if (dueAt === undefined) return
  const [name, subject] = event.target === 'stock' ? [checkLevelsJob, ''] : [syncJob, event.target]
  if (await willRun(context.db, service.id, name, { subject, dueAt })) return
  await transact(context, service, tx => addJob(tx, service.id, name, { subject, dueAt }), { isResumable: true })
}

/**
 * Stores an event. Returns when its job is due, or undefined if none is needed. Throws if the connection was removed or has moved to another
 * shard since it was cached: the platform then sends the event again.
 */
async function store(tx: Db, service: Service, event: PlatformEvent): Promise<string | undefined> {
  if (!(await hasConnection(tx, service)))
    throw new ApiError('service_unavailable', 'The connection has just changed.', { retryAfter: 3 })
  const { subjectId: itemId, level } = event
  if (
    level &&
    level.available !== null &&
    (await isExpectedLevel(tx, service, { ...level, itemId, available: level.available }))
  )
    return
  return storeEvent(tx, service, event)
}
