import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Db } from '../db.ts'
import { hmac, type Keys } from '../secrets.ts'
import { keepRequests, type Logged, openDay } from '../store/running/requests.ts'
import { unlogged } from '../telemetry/measured.ts'
import { rounded } from '../telemetry/timeline.ts'
import { instanceOf } from './operation.ts'

/** Milliseconds between two writings, unless there is enough sooner: what waits for long is copied again and again by the collector of garbage. */
const everyMs = 1_000
const enough = 500
/** Lines that wait for a database, and those that go out in one statement. */
const mostWaiting = 20_000
const mostAtOnce = 5_000
/** Characters of a path that are kept: what is longer than any of ours leads nowhere. */
const mostCharacters = 500

/** By what an Idempotency-Key is found in the log. */
export const loggedKey = (keys: Keys, serviceId: number, key: string) =>
  hmac(keys.subjects, 'logged key', String(serviceId), key)

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
    if (assignment && assignment.service.settings.requestsKeptDays > 0)
      logOf(gate?.db ?? db).add(() => lineOf(request, reply, assignment.service.id, keys))
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
  let waiting: Logged[] = []
  let day = ''
  let isAway = false
  let writing: Promise<void> | undefined

  async function writeSome() {
    if (!waiting.length) return
    const lines = waiting.slice(0, mostAtOnce)
    try {
      for (const each of new Set(lines.map(({ at }) => at.slice(0, 10))))
        if (each !== day) {
          await openDay(db, each)
          day = each
        }
      await keepRequests(db, lines)
      waiting = waiting.slice(lines.length)
      isAway = false
    } catch (error) {
      // A partition that is gone is made again.
      day = ''
      if (!isAway) log.warn({ err: error, waiting: waiting.length }, 'The log of requests waits for the database.')
      isAway = true
    }
  }

  const write = () => {
    writing ??= writeSome().finally(() => {
      writing = undefined
    })
  }

  return {
    add(line: () => Logged) {
      if (waiting.length >= mostWaiting) unlogged.requests++
      else waiting.push(line())
      if (waiting.length >= enough && !isAway) write()
    },
    write,
    async end() {
      await writing
      isAway = false
      while (waiting.length && !isAway) await writeSome()
    },
  }
}

const ownPrefix = randomBytes(6).toString('hex')
let lines = 0
const nextLine = () => `${ownPrefix}-${(++lines).toString(36).padStart(8, '0')}`

function lineOf(request: FastifyRequest, reply: FastifyReply, serviceId: number, keys: Keys): Logged {
  const { headers } = request
  const { statements = 0, databaseMs = 0, steps = [] } = request.around?.timeline ?? {}
  const path = instanceOf(request).slice(0, mostCharacters)
  const key = headers['idempotency-key']
  return {
    serviceId,
    at: new Date().toISOString(),
    lineId: nextLine(),
    requestId: request.id,
    username: request.username ?? '',
    operation: `${request.method} ${request.routeOptions.url ?? 'none'}`,
    path,
    subject: String(reply.getHeader('location') ?? path).slice(0, mostCharacters),
    status: reply.statusCode,
    code: request.refusedWith,
    keyHash: key === undefined ? undefined : loggedKey(keys, serviceId, unquoted(String(key))).toString('hex'),
    milliseconds: rounded(reply.elapsedTime),
    statements,
    databaseMs: rounded(databaseMs),
    steps: steps.length ? JSON.stringify(steps) : undefined,
  }
}

const unquoted = (key: string) => key.trim().replace(/^"(.*)"$/, '$1')
