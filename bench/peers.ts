import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import pg from 'pg'
import { type Medusa, signIn, startMedusa } from '../scenarios/medusa/medusa.ts'
import { customers } from '../scenarios/support/records.ts'
import { readMemory } from '../scenarios/support/usage.ts'
import { sql } from '../src/database/db.ts'
import { addAccount } from '../src/store/accounts/accounts.ts'
import { type Directus, startDirectus } from './peers/directus.ts'
import { type Bench, measureRequest } from './rig/bench.ts'
import type { LoadedDatabase } from './rig/database.ts'
import { startService } from './rig/processes.ts'
import { formatTenths, formatWhole, getMedian, type Section } from './rig/report.ts'
import { buildScenarios } from './rig/scenarios.ts'
import { createClient } from './writes/client.ts'
import { createKinds, type Kind } from './writes/kinds.ts'
import { openShop } from './writes/shop.ts'
import { measureWrite } from './writes/writes.ts'

const connections = 16
/** Minimum seconds of a write's measurement. */
const minWriteSeconds = 3
const reads = ['page of 100 customers', 'one customer', 'poll without changes'] as const
const newCustomer = 'new customer'
type Read = (typeof reads)[number]

/** A product under measurement. */
interface Product {
  name: string
  pid: number
  databasePid: number
  port: number
  /** Trusted for TLS; empty: plain HTTP. */
  ca: string
  requests: Record<Read, string>
  create(): Promise<unknown>
}

interface Stoppable {
  stop(): Promise<void>
}

/** Medians of one request of one product. */
interface Cost {
  /** Microseconds of CPU of the service and PostgreSQL. */
  cpu: number
  perSecond: number
}

/**
 * Measures four requests of Tillbridge, Medusa and Directus with the same customers on the same machine. Medusa and Directus are installed
 * from the npm registry once. Each has its own PostgreSQL with the same settings.
 */
export async function measurePeers(bench: Bench, loaded: LoadedDatabase): Promise<Section> {
  // Read before the measurements, which create customers.
  const sizes = await readSizes(loaded)
  const directory = join(bench.directory, 'peers')
  const running: Stoppable[] = []
  const track = <T extends Stoppable>(started: T): T => {
    running.push(started)
    return started
  }
  let result: Section
  try {
    const products = [
      track(await openTillbridge(bench, loaded)),
      await openMedusa(track(await startMedusa(directory, bench.say)), bench.say, loaded),
      await openDirectus(track(await startDirectus(directory, bench.say)), bench.say, loaded),
    ]
    result = buildSection(products, await measure(bench, products), sizes)
  } finally {
    for (const started of running) await started.stop()
  }
  // After an error, the directory with the logs stays.
  rmSync(directory, { recursive: true, force: true })
  return result
}

async function measure(bench: Bench, products: readonly Product[]): Promise<Map<string, Cost>> {
  const rounds = new Map<string, Cost[]>()
  const record = (product: Product, name: string, cost: Cost) => {
    const key = buildKey(product, name)
    rounds.set(key, [...(rounds.get(key) ?? []), cost])
  }
  // The first round is a warm-up: the code is compiled while it runs.
  for (let round = 0; round <= bench.rounds; round++) {
    bench.say(round ? `  round ${round} of ${bench.rounds}` : '  warm-up')
    if (round === 1) rounds.clear()
    for (const product of products) {
      const rig = { ...bench, postgresPid: product.databasePid }
      for (const read of reads) {
        const measured = await measureRequest(rig, product, { request: product.requests[read] }, { connections })
        const cpu = measured.cpu.service + measured.cpu.postgres
        record(product, read, { cpu, perSecond: measured.responsesPerSecond })
      }
      const kind: Kind<undefined> = { name: newCustomer, clients: connections, write: () => product.create() }
      const seconds = Math.max(bench.seconds, minWriteSeconds)
      const { cpu, perSecond } = await measureWrite(rig, product, kind, undefined, seconds)
      record(product, newCustomer, { cpu: (cpu.service + cpu.postgres) * 1_000, perSecond })
    }
  }
  return new Map(
    [...rounds].map(([key, costs]) => [
      key,
      { cpu: getMedian(costs.map(({ cpu }) => cpu)), perSecond: getMedian(costs.map(({ perSecond }) => perSecond)) },
    ]),
  )
}

const buildKey = ({ name }: Product, requestName: string) => `${name}: ${requestName}`

async function openTillbridge(bench: Bench, loaded: LoadedDatabase): Promise<Product & Stoppable> {
  const shop = `peers-${randomUUID()}`
  const service = await openShop(loaded, shop)
  const password = (await addAccount(loaded.db, loaded.keys, shop, service, 'maintainer')) ?? ''
  const running = await startService(bench.directory, { DATABASE_URL: loaded.url, RUN_JOBS: 'false' })
  const client = createClient(running, shop, password)
  const scenarios = await buildScenarios(loaded)
  const find = (name: string) => requireByName(scenarios, name).request
  const kind = requireByName(await createKinds(client), newCustomer)
  return {
    ...running,
    name: 'Tillbridge',
    databasePid: bench.postgresPid,
    requests: {
      'page of 100 customers': find('customers, first page'),
      'one customer': find('one customer'),
      'poll without changes': find('customers, poll without changes'),
    },
    create: () => kind.write(client, 0),
    async stop() {
      client.end()
      await running.stop()
      await loaded.db.run(sql`delete from service where service_id = ${service.id}`)
      await loaded.db.run(sql`delete from account where username = ${shop}`)
    },
  }
}

/** Returns the measurement with this name. Throws if it is missing. */
function requireByName<T extends { name: string }>(measurements: readonly T[], name: string): T {
  const measurement = measurements.find(candidate => candidate.name === name)
  if (!measurement) throw new Error(`the measurement "${name}" is missing`)
  return measurement
}

async function openMedusa(medusa: Medusa, say: Bench['say'], loaded: LoadedDatabase): Promise<Product> {
  say('  copying the customers to Medusa')
  await copyCustomers(
    medusa.databaseUrl,
    loaded,
    `insert into customer (id, first_name, last_name, email, phone, has_account, created_at, updated_at)
     select 'cus_' || id, first_name, surname, email, mobile, false, updated_at, updated_at`,
  )
  const port = Number(new URL(medusa.url).port)
  const authorization = `Bearer ${await signIn(medusa.url)}`
  const { id, newest } = pickMiddle(loaded)
  return {
    name: 'Medusa',
    ...medusa,
    ...openPeer(port, authorization, '/admin/customers', number => ({
      first_name: 'Ann',
      last_name: 'Lee',
      email: createEmail(number),
      phone: '+61 400 000 000',
    })),
    requests: {
      'page of 100 customers': buildGetRequest(authorization, '/admin/customers?limit=100'),
      'one customer': buildGetRequest(authorization, `/admin/customers/cus_${id}`),
      'poll without changes': buildGetRequest(authorization, `/admin/customers?limit=100&updated_at[$gt]=${newest}`),
    },
  }
}

async function openDirectus(directus: Directus, say: Bench['say'], loaded: LoadedDatabase): Promise<Product> {
  say('  copying the customers to Directus')
  const buildTextField = (field: string) => ({ field, type: 'string', schema: {} })
  await directus.send('/collections', {
    collection: 'customers',
    schema: {},
    meta: {},
    fields: [
      { field: 'id', type: 'uuid', schema: { is_primary_key: true }, meta: { special: ['uuid'] } },
      ...Object.keys(textFields).map(buildTextField),
      {
        field: 'updated_at',
        type: 'timestamp',
        schema: { is_indexed: true },
        meta: { special: ['date-created', 'date-updated'] },
      },
    ],
  })
  await copyCustomers(
    directus.databaseUrl,
    loaded,
    `insert into customers (id, ${Object.keys(textFields)}, updated_at)
     select ('00000000-0000-4000-8000-' || lpad(id, 12, '0'))::uuid, ${Object.keys(textFields)}, updated_at`,
  )
  const authorization = `Bearer ${directus.token}`
  const { id, newest } = pickMiddle(loaded)
  return {
    name: 'Directus',
    ...directus,
    ...openPeer(directus.port, authorization, '/items/customers', number => ({
      first_name: 'Ann',
      surname: 'Lee',
      email: createEmail(number),
      address_line1: '111 Collins St',
      city: 'Melbourne',
      postcode: '3000',
      country: 'Australia',
    })),
    requests: {
      'page of 100 customers': buildGetRequest(authorization, '/items/customers?limit=100'),
      'one customer': buildGetRequest(
        authorization,
        `/items/customers/00000000-0000-4000-8000-${id.padStart(12, '0')}`,
      ),
      'poll without changes': buildGetRequest(
        authorization,
        `/items/customers?limit=100&filter[updated_at][_gt]=${newest}`,
      ),
    },
  }
}

const createEmail = (number: number) => `ann.${number}.${randomUUID()}@example.com`

/** Returns the ID of a customer in the middle of the list, and a time after all changes. */
const pickMiddle = ({ size }: LoadedDatabase) => ({
  id: String(100_001 + Math.floor(size.customers / 2)),
  newest: new Date(Date.now() + 86_400_000).toISOString(),
})

const buildGetRequest = (authorization: string, path: string) =>
  `GET ${path.replaceAll('[', '%5B').replaceAll(']', '%5D')} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`

/** Connects to a peer over plain HTTP with persistent connections. */
function openPeer(port: number, authorization: string, path: string, toBody: (number: number) => object) {
  const agent = new Agent({ keepAlive: true })
  let count = 0
  const create = () =>
    new Promise<void>((resolve, reject) => {
      const body = JSON.stringify(toBody(count++))
      const headers = { authorization, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      const outgoing = request({ host: '127.0.0.1', port, agent, method: 'POST', path, headers }, response => {
        if (response.statusCode !== 200) reject(new Error(`POST ${path}: ${response.statusCode}`))
        response.resume().once('end', resolve)
      })
      outgoing.once('error', reject)
      outgoing.end(body)
    })
  return { port, ca: '', create }
}

const chunk = 5_000

/** Copies the customers of the bench into a peer's table. `insert` selects from their fields. */
async function copyCustomers(connectionString: string, { size, service }: LoadedDatabase, insert: string) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const rows = customers.rows(service.id, size.customers)[Symbol.iterator]()
    for (let done = 0; done < size.customers; done += chunk) {
      const records = Array.from({ length: Math.min(chunk, size.customers - done) }, () => toRecord(rows.next().value))
      await client.query(
        `${insert} from jsonb_to_recordset($1) as r (id text, ${Object.keys(textFields).map(name => `${name} text`)}, updated_at timestamptz)`,
        [JSON.stringify(records)],
      )
    }
    await client.query('analyze')
  } finally {
    await client.end()
  }
}

/** The copied text fields by name, each with its column in Tillbridge. */
const textFields = {
  first_name: 'firstname',
  surname: 'surname',
  email: 'email',
  mobile: 'phone_mobile',
  address_line1: 'address_line1',
  city: 'city',
  state: 'state',
  postcode: 'postcode',
  country: 'country',
}
const fields = { id: 'id', ...textFields, updated_at: 'changed_at' }

const toRecord = (row: readonly unknown[]) =>
  Object.fromEntries(Object.entries(fields).map(([field, column]) => [field, row[customers.columns.indexOf(column)]]))

/** Returns the gigabytes of a million records of each type, with their indexes. */
async function readSizes({ db, size }: LoadedDatabase): Promise<string[][]> {
  const sizes = await db.row<{ customer: string; sale: string }>(sql`
    select pg_total_relation_size('customer')::text as customer, pg_total_relation_size('retail_transaction')::text as sale`)
  const gigabytes = (bytes: string | undefined, records: number) => formatTenths(Number(bytes) / records / 1_000)
  return [
    ['customers', gigabytes(sizes?.customer, size.customers)],
    ['sales', gigabytes(sizes?.sale, size.transactions)],
  ]
}

function buildSection(products: readonly Product[], costs: ReadonlyMap<string, Cost>, sizes: string[][]): Section {
  const names = [...reads, newCustomer]
  const [tillbridge, ...peers] = products as [Product, ...Product[]]
  const getCost = (product: Product, name: string) =>
    costs.get(buildKey(product, name)) ?? { cpu: Number.NaN, perSecond: Number.NaN }
  const getRatio = (peer: Product, name: string) => getCost(peer, name).cpu / getCost(tillbridge, name).cpu
  const newCustomerRatio = getRatio(peers[0] as Product, newCustomer)
  return {
    title: 'Compared with Medusa and Directus',
    about: `${connections} connections that stay open, each sending the next request as soon as it has a response. CPU is that of the service and its PostgreSQL per request. All three run on the same machine with the same customers, each with a PostgreSQL of its own. A warm-up round isn't counted. Tillbridge serves TLS, authenticates by password, and stores a new customer with address, audit entry and idempotency key. The others serve plain HTTP and authenticate by a signed token. Medusa's customer has no address here. Directus runs on Node 22, because it can't be compiled for a newer one.`,
    tables: [
      {
        caption: 'CPU per request, in milliseconds',
        head: ['request', ...products.map(({ name }) => name), ...peers.map(({ name }) => `${name}, ratio`)],
        rows: names.map(name => [
          name,
          ...products.map(product => formatTenths(getCost(product, name).cpu / 1_000)),
          ...peers.map(peer => formatTenths(getRatio(peer, name))),
        ]),
      },
      {
        caption: 'Requests per second',
        head: ['request', ...products.map(({ name }) => name)],
        rows: names.map(name => [name, ...products.map(product => formatWhole(getCost(product, name).perSecond))]),
      },
      {
        caption: 'Sizing: requests per second that one core serves, PostgreSQL included',
        head: ['request', tillbridge.name],
        rows: names.map(name => [name, formatWhole(1_000_000 / getCost(tillbridge, name).cpu)]),
      },
      {
        caption: 'Memory of the service process in MB, after the load',
        head: ['', ...products.map(({ name }) => name)],
        rows: [['memory', ...products.map(({ pid }) => formatWhole(readMemory(pid).now))]],
      },
      { caption: 'Disk of a million records in GB, indexes included', head: ['records', tillbridge.name], rows: sizes },
    ],
    targets: [
      {
        label: 'a new customer',
        expected: 'at most an eighth of the CPU of Medusa',
        actual: `1 : ${formatTenths(newCustomerRatio)}`,
        met: newCustomerRatio >= 8,
      },
    ],
  }
}
