import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { sql } from '../../src/database/db.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import { addAccount } from '../../src/store/accounts/accounts.ts'
import { upsertStores } from '../../src/store/catalog/stores.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import { type Asked, askOnce } from '../support/asking.ts'
import { seeded } from '../support/random.ts'
import { waysTo } from '../support/reaching.ts'
import { verdict } from '../support/verdict.ts'
import { openInstallation } from './installation.ts'
import { whole } from './options.ts'
import { tell } from './telling.ts'

const { requests, tenants, clients, seed, keep } = new Command('npm run trial -- tenants')
  .description(
    'Tenants whose records go by the same names read and write at one process with few connections, among requests that are refused and clients that\nleave, while statements are cancelled, connections ended and rows locked. Judges that every answer, and every row, is of its own tenant.',
  )
  .option('--requests <number>', 'how many requests', whole, 100_000)
  .option('--tenants <number>', 'how many tenants', whole, 20)
  .option('--clients <number>', 'how many ask at a time', whole, 60)
  .option('--seed <number>', 'what chooses who asks for what', whole, 1)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run trial -- tenants\n  npm run trial -- tenants --requests 2000 --tenants 5\n',
  )
  .parse()
  .opts<{ requests: number; tenants: number; clients: number; seed: number; keep?: boolean }>()

const records = 10
/** What stands in every record of a tenant, and nowhere else. */
const canaryOf = (tenant: number) => `canary-${tenant}-x`
const canaries = /canary-\d+-x/g

const installation = await openInstallation({ environment: { DATABASE_POOL: '3' } })
const { db, keys, apis, log } = installation
const random = seeded(seed)

interface Tenant {
  number: number
  service: Service
  ways: ReturnType<typeof waysTo>
  /** Customers that were acknowledged, by their e-mail addresses. */
  created: string[]
}

async function open(number: number): Promise<Tenant> {
  const service = await addService(db, `tenant-${number}`, { readsPerMinute: 'off', writesPerMinute: 'off' })
  if (!service) throw new Error('the service is new')
  const password = await addAccount(db, keys, `tenant-${number}`, service, 'maintainer')
  const name = canaryOf(number)
  const numbered = Array.from({ length: records }, (_, i) => String(i))
  await upsertStores(
    db,
    service,
    numbered.map(id => ({ storeId: id, storeNumber: id, name })),
  )
  const customers = numbered.map(id => ({ id, firstname: name, surname: name, email: `${id}@example.com` }))
  await upsertCustomers(db, service, customers)
  const authorization = `Basic ${Buffer.from(`tenant-${number}:${password}`).toString('base64')}`
  return { number, service, ways: waysTo(apis, { authorization, 'x-service-name': service.name }, random), created: [] }
}

const all: Tenant[] = []
const answered = new Map<number, number>()
const foreign: string[] = []
const odd: string[] = []
let asked = 0
let cut = 0

/** What is asked for next. Names are the same in every tenant. */
function next({ number }: Tenant, i: number): Asked {
  const id = random.whole(0, records + 1)
  const kind = random.fraction()
  if (kind < 0.15) {
    const contact = { email: `new-${i}@example.com` }
    const body = { firstname: canaryOf(number), surname: canaryOf(number), contact }
    // Every tenant has the same keys: they are nobody else's all the same.
    return { method: 'POST', path: '/customers', key: `key-${i}`, body }
  }
  if (kind < 0.25) return { method: 'PUT', path: `/customers/${id}`, body: { title: canaryOf(number) } }
  if (kind < 0.3) return { method: 'PUT', path: `/customers/${id}`, body: { nobody: canaryOf(number) } }
  const paths = [
    '/stores',
    `/stores/${id}`,
    `/customers/${id}`,
    '/customers/search?limit=5',
    `/customers?email=${id}@example.com`,
  ]
  return { method: 'GET', path: random.pick([...paths, '/changes?limit=5', '/stores?limit=0', '/nowhere']) }
}

async function client() {
  while (asked < requests) {
    const tenant = random.pick(all)
    const i = asked++
    const way = tenant.ways.any()
    if (!way) throw new Error('the process has ended')
    const what = next(tenant, i)
    // Some do not wait for what they asked for.
    const answer = await askOnce<{ id: string }>(what, way, random.chance(0.02) ? 2 : 60_000).catch(() => undefined)
    if (!answer) cut++
    if (!answer) continue
    const { status, text } = answer
    answered.set(status, (answered.get(status) ?? 0) + 1)
    if (text.match(canaries)?.some(found => found !== canaryOf(tenant.number)))
      foreign.push(`${what.method} ${what.path} of tenant ${tenant.number}: ${text.slice(0, 200)}`)
    if (status === 500 || (status >= 501 && status !== 503 && status !== 504)) odd.push(`${status} ${what.path}`)
    if (status === 201 && what.method === 'POST') tenant.created.push(`new-${i}@example.com`)
  }
}

/** Cancels statements, ends connections, and has rows locked for a while, as long as anybody asks. */
async function disturb() {
  const ours = sql`pg_stat_activity where application_name like 'api-%' and state <> 'idle'`
  let cancelled = 0
  let ended = 0
  while (asked < requests) {
    cancelled += await db.run(sql`select pg_cancel_backend(pid) from ${ours} order by random() limit 1`)
    await delay(100)
    if (random.chance(0.3))
      ended += await db.run(sql`select pg_terminate_backend(pid) from ${ours} order by random() limit 1`)
    if (random.chance(0.1))
      await db.transaction(async tx => {
        await tx.run(sql`select from customer where service_id = ${random.pick(all).service.id} for update`)
        await delay(300)
      })
  }
  return { cancelled, ended }
}

try {
  for (let i = 0; i < tenants; i++) all.push(await open(i))
  const begun = performance.now()
  const disturbing = disturb()
  await Promise.all(Array.from({ length: clients }, client))
  const { cancelled, ended } = await disturbing
  const seconds = (performance.now() - begun) / 1_000
  const strangers: string[] = []
  const lost: string[] = []
  for (const { number, service, created } of all) {
    const rows = await db.rows<{ email: string; record: string }>(
      sql`select email, record from customer where service_id = ${service.id}`,
    )
    const others = rows.filter(({ record }) => record.match(canaries)?.some(found => found !== canaryOf(number)))
    strangers.push(...others.map(({ email }) => `${number}: ${email}`))
    const there = new Set(rows.map(({ email }) => email))
    lost.push(...created.filter(email => !there.has(email)).map(email => `${number}: ${email}`))
  }
  const created = all.reduce((sum, tenant) => sum + tenant.created.length, 0)
  tell('tenants', {
    keep: keep === true,
    figures: [
      ['tenants, clients, requests', `${tenants}, ${clients}, ${asked}`],
      ['seconds', seconds.toFixed(0)],
      ...[...answered].sort().map(([status, count]) => [`answers, ${status}`, count] as const),
      ['clients that left before their answer', cut],
      ['statements cancelled, connections ended', `${cancelled}, ${ended}`],
    ],
    verdicts: [
      verdict('every answer has what is of its own tenant only', foreign, asked),
      verdict('every row has what is of its own tenant only', strangers, tenants * records),
      verdict('what was acknowledged is there, at its own tenant', lost, created),
      verdict('no answer is a fault but 503 and 504', odd, asked),
      verdict('nothing unexpected was logged', log.filter(line => /internal_error|unhandled/i.test(line)).slice(0, 3)),
    ],
  })
} finally {
  for (const { ways } of all) ways.close()
  await installation.close()
}
