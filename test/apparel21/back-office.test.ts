import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { pino } from 'pino'
import type { Simulator } from '../../simulator/control/handle.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { drivers } from '../../src/backoffice/drivers.ts'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { sql } from '../../src/database/db.ts'
import { deleteBackOffice, lockStoredBackOffice, setBackOffice } from '../../src/store/backoffice/connections.ts'
import { upsertProducts } from '../../src/store/catalog/products.ts'
import { upsertGateways } from '../../src/store/tenancy/gateways.ts'
import { runSync } from '../../src/sync/sync.ts'
import { waitUntil } from '../support/processes.ts'
import { type Caller, startTestApi } from '../support/service.ts'
import { post } from '../support/write.ts'

const customer = {
  firstname: 'Jo',
  surname: 'Sample',
  contact: { email: 'jo.sample@example.test' },
  address: { addressLine1: '1 Sample St' },
}
const buildCustomerWithEmail = (email: string) => ({ ...customer, contact: { email: `${email}@example.test` } })
const other = buildCustomerWithEmail('other')
const address = { addressLine1: '1 Sample St', city: 'Melbourne', country: 'Australia' }
const canary = 'kanarie-Wachtwoord-7'
const getDriver = async (caller: Pick<Caller, 'get'>) => (await caller.get('/capabilities')).json.data.backOffice

const simulator = await startSimulator({ release: '2025.1' })
const older = await startSimulator({ release: '2021.3' })
const api = await startTestApi({
  environment: { BACK_OFFICE: 'apparel21', BACK_OFFICE_URL: simulator.url, BACK_OFFICE_COUNTRY: 'AU' },
})
after(async () => {
  await api.stop()
  await simulator.close()
  await older.close()
})
const settingsFor = ({ url }: Simulator) => ({ driver: 'apparel21' as const, url, country: 'AU' })

async function useEmbedded(caller: Pick<Caller, 'get' | 'service'>) {
  await setBackOffice(api.db, api.keys, caller.service, { driver: 'embedded' })
  await waitUntil(
    async () => (await getDriver(caller)).driver === 'embedded',
    'the service uses the embedded driver',
    5_000,
  )
}

/** Reads capabilities until the server calls the service's own back office. */
async function waitForCall(caller: Pick<Caller, 'get'>, { ledger }: Simulator) {
  const isCalled = async () => {
    await getDriver(caller)
    return ledger.calls.length > 0
  }
  await waitUntil(isCalled, 'the back office is called', 5_000)
}

describe('the back office of a service', () => {
  test('a service uses its own back office or the default', async () => {
    const otherCaller = await api.createService()
    assert.deepEqual(await getDriver(api), { driver: 'apparel21', release: '2025.1' })
    assert.deepEqual(await getDriver(otherCaller), { driver: 'apparel21', release: '2025.1' })

    await setBackOffice(api.db, api.keys, otherCaller.service, settingsFor(older))
    await waitUntil(
      async () => (await getDriver(otherCaller)).release === '2021.3',
      'the service uses the other back office',
      5_000,
    )
    assert.equal((await getDriver(api)).release, '2025.1')

    await useEmbedded(otherCaller)

    await deleteBackOffice(api.db, otherCaller.service)
    await waitUntil(
      async () => (await getDriver(otherCaller)).release === '2025.1',
      "the service uses the environment's back office",
      5_000,
    )
  })

  test('a write is forwarded to the back office', async () => {
    const created = await post(api, '/customers', customer)
    assert.equal(created.status, 201, created.text)
    const person = simulator.state.persons.get(Number(created.json.data.id))
    assert.equal(person?.surname, 'Sample')
    assert.equal((await api.get(`/customers/${created.json.data.id}`)).status, 200)
  })

  test("a pinned version overrides the back office's own", async () => {
    const pinned = await api.createService()
    await setBackOffice(api.db, api.keys, pinned.service, { ...settingsFor(older), version: '2023.4a' })
    await waitUntil(async () => (await getDriver(pinned)).release === '2023.4a', 'the version is pinned', 5_000)
  })

  test("an order uses its gateway's merchant and never an invented one", async () => {
    const caller = await api.createService({ currency: 'AUD', oversell: 'allow' })
    const capability = async (name: string) => {
      const { capabilities } = (await caller.get('/capabilities')).json.data
      return capabilities.find((item: { name: string }) => item.name === name)
    }
    await upsertGateways(api.db, caller.service, [{ name: 'paypal' }, { name: 'zip' }, { name: 'cash' }])
    assert.match((await capability('gatewayMerchants')).reason, /merchant is set for `cash`, `paypal`, `zip`\./)
    const settings = {
      ...settingsFor(simulator),
      gateways: { paypal: { merchantId: 'PAYPAL', cardType: 'PP' }, zip: { origin: 'Zip' as const } },
    }
    await setBackOffice(api.db, api.keys, caller.service, settings)
    assert.deepEqual((await lockStoredBackOffice(api.db, api.keys, caller.service))?.settings, settings)
    const isKnown = async () => / set for `cash`\. /.test((await capability('gatewayMerchants')).reason)
    await waitUntil(isKnown, 'the merchants are known', 5_000)

    const driver = drivers.apparel21(settings, caller.service, pino({ level: 'silent' }))
    for (const sync of driver.syncs)
      if (['stores', 'products'].includes(sync.name)) await runSync(api.db, caller.service, sync)
    driver.close()
    const { id: customerId } = (await post(caller, '/customers', other)).json.data
    const { sku, price } = await api.db
      .row<{ sku: string; price: string }>(
        sql`select sku, round(price, 2)::text as price from variant where service_id = ${caller.service.id} and price > 3 order by sku limit 1`,
      )
      .then(row => row ?? assert.fail('no product has a price'))
    const remainder = (Number(price) - 2).toFixed(2)
    const placed = await post(caller, '/orders', {
      customerId,
      billingAddress: address,
      deliveryAddress: address,
      lines: [{ sku, quantity: 1 }],
      payments: [
        { gateway: 'paypal', amount: remainder, reference: 'PAYID-1' },
        { gateway: 'zip', amount: '1.00' },
        { gateway: 'cash', amount: '1.00' },
      ],
    })
    assert.equal(placed.status, 201, placed.text)
    assert.deepEqual(
      simulator.state.orders
        .get(Number(placed.json.data.id))
        ?.payments.map(({ origin, merchantId, cardType, amount }) => [origin, merchantId, cardType, amount]),
      [
        ['CreditCard', 'PAYPAL', 'PP', Number(remainder)],
        ['Zip', '', 'zip', 1],
        ['CreditCard', '', 'cash', 1],
      ],
    )
    await upsertGateways(api.db, caller.service, [{ name: 'visa' }])
    assert.match((await capability('gatewayMerchants')).reason, /merchant is set for `cash`, `visa`\./)
  })

  test('capabilities list back office data missing for the settings, with either driver', async () => {
    const settings = { vouchersEnabled: true, voucherType: 'GV_EMAIL', giftCardSku: 'GIFT' }
    const [remote, embedded] = [await api.createService(settings), await api.createService(settings)]
    await useEmbedded(embedded)
    for (const caller of [remote, embedded]) {
      const listReasons = async () => {
        const { capabilities } = (await caller.get('/capabilities')).json.data
        return new Map<string, string>(capabilities.map(({ name, reason }: Record<string, string>) => [name, reason]))
      }
      const before = await listReasons()
      const noGateway = 'The setting `gateways` has no payment gateway.'
      const noSku = "SKU `GIFT` of the setting `giftCardSku` isn't in the back office."
      assert.equal(before.get('paymentGateways'), noGateway)
      assert.equal(before.get('vouchersIssue'), noSku)
      await upsertGateways(api.db, caller.service, [{ name: 'paypal' }])
      await upsertProducts(api.db, caller.service, [
        {
          product: { productId: '1', productCode: 'GIFT', name: 'Gift card' },
          colour: { productId: '1', colourId: '1' },
          variant: { skuId: '1', productId: '1', colourId: '1', sku: 'GIFT', sizeCode: '-', price: '0.00' },
        },
      ])
      const now = await listReasons()
      assert.deepEqual(
        [now.has('paymentGateways'), now.get('paymentGateways'), now.get('vouchersIssue')],
        [true, undefined, undefined],
      )
    }
  })

  test('capabilities report that no process runs jobs only if none does', async () => {
    const findJobsCapability = async () => {
      const { capabilities } = (await api.get('/capabilities')).json.data
      return capabilities.find(({ name }: { name: string }) => name === 'jobs')
    }
    assert.deepEqual(await findJobsCapability(), { name: 'jobs', available: true })
    await api.db.run(sql`insert into job (name, due_at) values ('schedule-syncs', now() - interval '50 s')`)
    assert.equal((await findJobsCapability()).available, true, 'a job that is due for 50 s can be about to start')
    await api.db.run(sql`update job set due_at = now() - interval '61 s'`)
    assert.match((await findJobsCapability()).reason, /^No worker is running, so emails are not sent/)
    await api.db.run(sql`update job set lease = gen_random_uuid(), leased_until = now() + interval '20 s'`)
    assert.equal((await findJobsCapability()).available, true, 'another worker runs it')
    await api.db.run(sql`delete from job`)
  })

  test('a hanging back office with 50 writes does not delay other services', async () => {
    const [stuck, free, embedded] = [await api.createService(), await api.createService(), await api.createService()]
    const hanging = await startSimulator()
    await setBackOffice(api.db, api.keys, stuck.service, settingsFor(hanging))
    await useEmbedded(embedded)
    await waitForCall(stuck, hanging)
    hanging.faults.add({ kind: 'hang', path: '/Persons' })
    let responseCount = 0
    const writes = Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const response = await post(stuck, '/customers', buildCustomerWithEmail(`stuck${i}`))
        responseCount++
        return response
      }),
    )
    writes.catch(() => {})
    try {
      await waitUntil(() => hanging.ledger.findCalls({ path: '/Persons' }).length >= 4, 'four calls hang', 5_000)
      const responses = [free, embedded].flatMap(caller =>
        Array.from({ length: 10 }, (_, i) =>
          post(caller, '/customers', buildCustomerWithEmail(`${caller.service.name}.${i}`)),
        ),
      )
      for (const response of await Promise.all(responses)) assert.equal(response.status, 201, response.text)
      // The remaining writes of the 50 wait for a permit, for at most 5 s.
      assert.ok(responseCount <= 45, 'other services get responses while at least five writes hang')
    } finally {
      await hanging.close()
    }
    for (const response of await writes) assert.equal(response.status, 503, response.text)
  })

  test('a back office password is stored encrypted for its service only', async () => {
    const [first, second] = [await api.createService(), await api.createService()]
    const settings = { ...settingsFor(older), user: 'retail', password: canary }
    await setBackOffice(api.db, api.keys, first.service, settings)
    const row = await api.db.row<{ text: string }>(
      sql`select row_to_json(b)::text || encode(password, 'escape') as text from back_office b where service_id = ${first.service.id}`,
    )
    assert.ok(row?.text.includes('retail'))
    assert.ok(!row?.text.includes(canary))
    assert.deepEqual((await lockStoredBackOffice(api.db, api.keys, first.service))?.settings, settings)

    await setBackOffice(api.db, api.keys, second.service, settings)
    await api.db.run(
      sql`update back_office set password = (select password from back_office where service_id = ${first.service.id}) where service_id = ${second.service.id}`,
    )
    const copied = await lockStoredBackOffice(api.db, api.keys, second.service)
    assert.equal(copied?.isLocked, true, "another service can't decrypt a copied password")
    const withOtherKey = await lockStoredBackOffice(api.db, deriveKeys(randomBytes(32)), first.service)
    assert.deepEqual([withOtherKey?.isLocked, withOtherKey?.settings.password], [true, undefined])
  })

  test('lists stay available during an outage and live requests return 503', async () => {
    const lone = await api.createService()
    const removed = await startSimulator()
    await setBackOffice(api.db, api.keys, lone.service, settingsFor(removed))
    await waitForCall(lone, removed)
    await removed.close()
    const created = await post(lone, '/customers', customer)
    assert.equal(created.status, 503, created.text)
    assert.equal(created.json.code, 'back_office_unavailable')
    assert.ok(Number(created.headers['retry-after']) >= 1)
    assert.ok(!created.text.includes(new URL(removed.url).host))
    for (const path of ['/stores', '/inventory', '/products', '/customers/search', '/orders/transactions/search'])
      assert.equal((await lone.get(path)).status, 200, path)
    assert.equal((await lone.get('/health/ready')).status, 200)
  })
})
