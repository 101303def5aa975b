import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { singleFlight } from '../../concurrency/single-flight.ts'
import { computeHmac, type Keys } from '../../crypto/keys.ts'
import type { Db } from '../../database/db.ts'
import {
  addEntry,
  type Block,
  createBlock,
  createDayPartition,
  isFull,
  type LogEntry,
  storeBlocks,
} from '../../store/request-log/blocks.ts'
import { droppedLogs } from '../../telemetry/durations.ts'
import { getRequestPath } from '../routing/operation.ts'

/** Milliseconds between two writes, unless `flushThreshold` is reached earlier. */
const writeIntervalMs = 1_000
/** Pending entries of a shard that are written at once. */
const flushThreshold = 2_000
/** Entries that can wait for a shard. Further entries are dropped and counted. */
const maxPendingEntries = 20_000
/** Stored characters of a path. Longer paths match no route. */
const maxPathLength = 500

/** Returns the hash by which the log finds an idempotency key. */
export const hashLoggedKey = (keys: Keys, serviceId: number, key: string) =>
  computeHmac(keys.subjects, 'logged key', String(serviceId), key).toString('hex')

/**
 * Logs each request of a service after its response, in the shard of the service. One statement writes the entries of a second. If a write
 * fails, it is retried while there is room. Dropped entries are counted (`tillbridge_requests_unlogged_total`). No request waits for the log.
 */
export function writeRequestLog(server: FastifyInstance, { db, keys, log }: { db: Db; keys: Keys; log: Logger }) {
  const logs = new Map<Db, ReturnType<typeof createShardLog>>()
  const getLog = (shard: Db) => {
    const shardLog = logs.get(shard) ?? createShardLog(shard, log)
    logs.set(shard, shardLog)
    return shardLog
  }

  server.addHook('onResponse', (request, reply, done) => {
    const { assignment, appContext } = request
    if (assignment && assignment.service.settings.requestLogRetentionDays > 0) {
      const { id } = assignment.service
      const shardLog = getLog(appContext?.db ?? db)
      if (shardLog.hasRoom()) shardLog.add(id, toLogEntry(request, reply, id, keys))
      else droppedLogs.requests++
    }
    done()
  })

  const timer = setInterval(() => {
    for (const shardLog of logs.values()) void shardLog.write()
  }, writeIntervalMs).unref()

  server.addHook('onClose', async () => {
    clearInterval(timer)
    await Promise.all([...logs.values()].map(shardLog => shardLog.end()))
  })
}

/** Returns the log of a shard: the pending entries, and the functions that write them. */
function createShardLog(db: Db, log: Logger) {
  let pending: Block[] = []
  let pendingCount = 0
  /** The blocks that accept entries, by service ID. A block has the entries of one service in one second. */
  let open = new Map<number, Block>()
  let second = 0
  /** The last day that has a partition. */
  let openedDay = ''
  let isUnavailable = false
  const share = singleFlight()

  async function writePending() {
    if (!pending.length) return
    open = new Map()
    const blocks = [...pending]
    try {
      for (const day of new Set(blocks.map(block => block.second.slice(0, 10))))
        if (day !== openedDay) {
          await createDayPartition(db, day)
          openedDay = day
        }
      await storeBlocks(db, blocks)
      pending = pending.slice(blocks.length)
      pendingCount -= blocks.reduce((sum, block) => sum + block.count, 0)
      isUnavailable = false
    } catch (error) {
      // The partition may be missing: create it again at the next attempt.
      openedDay = ''
      if (!isUnavailable) log.warn({ err: error, waiting: pendingCount }, 'writing the request log failed, will retry')
      isUnavailable = true
    }
  }

  const write = () => share('write', writePending)

  function getOpenBlock(serviceId: number, at: number) {
    const current = Math.floor(at / 1_000)
    if (current !== second) {
      second = current
      open = new Map()
    }
    const existing = open.get(serviceId)
    if (existing && !isFull(existing)) return existing
    const block = createBlock(serviceId, new Date(current * 1_000).toISOString())
    open.set(serviceId, block)
    pending.push(block)
    return block
  }

  return {
    hasRoom: () => pendingCount < maxPendingEntries,
    add(serviceId: number, entry: LogEntry) {
      addEntry(getOpenBlock(serviceId, entry.at), entry)
      pendingCount++
      if (pendingCount >= flushThreshold && !isUnavailable) void write()
    },
    write,
    /** Writes the pending entries. Stops at the first error. */
    async end() {
      await write()
      isUnavailable = false
      while (pending.length && !isUnavailable) await writePending()
    },
  }
}

function toLogEntry(request: FastifyRequest, reply: FastifyReply, serviceId: number, keys: Keys): LogEntry {
  const { headers } = request
  const { statements = 0, databaseMs = 0, steps = [] } = request.executionContext?.timeline ?? {}
  const path = getRequestPath(request).slice(0, maxPathLength)
  const key = headers['idempotency-key']
  return {
    at: Date.now(),
    requestId: request.id,
    username: request.username ?? '',
    operation: `${request.method} ${request.routeOptions.url ?? 'none'}`,
    path,
    subject: String(reply.getHeader('location') ?? getRecordPath(path, request.routeOptions.url)).slice(
      0,
      maxPathLength,
    ),
    status: reply.statusCode,
    code: request.errorCode,
    keyHash: key === undefined ? undefined : hashLoggedKey(keys, serviceId, unquote(String(key))),
    milliseconds: reply.elapsedTime,
    statements,
    databaseMs,
    steps,
    // Programs send their credentials, the console has a session.
    isConsole: headers.authorization === undefined,
    fields: request.errorFields ?? [],
  }
}

/**
 * Returns the path up to the last parameter of its route, so that `/vouchers/9100001/lock` is a request for the record `/vouchers/9100001`.
 * Returns the whole path if the route has no parameter.
 */
function getRecordPath(path: string, route = ''): string {
  const last = route.split('/').findLastIndex(part => part.startsWith(':'))
  return last < 0 ? path : path.split('/', last + 1).join('/')
}

const unquote = (key: string) => key.trim().replace(/^"(.*)"$/, '$1')
