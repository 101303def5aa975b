import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { ttlMap } from '../../concurrency/ttl-cache.ts'
import type { Db } from '../../database/db.ts'
import { noteUses, type Use } from '../../store/accounts/last-used.ts'

/** Milliseconds between two looks at who has asked something, and between two writings about one account. */
const everyMs = 2_000
const quietMs = 60_000

/** Keeps when each account was last used, to the minute: a request costs a look at what this process has written of the account. */
export function keepAccountUses(server: FastifyInstance, { db, log }: { db: Db; log: Logger }) {
  const written = ttlMap<true>({ ttlMs: quietMs })
  const waiting = new Map<string, Use>()
  let isAway = false
  let writing = Promise.resolve()

  server.addHook('onResponse', ({ assignment, username }, _, done) => {
    if (assignment && username !== undefined) note({ serviceId: assignment.service.id, username })
    done()
  })

  function note(use: Use) {
    const key = `${use.serviceId} ${use.username}`
    if (written.get(key)) return
    written.set(key, true)
    waiting.set(key, use)
  }

  async function write() {
    const uses = [...waiting]
    if (!uses.length) return
    waiting.clear()
    try {
      await noteUses(
        db,
        uses.map(([, use]) => use),
      )
      isAway = false
    } catch (error) {
      // The next request of each has it written.
      for (const [key] of uses) written.delete(key)
      if (!isAway) log.warn({ err: error }, 'account last-use times not stored')
      isAway = true
    }
  }
  const timer = setInterval(() => {
    writing = writing.then(write)
  }, everyMs).unref()

  server.addHook('onClose', async () => {
    clearInterval(timer)
    await writing
    if (!isAway) await write()
  })
}
