import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { addAccount } from '../src/accounts.ts'
import { readConfig } from '../src/config.ts'
import { openDatabase, sql } from '../src/db.ts'
import type { Bench } from './bench.ts'
import type { Loaded } from './database.ts'
import { startService } from './processes.ts'
import { medianBy, percent, type Section, tenths, whole } from './report.ts'
import { contenders, type Kind, kindsFor } from './write-kinds.ts'
import { openShop, shoppers } from './write-shop.ts'
import { overHttps, overPool, type Way } from './write-ways.ts'

/** PostgreSQL plans a statement anew the first five times on each connection; a slow write needs a while for that. */
const warmMs = 2_000

interface Rate {
  perSecond: number
  /** Milliseconds. */
  p50: number
  p99: number
}

/** Every write over HTTPS, and beside it, in the same rounds, its transaction through the same pool without HTTP. */
export async function measureWrites(bench: Bench, loaded: Loaded): Promise<Section> {
  const name = `writes-${randomUUID()}`
  const service = await openShop(loaded, name)
  const password = await addAccount(loaded.db, loaded.keys, name, service, 'maintainer')
  const running = await startService(bench.directory, { DATABASE_URL: loaded.url })
  const pool = openDatabase(loaded.connection, { max: readConfig({}).databasePool })
  const alone = overPool(pool, loaded.keys, service)
  const served = overHttps(running, name, password ?? '', contenders)
  const rows: string[][] = []
  try {
    for (const kind of await kindsFor(pool, loaded.keys, service)) {
      bench.say(`  ${kind.name}`)
      const found: { served: Rate; alone: Rate }[] = []
      for (let round = 0; round < bench.rounds; round++)
        found.push({
          served: await load(kind, served.way, bench.seconds),
          alone: await load(kind, alone, bench.seconds),
        })
      const https = medianBy(found, rates => rates.served.perSecond).served
      const database = medianBy(found, rates => rates.alone.perSecond).alone
      rows.push([
        kind.name,
        String(kind.clients),
        ...[https, database].flatMap(({ perSecond, p50, p99 }) => [whole(perSecond), tenths(p50), tenths(p99)]),
        percent(https.perSecond / database.perSecond),
      ])
    }
  } finally {
    served.end()
    await running.stop()
    await pool.close()
    await loaded.db.run(sql`delete from service where service_id = ${service.id}`)
    await loaded.db.run(sql`delete from account where username = ${name}`)
  }
  return {
    title: 'Writes',
    about:
      'Clients on connections that stay open, each writing again as soon as it is answered, every write with an Idempotency-Key of its own. The database alone: the same transactions - key, ' +
      `effect, audit, stored answer - through a pool of the same size, without HTTP. The orders are of ${whole(shoppers)} members of a reward programme. Each client returns goods of orders of its own, one unit at a time; ` +
      `placing those is not timed, but shares the machine. The contended voucher is held anew by ${contenders} clients at once.`,
    tables: [
      {
        caption: 'Over HTTPS, and the database alone',
        head: [
          'write',
          'clients',
          'writes/s',
          'p50 ms',
          'p99 ms',
          'alone/s',
          'p50 ms',
          'p99 ms',
          'of the database alone',
        ],
        rows,
      },
    ],
    targets: [],
  }
}

async function load({ clients, prepare, write }: Kind, way: Way, seconds: number): Promise<Rate> {
  let times: number[] = []
  let on = true
  const all = Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      while (on) {
        await prepare?.(way, client)
        const from = performance.now()
        await write(way, client)
        times.push(performance.now() - from)
      }
    }),
  )
  // A client that is refused ends the measurement.
  const run = async (ms: number) => void (await Promise.race([all, delay(ms)]))
  try {
    await run(warmMs)
    times = []
    const from = performance.now()
    await run(seconds * 1_000)
    const perSecond = (times.length / (performance.now() - from)) * 1_000
    const sorted = Float64Array.from(times).sort()
    const quantile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
    return { perSecond, p50: quantile(0.5), p99: quantile(0.99) }
  } finally {
    on = false
    await all
  }
}
