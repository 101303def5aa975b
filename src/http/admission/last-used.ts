import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { ttlMap } from '../../concurrency/ttl-cache.ts'
import type { Db } from '../../database/db.ts'
import { type AccountUse, recordUses } from '../../store/accounts/last-used.ts'

/** Milliseconds between two writes of this process. */
const writeIntervalMs = 2_000
/** Milliseconds between two writes about one account or API key. */
const accountIntervalMs = 60_000

/** Stores when each account and API key was last used, to the minute. Most requests cost only a look-up in memory. */
export function trackAccountUse(server: FastifyInstance, { db, log }: { db: Db; log: Logger }) {
  const written = ttlMap<true>({ ttlMs: accountIntervalMs })
  const pending = new Map<string, AccountUse>()
  let isUnavailable = false
  let writing = Promise.resolve()

  server.addHook('onResponse', ({ assignment, username }, _, done) => {
    if (assignment && username !== undefined)
      recordUse({ serviceId: assignment.service.id, username, apiKey: assignment.apiKey?.name })
    done()
  })

  function recordUse(use: AccountUse) {
    const key = JSON.stringify(use)
    if (written.get(key)) return
    written.set(key, true)
    pending.set(key, use)
  }

  async function write() {
    const uses = [...pending]
    if (!uses.length) return
    pending.clear()
    try {
      await recordUses(
        db,
        uses.map(([, use]) => use),
      )
      isUnavailable = false
    } catch (error) {
      // The next request of each account tries again.
      for (const [key] of uses) written.delete(key)
      if (!isUnavailable) log.warn({ err: error }, 'last use of accounts not stored, will retry')
      isUnavailable = true
    }
  }
  const timer = setInterval(() => {
    writing = writing.then(write)
  }, writeIntervalMs).unref()

  server.addHook('onClose', async () => {
    clearInterval(timer)
    await writing
    if (!isUnavailable) await write()
  })
}
