import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { addAccount, addService } from '../src/accounts.ts'
import { type Database, openDatabase, sql } from '../src/db.ts'
import { demoSettings, fillDemoShop } from '../src/demo/shop.ts'
import { migrate } from '../src/migrate.ts'
import { type Postgres, startPostgres } from '../src/postgres.ts'
import { keysFrom } from '../src/secrets.ts'
import type { Service } from '../src/settings.ts'
import { type Environment, type Serving, serve, stop, until } from './processes.ts'

// Not one of `directory()`: PostgreSQL is ours to stop.
const home = mkdtempSync(join(tmpdir(), 'tillbridge-test-'))
chmodSync(home, 0o711)
const secret = randomBytes(32).toString('hex')
const address = { addressLine1: '1 Swan St', city: 'Richmond', state: 'VIC', postcode: '3121', country: 'Australia' }
let postgres: Postgres
let db: Database
let service: Service
let headers: Record<string, string>
/** A process that nothing is done to: it answers the repeats. */
let steady: Serving

before(async () => {
  postgres = await startPostgres(join(home, 'postgres'), { restartWaitsMs: Array(1_000).fill(0) })
  db = openDatabase(postgres.connection, { max: 3, statementTimeoutMs: 60_000, onFault: () => {} })
  await migrate(db)
  const keys = keysFrom(secret)
  service = (await addService(db, 'luma', { ...demoSettings, writesPerMinute: 'off' })) ?? assert.fail()
  const password = await addAccount(db, keys, 'shopper', service, 'maintainer')
  await fillDemoShop(db, keys, service)
  headers = {
    authorization: `Basic ${Buffer.from(`shopper:${password}`).toString('base64')}`,
    'x-service-name': service.name,
    'content-type': 'application/json',
  }
  steady = await serve(['--no-demo'], environmentOf('steady'))
})

after(async () => {
  if (steady) await stop(steady)
  await db?.close()
  await postgres?.stop()
  rmSync(home, { recursive: true, force: true })
})

const environmentOf = (name: string, more: Environment = {}): Environment => {
  const { host, port, user, database } = postgres.connection
  return {
    DATA_DIR: join(home, name),
    DATABASE_URL: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`,
    SECRET_KEY: secret,
    JOBS: 'off',
    ...more,
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
type Answered = { status: number; replayed: boolean; code: string; data: any }

/** One write over a connection of its own; rejects where the connection ends without an answer. */
function send({ baseUrl, caFile = '' }: Serving, method: string, path: string, body: object, key?: string) {
  return new Promise<Answered>((resolve, reject) => {
    const options = { method, agent: false as const, ca: readFileSync(caFile), timeout: 30_000 }
    const own = key === undefined ? {} : { 'idempotency-key': key }
    const asked = request(`${baseUrl}${path}`, { ...options, headers: { ...headers, ...own } }, answer => {
      let text = ''
      answer.setEncoding('utf8').on('data', part => (text += part))
      answer.on('error', reject)
      answer.on('end', () => {
        const { data, code } = JSON.parse(text)
        const replayed = answer.headers['idempotent-replayed'] === 'true'
        resolve({ status: answer.statusCode ?? 0, replayed, code, data })
      })
    })
    asked.on('timeout', () => asked.destroy(new Error('no answer')))
    asked.on('error', reject)
    asked.end(JSON.stringify(body))
  })
}

interface Write {
  method: 'POST' | 'PUT'
  path: string
  body: object
  /** How often its effect is there. */
  effects: () => Promise<number>
}

const count = async (query: Parameters<Database['row']>[0]) => (await db.row<{ count: number }>(query))?.count ?? -1

/** A priced SKU and a shopper of the demo. */
async function purchase() {
  const variant = await db.row<{ sku: string; price: string }>(
    sql`select sku, price::numeric(12, 2)::text as price from variant where service_id = ${service.id} and price > 0 order by sku limit 1`,
  )
  const customer = await db.row<{ id: string }>(
    sql`select id from customer where service_id = ${service.id} order by id limit 1`,
  )
  return { sku: variant?.sku ?? '', price: variant?.price ?? '', customerId: customer?.id ?? '' }
}

async function orderOf(reference: string) {
  const { sku, price, customerId } = await purchase()
  const payments = [{ gateway: 'card', amount: price, reference }]
  return { customerId, billingAddress: address, deliveryAddress: address, lines: [{ sku, quantity: 1 }], payments }
}

/** The writes that are killed at each border; each makes what it is done to anew. */
const writes: Record<string, (name: string) => Promise<Write>> = {
  async customer(name) {
    const email = `${name}@example.com`.toLowerCase()
    return {
      ...{ method: 'POST', path: '/customers', body: { firstname: 'Ann', surname: name, contact: { email } } },
      effects: () =>
        count(sql`select count(*)::integer from customer where service_id = ${service.id} and email = ${email}`),
    }
  },
  async order(name) {
    return {
      ...{ method: 'POST', path: '/orders', body: await orderOf(name) },
      effects: () =>
        count(
          sql`select count(*)::integer from order_payment where service_id = ${service.id} and reference = ${name}`,
        ),
    }
  },
  async return(name) {
    const body = await orderOf(`for ${name}`)
    const order = await send(steady, 'POST', '/orders', body)
    assert.equal(order.status, 201, order.code)
    return {
      ...{ method: 'POST', path: `/orders/${order.data.id}/returns` },
      body: { lines: [{ sku: body.lines[0]?.sku, quantity: 1, reasonCode: 'SIZE' }] },
      effects: () =>
        count(
          sql`select count(*)::integer from sales_return where service_id = ${service.id} and order_id = ${order.data.id}`,
        ),
    }
  },
  async voucher(name) {
    return {
      ...{ method: 'POST', path: '/vouchers', body: voucherOf(name) },
      // One voucher, one mail.
      effects: async () => {
        const made = await count(
          sql`select count(*)::integer from voucher_sale where service_id = ${service.id} and order_number = ${name}`,
        )
        const mails = await count(
          sql`select count(*)::integer from mail join voucher_sale on voucher_sale.service_id = mail.service_id and number = voucher_number where mail.service_id = ${service.id} and order_number = ${name}`,
        )
        assert.equal(mails, made)
        return made
      },
    }
  },
  async lock(name) {
    const issued = await send(steady, 'POST', '/vouchers', voucherOf(`for ${name}`))
    assert.equal(issued.status, 201, issued.code)
    const { number, pin } = issued.data
    const validated = await send(steady, 'POST', '/vouchers/validate', { number, pin, amount: '10.00' })
    assert.equal(validated.status, 200, validated.code)
    return {
      ...{ method: 'PUT', path: `/vouchers/${number}/lock`, body: { validationId: validated.data.validationId } },
      effects: () =>
        count(
          sql`select count(*)::integer from voucher_entry where service_id = ${service.id} and number = ${number} and kind = 'lock'`,
        ),
    }
  },
}

const voucherOf = (orderNumber: string) => ({
  ...{ amount: '50.00', gateway: 'card', subject: 'For you', orderNumber, billingAddress: address },
  ...{ receiverName: 'Ann', receiverEmail: 'ann@example.com', senderName: 'Bo' },
})

const borders = ['before_effect', 'after_effect', 'before_commit', 'after_commit'] as const
const committed = (border: string) => border === 'after_commit'

for (const border of borders)
  test(`a process that is killed at ${border} leaves one effect behind, once the request is repeated`, async () => {
    for (const [kind, make] of Object.entries(writes)) {
      const name = `${kind}-${border}`
      const { method, path, body, effects } = await make(name)
      const doomed = await serve(['--no-demo'], environmentOf('doomed', { FAILPOINT: border }))
      await assert.rejects(send(doomed, method, path, body, name), kind)
      assert.equal((await doomed.ended).signal, 'SIGKILL')
      assert.equal(await effects(), committed(border) ? 1 : 0, name)
      const again = await settle(method, path, body, name)
      assert.deepEqual(
        [again.status, again.replayed],
        [method === 'POST' ? 201 : 200, committed(border)],
        `${name} ${again.code}`,
      )
      assert.equal(await effects(), 1, name)
      if (kind === 'voucher') assert.match(again.data.pin, /^\d{6}$/)
    }
  })

for (const border of borders)
  test(`PostgreSQL that is killed at ${border} leaves one effect behind, once the request is repeated`, async () => {
    // The two that touch the most tables; a start of PostgreSQL each.
    for (const kind of ['order', 'voucher'] as const) {
      const name = `${kind}-database-${border}`
      const make = writes[kind] ?? assert.fail()
      const { method, path, body, effects } = await make(name)
      const halted = await serve(['--no-demo'], environmentOf('halted', { FAILPOINT: `${border}:stop` }))
      const answer = send(halted, method, path, body, name)
      await until(() => isHalted(halted.pid), 'the process halts')
      const { pid } = postgres
      process.kill(pid, 'SIGKILL')
      await until(() => postgres.pid !== pid && db.row(sql`select 1`).catch(() => false), 'PostgreSQL is back', 20_000)
      process.kill(halted.pid, 'SIGCONT')
      const first = await answer
      // It was committed, or tried again by the process itself; or the caller is told to try again.
      assert.ok([200, 201, 503, 504].includes(first.status), `${name} ${first.status} ${first.code}`)
      const again = await settle(method, path, body, name)
      assert.equal(again.status, method === 'POST' ? 201 : 200, `${name} ${again.code}`)
      if (first.status < 300) assert.deepEqual(again.data, first.data)
      assert.equal(await effects(), 1, name)
      await stop(halted)
    }
  })

/** Repeats a request until it is settled. */
async function settle(method: string, path: string, body: object, key: string) {
  let answer: Answered | undefined
  await until(async () => {
    answer = await send(steady, method, path, body, key)
    return answer.status < 500 && answer.code !== 'idempotency_in_progress'
  }, 'the repeat is settled')
  return answer as Answered
}

const isHalted = (pid: number) =>
  existsSync(`/proc/${pid}/stat`) && / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/\(.*\)/, ''))
