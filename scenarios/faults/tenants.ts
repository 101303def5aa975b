import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { randomFor } from '../../seed/random.ts'
import { sql } from '../../src/database/db.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import { addAccount } from '../../src/store/accounts/accounts.ts'
import { upsertStores } from '../../src/store/catalog/stores.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import { check } from '../support/expectations/check.ts'
import { openInstallation } from '../support/installation.ts'
import { type Credentials, fetchFromAny, type RawRequest, sendRaw, toApiKey } from '../support/operations/client.ts'
import { parseInteger } from '../support/options.ts'
import { report } from '../support/report.ts'

const { requests, tenants, clients, seed, keep } = new Command('npm run scenario -- tenants')
  .description(
    'Tenants whose records have the same names read and write at one process with few connections. Other clients send invalid requests and hang up.\nStatements are cancelled, connections ended and rows locked. Checks that every response and every row contains only its own tenant.',
  )
  .option('--requests <number>', 'number of requests', parseInteger, 100_000)
  .option('--tenants <number>', 'number of tenants', parseInteger, 20)
  .option('--clients <number>', 'number of simultaneous requests', parseInteger, 60)
  .option('--seed <number>', 'chooses requests and tenants', parseInteger, 1)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run scenario -- tenants\n  npm run scenario -- tenants --requests 2000 --tenants 5\n',
  )
  .parse()
  .opts<{ requests: number; tenants: number; clients: number; seed: number; keep?: boolean }>()

const records = 10
/** A string in every record of a tenant, and in no other record. */
const toCanary = (tenant: number) => `canary-${tenant}-x`
const canaries = /canary-\d+-x/g

const installation = await openInstallation({ environment: { DATABASE_POOL: '3' } })
const { db, keys, apis, log } = installation
const random = randomFor(`tenants ${seed}`)
// Some requests are invalid, and the text of every response is searched, so this scenario doesn't use the client.
const send = fetchFromAny(apis, random)

interface Tenant {
  number: number
  service: Service
  credentials: Credentials
  /** Email addresses of the customers that were acknowledged. */
  created: string[]
}

async function createTenant(number: number): Promise<Tenant> {
  const username = `tenant-${number}`
  const service = await addService(db, username, { readsPerMinute: 'off', writesPerMinute: 'off' })
  if (!service) throw new Error(`service ${username} exists already`)
  const password = await addAccount(db, keys, username, service, 'maintainer')
  if (!password) throw new Error(`account ${username} exists already`)
  const name = toCanary(number)
  const ids = Array.from({ length: records }, (_, i) => String(i))
  await upsertStores(
    db,
    service,
    ids.map(id => ({ storeId: id, storeNumber: id, name })),
  )
  const customers = ids.map(id => ({ id, firstname: name, surname: name, email: `${id}@example.com` }))
  await upsertCustomers(db, service, customers)
  return { number, service, credentials: { apiKey: toApiKey(username, password), service: username }, created: [] }
}

const allTenants: Tenant[] = []
const statuses = new Map<number, number>()
const foreignResponses: string[] = []
const serverErrors: string[] = []
let sentCount = 0
let withoutResponse = 0

/** Picks the next request. IDs and keys are the same for every tenant. */
function pickRequest({ number }: Tenant, i: number): RawRequest {
  const id = random.integer(0, records + 1)
  const draw = random.fraction()
  if (draw < 0.15) {
    const contact = { email: `new-${i}@example.com` }
    const body = { firstname: toCanary(number), surname: toCanary(number), contact }
    // Idempotency keys are the same too, but belong to the tenant.
    return { method: 'POST', path: '/customers', key: `key-${i}`, body }
  }
  if (draw < 0.25) return { method: 'PUT', path: `/customers/${id}`, body: { title: toCanary(number) } }
  if (draw < 0.3) return { method: 'PUT', path: `/customers/${id}`, body: { unknownField: toCanary(number) } }
  const paths = [
    '/stores',
    `/stores/${id}`,
    `/customers/${id}`,
    '/customers/search?limit=5',
    `/customers?email=${id}@example.com`,
  ]
  return { method: 'GET', path: random.pick([...paths, '/changes?limit=5', '/stores?limit=0', '/nowhere']) }
}

async function runClient() {
  while (sentCount < requests) {
    const tenant = random.pick(allTenants)
    const i = sentCount++
    const request = pickRequest(tenant, i)
    // Some clients hang up after 2 ms.
    const timeoutMs = random.chance(0.02) ? 2 : 60_000
    const response = await sendRaw(send, tenant.credentials, request, timeoutMs).catch(() => undefined)
    if (!response) {
      withoutResponse++
      continue
    }
    const { status, text } = response
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (text.match(canaries)?.some(canary => canary !== toCanary(tenant.number)))
      foreignResponses.push(`${request.method} ${request.path} of tenant ${tenant.number}: ${text.slice(0, 200)}`)
    if (status >= 500 && status !== 503 && status !== 504) serverErrors.push(`${status} ${request.path}`)
    if (status === 201 && request.method === 'POST') tenant.created.push(`new-${i}@example.com`)
  }
}

/** Cancels statements, ends connections, and locks rows until all requests were sent. */
async function disturb() {
  const sessions = sql`pg_stat_activity where application_name like 'api-%' and state <> 'idle'`
  let cancelled = 0
  let ended = 0
  while (sentCount < requests) {
    cancelled += await db.run(sql`select pg_cancel_backend(pid) from ${sessions} order by random() limit 1`)
    await delay(100)
    if (random.chance(0.3))
      ended += await db.run(sql`select pg_terminate_backend(pid) from ${sessions} order by random() limit 1`)
    if (random.chance(0.1))
      await db.transaction(async tx => {
        await tx.run(sql`select from customer where service_id = ${random.pick(allTenants).service.id} for update`)
        await delay(300)
      })
  }
  return { cancelled, ended }
}

try {
  for (let i = 0; i < tenants; i++) allTenants.push(await createTenant(i))
  const startedAt = performance.now()
  const disturbing = disturb()
  await Promise.all(Array.from({ length: clients }, runClient))
  const { cancelled, ended } = await disturbing
  const seconds = (performance.now() - startedAt) / 1_000
  const foreignRows: string[] = []
  const lost: string[] = []
  for (const { number, service, created } of allTenants) {
    const rows = await db.rows<{ email: string; record: string }>(
      sql`select email, record from customer where service_id = ${service.id}`,
    )
    const leaking = rows.filter(({ record }) => record.match(canaries)?.some(canary => canary !== toCanary(number)))
    foreignRows.push(...leaking.map(({ email }) => `${number}: ${email}`))
    const stored = new Set(rows.map(({ email }) => email))
    lost.push(...created.filter(email => !stored.has(email)).map(email => `${number}: ${email}`))
  }
  const created = allTenants.reduce((sum, tenant) => sum + tenant.created.length, 0)
  report('tenants', {
    keep,
    measurements: [
      ['tenants, clients, requests', `${tenants}, ${clients}, ${sentCount}`],
      ['seconds', seconds.toFixed(0)],
      ...[...statuses].sort().map(([status, count]) => [`responses, ${status}`, count] as const),
      ['requests without a response', withoutResponse],
      ['statements cancelled, connections ended', `${cancelled}, ${ended}`],
    ],
    checks: [
      check('every response contains only its own tenant', foreignResponses, sentCount),
      check('every row contains only its own tenant', foreignRows, tenants * records),
      check('every acknowledged customer is stored for its tenant', lost, created),
      check('no response is a server error except 503 and 504', serverErrors, sentCount),
      check('no unexpected error was logged', log.filter(line => /internal_error|unhandled/i.test(line)).slice(0, 3)),
    ],
  })
} finally {
  await installation.close()
}
