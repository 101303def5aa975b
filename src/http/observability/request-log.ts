import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { hmac, type Keys } from '../../crypto/keys.ts'
import type { Db } from '../../database/db.ts'
import {
  addLine,
  type Block,
  isFull,
  keepBlocks,
  type Logged,
  newBlock,
  openDay,
} from '../../store/request-log/blocks.ts'
import { unlogged } from '../../telemetry/durations.ts'
import { instanceOf } from '../routing/operation.ts'

/** Milliseconds between two writings, unless there is enough sooner. */
const everyMs = 1_000
const enough = 2_000
/** Lines that wait for a database. */
const mostWaiting = 20_000
/** Characters of a path that are kept: what is longer than any of ours leads nowhere. */
const mostCharacters = 500

/** By what an Idempotency-Key is found in the log. */
export const loggedKey = (keys: Keys, serviceId: number, key: string) =>
  hmac(keys.subjects, 'logged key', String(serviceId), key).toString('hex')

/**
 * Logs each request that comes to a service, after its answer, in the service's database: the lines of a second are written by one statement. What a
 * database does not take is tried again as long as there is room; what there is no room for is counted, and no request ever waits for it.
 */
export function keepRequestLog(server: FastifyInstance, { db, keys, log }: { db: Db; keys: Keys; log: Logger }) {
  const logs = new Map<Db, ReturnType<typeof logIn>>()
  const logOf = (at: Db) => {
    const known = logs.get(at) ?? logIn(at, log)
    logs.set(at, known)
    return known
  }

  server.addHook('onResponse', (request, reply, done) => {
    const { assignment, gate } = request
    if (assignment && assignment.service.settings.requestLogRetentionDays > 0) {
      const { id } = assignment.service
      const own = logOf(gate?.db ?? db)
      if (own.hasRoom()) own.add(id, lineOf(request, reply, id, keys))
      else unlogged.requests++
    }
    done()
  })

  const timer = setInterval(() => {
    for (const each of logs.values()) each.write()
  }, everyMs).unref()

  server.addHook('onClose', async () => {
    clearInterval(timer)
    await Promise.all([...logs.values()].map(each => each.end()))
  })
}

/** The lines that wait for one database. */
function logIn(db: Db, log: Logger) {
  let waiting: Block[] = []
  let lines = 0
  /** The blocks to which lines are still added, by their services: all of one second. */
  let open = new Map<number, Block>()
  let second = 0
  let day = ''
  let isAway = false
  let writing: Promise<void> | undefined

  async function writeWaiting() {
    if (!waiting.length) return
    open = new Map()
    const blocks = [...waiting]
    try {
      for (const each of new Set(blocks.map(block => block.second.slice(0, 10))))
        if (each !== day) {
          await openDay(db, each)
          day = each
        }
      await keepBlocks(db, blocks)
      waiting = waiting.slice(blocks.length)
      lines -= blocks.reduce((sum, block) => sum + block.count, 0)
      isAway = false
    } catch (error) {
      // A partition that is gone is made again.
      day = ''
      if (!isAway) log.warn({ err: error, waiting: lines }, 'The log of requests waits for the database.')
      isAway = true
    }
  }

  const write = () => {
    writing ??= writeWaiting().finally(() => {
      writing = undefined
    })
  }

  function blockFor(serviceId: number, at: number) {
    const current = Math.floor(at / 1_000)
    if (current !== second) {
      second = current
      open = new Map()
    }
    const known = open.get(serviceId)
    if (known && !isFull(known)) return known
    const block = newBlock(serviceId, new Date(current * 1_000).toISOString())
    open.set(serviceId, block)
    waiting.push(block)
    return block
  }

  return {
    hasRoom: () => lines < mostWaiting,
    add(serviceId: number, line: Logged) {
      addLine(blockFor(serviceId, line.at), line)
      lines++
      if (lines >= enough && !isAway) write()
    },
    write,
    async end() {
      await writing
      isAway = false
      while (waiting.length && !isAway) await writeWaiting()
    },
  }
}

function lineOf(request: FastifyRequest, reply: FastifyReply, serviceId: number, keys: Keys): Logged {
  const { headers } = request
  const { statements = 0, databaseMs = 0, steps = [] } = request.around?.timeline ?? {}
  const path = instanceOf(request).slice(0, mostCharacters)
  const key = headers['idempotency-key']
  return {
    at: Date.now(),
    requestId: request.id,
    username: request.username ?? '',
    operation: `${request.method} ${request.routeOptions.url ?? 'none'}`,
    path,
    subject: String(reply.getHeader('location') ?? path).slice(0, mostCharacters),
    status: reply.statusCode,
    code: request.refusedWith,
    keyHash: key === undefined ? undefined : loggedKey(keys, serviceId, unquoted(String(key))),
    milliseconds: reply.elapsedTime,
    statements,
    databaseMs,
    steps,
  }
}

const unquoted = (key: string) => key.trim().replace(/^"(.*)"$/, '$1')
