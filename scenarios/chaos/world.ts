import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { demoSettings, fillDemoShop, makeDemoShop } from '../../seed/shop.ts'
import { keysFrom } from '../../src/crypto/keys.ts'
import { type Database, openDatabase } from '../../src/database/db.ts'
import { migrate } from '../../src/database/migrate.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import { type Postgres, startPostgres } from '../../src/postgres/postgres.ts'
import { addAccount } from '../../src/store/accounts/accounts.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import { type BackOfficeName, doomOf } from '../support/borders.ts'
import { endTimeOf, noteLives } from '../support/dead.ts'
import { type Kept, keep } from '../support/processes.ts'
import type { Random } from '../support/random.ts'
import { openMailbox } from './mailbox.ts'
import { openBehind, type Upstream, upstreamSettings } from './upstream.ts'

/** Everything that runs: PostgreSQL, two API processes, two workers, and somebody's mail server. */
export interface World {
  directory: string
  postgres: Postgres
  db: Database
  service: Service
  headers: Record<string, string>
  apis: Kept[]
  workers: Kept[]
  /** The back office, where it is none of our own. */
  upstream: Upstream | undefined
  mails: Awaited<ReturnType<typeof openMailbox>>['mails']
  /** What the processes have logged as errors, but for what a kill explains. */
  log: string[]
  close(): Promise<void>
}

export async function openWorld(
  backOffice: BackOfficeName,
  random: Random,
  say: (line: string) => void,
): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-chaos-'))
  chmodSync(directory, 0o711)
  // As durable as in production: fsync stays on.
  const postgres = await startPostgres(join(directory, 'postgres'), { restartWaitsMs: Array(10_000).fill(0) })
  const { host, port, user, database } = postgres.connection
  const databaseUrl = `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`
  const db = openDatabase(postgres.connection, { max: 4, statementTimeoutMs: 60_000, onFault: () => {} })
  await migrate(db)
  await noteLives(db)

  const secret = randomBytes(32).toString('hex')
  const keys = keysFrom(secret)
  const service = await addService(db, 'chaos', {
    ...(backOffice === 'embedded' ? demoSettings : upstreamSettings),
    readsPerMinute: 'off',
    writesPerMinute: 'off',
  })
  if (!service) throw new Error('the service is new')
  const password = await addAccount(db, keys, 'shopper', service, 'admin')
  say('Filling the shop …')
  const upstream = backOffice === 'apparel21' ? await openBehind(db, keys, service) : undefined
  // Nobody asks for sales of before, and they are half of what filling it takes.
  if (!upstream) await fillDemoShop(db, keys, service, undefined, { ...makeDemoShop(), transactions: [] })

  const mailbox = await openMailbox(() => random.chance(0.1))
  const log: string[] = []
  const environment = {
    SECRET_KEY: secret,
    SMTP_URL: mailbox.url,
    RUN_JOBS: 'false',
    DATABASE_POOL: '6',
  }
  const onLog = (line: string) => void (/"level":(50|60)/.test(line) && log.push(line))
  const onDeath = (life: string) => void endTimeOf(db, life).catch(() => {})
  const keeping = { directory, environment, databaseUrl, onLog, onDeath }
  const several = (role: 'api' | 'worker', args: string[]) =>
    Promise.all(
      [1, 2].map(i => keep({ ...keeping, name: `${role}-${i}`, args, doom: doomOf(backOffice, role, random, 0.4) })),
    )
  say('Starting two API processes and two workers …')
  const [apis, workers] = await Promise.all([several('api', ['start', '--no-demo']), several('worker', ['worker'])])
  return {
    directory,
    postgres,
    db,
    service,
    headers: {
      authorization: `Basic ${Buffer.from(`shopper:${password}`).toString('base64')}`,
      'x-service-name': service.name,
    },
    apis,
    workers,
    upstream,
    mails: mailbox.mails,
    log,
    async close() {
      await Promise.all([...apis, ...workers].map(each => each.end()))
      await upstream?.stop()
      await mailbox.close()
      await db.close()
      await postgres.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
