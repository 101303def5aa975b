import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Simulator } from '../../../simulator/control/handle.ts'
import { startSimulator } from '../../../simulator/simulator.ts'
import { addAccount, addService } from '../../../src/accounts.ts'
import { feedsOf } from '../../../src/backoffice/apparel21/pull/feeds.ts'
import { syncFeed } from '../../../src/backoffice/sync/sync.ts'
import { sql } from '../../../src/db.ts'
import { keysFrom } from '../../../src/secrets.ts'
import { upsertGateways } from '../../../src/store/running/gateways.ts'
import { behind, settings } from '../../drivers/apparel21.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { address } from '../../support/order-shop.ts'
import { directory, type Environment, type Serving, serve, stop } from '../../support/processes.ts'

const home = directory()
const secret = randomBytes(32).toString('hex')
let simulator: Simulator
let database: FreshDatabase
let environment: Environment
let headers: Record<string, string>
/** A process that nothing is done to: it answers the repeats. */
let steady: Serving

before(async () => {
  simulator = await startSimulator({ sizes: { stores: 3, styles: 3, persons: 5, vouchers: 1 } })
  database = await freshDatabase()
  const { db } = database
  const keys = keysFrom(secret)
  const service = (await addService(db, 'luma', settings)) ?? assert.fail()
  const password = await addAccount(db, keys, 'shopper', service, 'maintainer')
  await upsertGateways(db, service, [{ name: 'visa' }])
  const { client, release } = behind(simulator)
  for (const feed of feedsOf(client, release))
    if (['references', 'stores', 'products', 'customers'].includes(feed.name)) await syncFeed(db, service, feed)
  client.close()
  headers = {
    authorization: `Basic ${Buffer.from(`shopper:${password}`).toString('base64')}`,
    'x-service-name': service.name,
    'content-type': 'application/json',
  }
  environment = {
    DATABASE_URL: urlOf(database),
    SECRET_KEY: secret,
    JOBS: 'off',
    BACK_OFFICE: 'apparel21',
    BACK_OFFICE_URL: simulator.url,
    BACK_OFFICE_COUNTRY: 'AU',
  }
  steady = await serve(['--no-demo'], { ...environment, DATA_DIR: join(home, 'steady') })
})
after(async () => {
  if (steady) await stop(steady)
  await database?.drop()
  await simulator?.close()
})

function urlOf({ connection }: FreshDatabase) {
  if (typeof connection === 'string') return connection
  const { user, host, port, database: name } = connection
  return `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host ?? '')}&port=${port}`
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
type Answered = { status: number; code: string; data: any }

/** One write over a connection of its own; rejects where the connection ends without an answer. */
function send({ baseUrl, caFile = '' }: Serving, path: string, body: object, key: string) {
  return new Promise<Answered>((resolve, reject) => {
    const options = { method: 'POST', agent: false as const, ca: readFileSync(caFile), timeout: 30_000 }
    const asked = request(
      `${baseUrl}${path}`,
      { ...options, headers: { ...headers, 'idempotency-key': key } },
      answer => {
        let text = ''
        answer.setEncoding('utf8').on('data', part => (text += part))
        answer.on('error', reject)
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, ...JSON.parse(text) }))
      },
    )
    asked.on('timeout', () => asked.destroy(new Error('no answer')))
    asked.on('error', reject)
    asked.end(JSON.stringify(body))
  })
}

const rows = async (table: string, where = '') =>
  (await database.db.pool.query(`select count(*)::integer as n from ${table} ${where}`)).rows[0].n as number

/** As when the time of every claim is over: whoever repeats now does not have to wait for that. */
async function claimsRunOut() {
  await database.db.run(
    sql`update intent set claimed_until = now() - interval '1 s', look_at = now() + interval '1 hour'`,
  )
  await database.db.run(sql`update hold set held_until = now() - interval '1 s'`)
}

const person = (name: string) => ({
  firstname: 'Ann',
  surname: 'Crash',
  contact: { email: `${name}@example.com` },
})

async function order() {
  const sku = [...simulator.state.skus.values()].find(({ colour, price }) => !colour.style.special && price > 0)
  const [shopper] = [...simulator.state.persons.values()].filter(({ email }) => email !== '')
  return {
    customerId: String(shopper?.id),
    billingAddress: address,
    deliveryAddress: address,
    lines: [{ sku: String(sku?.id), quantity: 1 }],
    payments: [{ gateway: 'visa', amount: sku?.price.toFixed(2) }],
  }
}

const writes = {
  customer: async (name: string) => ({
    path: '/customers',
    body: person(name),
    effect: 'person created' as const,
    here: () => rows('customer', `where email = '${name}@example.com'`),
  }),
  order: async () => {
    const already = await rows('sales_order')
    const here = async () => (await rows('sales_order')) - already
    return { path: '/orders', body: await order(), effect: 'order created' as const, here }
  },
  return: async (name: string) => {
    const body = await order()
    const placed = await send(steady, '/orders', body, `for ${name}`)
    assert.equal(placed.status, 201, placed.code)
    simulator.change({ kind: 'despatch-order', id: Number(placed.data.id) })
    const already = await rows('sales_return')
    return {
      path: `/orders/${placed.data.id}/returns`,
      effect: 'return created' as const,
      body: { lines: [{ sku: body.lines[0]?.sku, quantity: 1, reasonCode: 'SIZE' }] },
      here: async () => (await rows('sales_return')) - already,
    }
  },
}

const gift = (receiverEmail: string) => ({
  amount: '150.00',
  gateway: 'visa',
  receiverEmail,
  receiverName: 'Ann Lee',
  senderName: 'John Smith',
  subject: 'A gift for you',
  billingAddress: address,
})
/** Receivers, and whether the back office has to make a person of them first: the first border is there, then. */
const receivers = {
  'somebody known': {
    borders: ['before_effect', 'before_upstream', 'after_upstream', 'after_effect', 'before_commit', 'after_commit'],
  },
  'somebody new': { borders: ['before_upstream', 'after_upstream'] },
} as const

for (const [receiver, { borders }] of Object.entries(receivers))
  for (const border of borders)
    test(`of a voucher for ${receiver} whose process is killed at ${border} there is one, here and there, once it is repeated`, async () => {
      const [known] = [...simulator.state.persons.values()].filter(({ email }) => email !== '')
      const isNew = receiver === 'somebody new'
      const email = isNew ? `gift-${border}@example.com` : (known?.email ?? assert.fail())
      const key = `gift ${receiver} ${border}`
      simulator.ledger.clear()
      const there = () => simulator.ledger.effectsOf('voucher sold').length
      const persons = () => [...simulator.state.persons.values()].filter(person => person.email === email).length
      const already = await rows('upstream_voucher_sale')
      const here = async () => (await rows('upstream_voucher_sale', 'where order_id is not null')) - already
      const doomed = await serve(['--no-demo'], { ...environment, DATA_DIR: join(home, 'doomed'), FAILPOINT: border })
      await assert.rejects(send(doomed, '/vouchers', gift(email), key))
      assert.equal((await doomed.ended).signal, 'SIGKILL')
      const isSold = !isNew && border !== 'before_effect' && border !== 'before_upstream'
      const isMade = isNew ? border === 'after_upstream' : true
      assert.deepEqual(
        [there(), persons(), await here()],
        [Number(isSold), Number(isMade), Number(border === 'after_commit')],
      )
      await claimsRunOut()
      const again = await send(steady, '/vouchers', gift(email), key)
      assert.deepEqual([again.status, again.data?.status], [202, 'pending'], again.code)
      const third = await send(steady, '/vouchers', gift(email), key)
      assert.deepEqual(third.data, again.data)
      assert.deepEqual([there(), persons(), await here()], [1, 1, 1])
      const [sold] = simulator.ledger.effectsOf('order created')
      assert.equal(simulator.state.orders.get(Number(sold?.id))?.number, again.data.orderNumber)
      const mails = simulator.state.mail.length
      simulator.change({ kind: 'allot-vouchers' })
      assert.deepEqual(
        simulator.state.mail.slice(mails).map(({ to }) => to),
        [email],
      )
    })

for (const border of ['before_upstream', 'after_upstream'] as const)
  for (const [kind, make] of Object.entries(writes))
    test(`of a ${kind} whose process is killed at ${border} there is one, here and there, once it is repeated`, async () => {
      const name = `${kind}-${border}`.replace('_', '-')
      const { path, body, effect, here } = await make(name)
      simulator.ledger.clear()
      const there = () => simulator.ledger.effectsOf(effect).length
      const doomed = await serve(['--no-demo'], { ...environment, DATA_DIR: join(home, 'doomed'), FAILPOINT: border })
      await assert.rejects(send(doomed, path, body, name))
      assert.equal((await doomed.ended).signal, 'SIGKILL')
      assert.deepEqual([there(), await here()], [border === 'after_upstream' ? 1 : 0, 0])
      await claimsRunOut()
      const again = await send(steady, path, body, name)
      assert.equal(again.status, 201, again.code)
      assert.deepEqual([there(), await here()], [1, 1])
    })
