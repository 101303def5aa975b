import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { addAccount, addService } from '../src/accounts.ts'
import { embedded } from '../src/backoffice/embedded.ts'
import { readConfig } from '../src/config.ts'
import { type Database, openDatabase, sql } from '../src/db.ts'
import type { CustomerInput } from '../src/domain/customer-input.ts'
import type { OrderInput } from '../src/domain/orders.ts'
import type { ReturnInput } from '../src/domain/returns.ts'
import type { VoucherInput } from '../src/domain/vouchers.ts'
import type { Write } from '../src/domain/write.ts'
import { ApiError } from '../src/errors.ts'
import type { Keys } from '../src/secrets.ts'
import type { Service } from '../src/settings.ts'
import { record } from '../src/store/audit.ts'
import { upsertCustomers } from '../src/store/customers.ts'
import { upsertGateways } from '../src/store/gateways.ts'
import { once } from '../src/store/idempotency.ts'
import { upsertProducts } from '../src/store/products.ts'
import { upsertPrograms, upsertRewardAccounts } from '../src/store/rewards.ts'
import { upsertStock } from '../src/store/stock.ts'
import { upsertStores } from '../src/store/stores.ts'
import { insertVouchers } from '../src/store/vouchers.ts'
import type { Bench } from './bench.ts'
import type { Loaded } from './database.ts'
import { productRows, stockRows, stores } from './records.ts'
import { medianBy, percent, type Section, tenths, whole } from './report.ts'
import { type Running, startService } from './service.ts'

const clients = 32
const contenders = 200
const shoppers = 1_000
const pin = '381940'
/** PostgreSQL plans a statement anew the first five times on each connection; a slow write needs a while for that. */
const warmMs = 2_000
const pinned = { number: 'contended', pin }

/** Each write, by whatever way; the JSON text of what was written. */
interface Way {
  createCustomer(body: CustomerInput): Promise<string>
  lockVoucher(number: string, body: { validationId: string; lockSeconds: number }): Promise<string>
  issueVoucher(body: VoucherInput): Promise<string>
  placeOrder(body: OrderInput): Promise<string>
  createReturn(orderId: string, body: ReturnInput): Promise<string>
}

/** One kind of write, done by clients that each begin again as soon as they are done. */
interface Kind {
  name: string
  clients: number
  /** What a client needs first; it is not timed. */
  prepare?(way: Way, client: number): Promise<void>
  write(way: Way, client: number): Promise<unknown>
}

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
  const served = overHttps(running, name, password ?? '')
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

const address = { addressLine1: '111 Collins St', city: 'Melbourne', postcode: '3000', country: 'Australia' }

async function kindsFor(db: Database, keys: Keys, service: Service): Promise<Kind[]> {
  let counter = 0
  const skuOf = (number: number) => productRows[number % productRows.length]?.variant.sku ?? ''
  const orderOf = (sku: string, quantity: number): OrderInput => ({
    customerId: String(++counter % shoppers),
    billingAddress: address,
    deliveryAddress: address,
    lines: [{ sku, quantity }],
    payments: [{ gateway: 'paypal', amount: `${52 * quantity}.00` }],
  })
  const numbers = Array.from({ length: clients }, (_, client) => `own-${client}`)
  const held = new Map<string, string>()
  for (const number of [...numbers, pinned.number]) held.set(number, await validate(db, keys, service, number))
  const lock = (way: Way, number = pinned.number) =>
    way.lockVoucher(number, { validationId: held.get(number) ?? '', lockSeconds: 3_600 })
  const bought: { id: string; sku: string; left: number }[] = []
  return [
    {
      name: 'create a customer',
      clients,
      write: way =>
        way.createCustomer({
          firstname: 'Ann',
          surname: 'Lee',
          contact: { email: `${randomUUID()}@example.com` },
          address,
        }),
    },
    { name: 'lock a voucher', clients, write: (way, client) => lock(way, numbers[client]) },
    { name: 'lock one voucher', clients: contenders, write: way => lock(way) },
    {
      name: 'issue a voucher',
      clients,
      write: way =>
        way.issueVoucher({
          ...{ amount: '50.00', gateway: 'paypal', subject: 'A gift for you', billingAddress: address },
          ...{ receiverName: 'Ann Lee', receiverEmail: 'ann.lee@example.com', senderName: 'John Smith' },
        }),
    },
    { name: 'place an order', clients, write: way => way.placeOrder(orderOf(skuOf(counter), 1)) },
    {
      name: 'return of an order',
      clients,
      async prepare(way, client) {
        if (bought[client]?.left) return
        const sku = skuOf(client)
        const left = 10
        bought[client] = { id: JSON.parse(await way.placeOrder(orderOf(sku, left))).id, sku, left }
      },
      async write(way, client) {
        const order = bought[client]
        if (!order) return
        order.left--
        await way.createReturn(order.id, { lines: [{ sku: order.sku, quantity: 1, reasonCode: 'SIZE' }] })
      },
    },
  ]
}

/** A service of its own, beside the one with many records, in the same tables. */
async function openShop({ db, keys }: Loaded, name: string): Promise<Service> {
  const enabled = { vouchersEnabled: true, giftCardSku: productRows[0]?.variant.sku ?? '', voucherType: 'DIGITAL' }
  const service = await addService(db, name, {
    currency: 'AUD',
    readsPerMinute: 'off',
    writesPerMinute: 'off',
    ...enabled,
  })
  if (!service) throw new Error('the name is new')
  await upsertStores(db, service, stores)
  await upsertProducts(db, service, productRows)
  await upsertStock(db, service, stockRows)
  await upsertGateways(db, service, [{ name: 'paypal' }])
  const ids = Array.from({ length: shoppers }, (_, i) => String(i))
  await upsertCustomers(
    db,
    service,
    ids.map(id => ({ id, firstname: 'Ann', surname: 'Lee' })),
  )
  const tier = {
    ...{ programId: '1', tierId: '1', name: 'Fledgling', sequence: 1, accrualSpend: '1.00', accrualPoints: 1 },
    ...{ autoRewardPointThreshold: 300, autoRewardValue: '10.00', pointsExpiryMonths: 36, rewardExpiryMonths: 36 },
  }
  await upsertPrograms(db, service, [{ program: { programId: '1', name: 'Circle' }, tier }])
  const accounts = ids.map(id => ({ id, customerId: id, programId: '1', tierId: '1' }))
  await upsertRewardAccounts(db, service, accounts)
  const voucher = { pin, state: 'active', originalAmount: '150.00', usedAmount: '0.00', expiryDate: null } as const
  const numbers = [...Array.from({ length: clients }, (_, client) => `own-${client}`), pinned.number]
  await insertVouchers(
    db,
    keys,
    service,
    numbers.map(number => ({ ...voucher, number })),
  )
  // As autovacuum would, a minute later.
  await db.run(sql`analyze`)
  return service
}

async function validate(db: Database, keys: Keys, service: Service, number: string) {
  const reading = { keys, service, address: '127.0.0.1' }
  const found = await db.transaction(tx =>
    embedded(service).validateVoucher({ ...reading, tx }, { number, pin, amount: '150.00' }),
  )
  if (found instanceof ApiError) throw found
  return found.validationId
}

/** As a client does it. */
function overHttps({ port, ca }: Running, username: string, password: string) {
  const agent = new Agent({ keepAlive: true, ca, maxSockets: contenders })
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  const standing = { authorization, 'x-service-name': username, 'content-type': 'application/json' }
  const ask = (method: string, path: string, body: object) =>
    new Promise<string>((resolve, reject) => {
      const text = JSON.stringify(body)
      const headers = { ...standing, 'idempotency-key': randomUUID(), 'content-length': Buffer.byteLength(text) }
      const target = { host: '127.0.0.1', servername: 'localhost', port, agent }
      const asked = request({ ...target, method, path, headers }, async (response: IncomingMessage) => {
        const answer = Buffer.concat(await response.toArray()).toString()
        if (response.statusCode === 200 || response.statusCode === 201) resolve(answer)
        else reject(new Error(`${method} ${path}: ${response.statusCode} ${answer}`))
      })
      asked.on('error', reject).end(text)
    })
  const dataOf = (answer: string) => JSON.stringify(JSON.parse(answer).data)
  const way: Way = {
    createCustomer: body => ask('POST', '/customers', body),
    lockVoucher: (number, body) => ask('PUT', `/vouchers/${number}/lock`, body),
    issueVoucher: body => ask('POST', '/vouchers', body),
    placeOrder: async body => dataOf(await ask('POST', '/orders', body)),
    createReturn: (id, body) => ask('POST', `/orders/${id}/returns`, body),
  }
  return { way, end: () => agent.destroy() }
}

/** What the service does for it in the database, and nothing else. */
function overPool(db: Database, keys: Keys, service: Service): Way {
  const backOffice = embedded(service)
  const write = async (operation: string, body: object, work: (write: Write) => Promise<object>) => {
    const requestId = randomUUID()
    const { answer } = await once(
      { db, keys },
      service,
      operation,
      requestId,
      JSON.stringify(body),
      async (tx, reference) => {
        const by = { username: 'bench', requestId, address: '127.0.0.1' }
        const written = await work({ ...by, tx, service, keys, reference, requireMatch: () => {} })
        if (written instanceof ApiError) return written
        await record(tx, service, { ...by, operation, subject: operation, body })
        const text = 'record' in written ? String(written.record) : JSON.stringify(written)
        return { status: 201, body: text, headers: {} }
      },
    )
    return answer.body
  }
  return {
    createCustomer: body => write('POST /customers', body, by => backOffice.createCustomer(by, body)),
    lockVoucher: (number, body) =>
      write('PUT /vouchers/:number/lock', body, by => backOffice.lockVoucher(by, { number, ...body })),
    issueVoucher: body => write('POST /vouchers', body, by => backOffice.issueVoucher(by, body)),
    placeOrder: body => write('POST /orders', body, by => backOffice.placeOrder(by, body)),
    createReturn: (id, body) => write('POST /orders/:id/returns', body, by => backOffice.createReturn(by, id, body)),
  }
}
