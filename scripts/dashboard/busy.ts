import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { type Asked, askOnce } from '../../scenarios/support/asking.ts'
import { address } from '../../scenarios/support/paying.ts'
import type { Product } from '../../src/domain/catalog/products.ts'
import { upsertGateways } from '../../src/store/tenancy/gateways.ts'
import { listServices } from '../../src/store/tenancy/services.ts'
import type { Monitored } from '../../test/support/prometheus/monitored.ts'
import type { SmtpSink } from '../../test/support/smtp-sink.ts'

/** What shoppers ask for, in turn: the last two are refused. */
const reads = [
  '/inventory?limit=100',
  '/products?limit=50',
  '/stores',
  '/customers/search?limit=20',
  '/orders/search?limit=20',
  '/inventory?limit=20',
  '/customers/none',
  '/inventory?limit=none',
]

/** Some minutes of a shop: more and less is asked for, and of what stands behind it the back office is slow for a while, then away, and the mail server refuses something. */
export async function keepBusy({ access, db, simulator, sendGift }: Monitored, sink: SmtpSink, seconds: number) {
  const { baseUrl, username, password, serviceName, caFile } = access
  const agent = new Agent({ keepAlive: true, maxSockets: 20, ca: readFileSync(caFile ?? '') })
  const basic = Buffer.from(`${username}:${password}`).toString('base64')
  const way = { baseUrl, agent, headers: { authorization: `Basic ${basic}`, 'x-service-name': serviceName } }
  const ask = (asked: Asked) => askOnce<unknown>(asked, way)
  const post = (path: string, body: object) => ask({ method: 'POST', path, body, key: randomUUID() })
  const { body } = await askOnce<Product[]>({ method: 'GET', path: '/products?limit=20' }, way)
  const sizes = (body.data ?? []).flatMap(({ colours }) => colours.flatMap(({ sizes }) => sizes))
  const size = sizes.find(({ skuId, price }) => skuId !== '9001' && Number(price) > 0)
  const shop = (await listServices(db)).find(({ name }) => name === serviceName)
  if (shop) await upsertGateways(db, shop, [{ name: 'visa' }])
  const account = [...simulator.state.accounts.keys()][0]
  const paths = [...reads, `/rewards/accounts/${account}`]
  const customerId = String([...simulator.state.persons.keys()][0])
  const order = () =>
    post('/orders', {
      customerId,
      billingAddress: address,
      deliveryAddress: address,
      lines: [{ sku: size?.ecommerceSku, quantity: 1 }],
      payments: [{ gateway: 'visa', amount: size?.price, reference: randomUUID() }],
    })

  const befalls = [
    { at: 0.3, does: () => simulator.faults.add({ kind: 'latency', seconds: 0.4 }) },
    { at: 0.42, does: () => simulator.faults.clear() },
    { at: 0.6, does: () => simulator.refuse() },
    { at: 0.72, does: () => simulator.accept() },
  ]
  const asked: Promise<unknown>[] = []
  const begun = Date.now()
  const gone = () => (Date.now() - begun) / 1_000 / seconds
  for (let count = 0; gone() < 1; count++) {
    while (befalls[0] && befalls[0].at <= gone()) await befalls.shift()?.does()
    asked.push(count % 8 === 0 ? order() : ask({ method: 'GET', path: paths[count % paths.length] ?? '' }))
    if (count % 150 === 0) asked.push(...['stock', 'products', 'orders'].map(feed => post(`/feeds/${feed}/run`, {})))
    if (count % 60 === 0) asked.push(sendGift())
    if (count % 900 === 0) sink.mishaps.push({ at: 'rcpt', code: 550 })
    await delay(1_000 / (8 + 6 * Math.sin(gone() * 11)))
  }
  await Promise.all(asked)
  agent.destroy()
}
