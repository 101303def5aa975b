import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { settings, startApparel21Api } from '../../drivers/apparel21.ts'
import { paginate } from '../../support/paginate.ts'

// The back office is in Melbourne, the service in London.
const zone = 'Europe/London'
const installation = await startApparel21Api({ settings: { ...settings, timeZone: zone } })
const { simulator, api } = installation
after(() => installation.stop())

interface ListedRecord {
  id: string
  updateTimeStamp: string
}

/** Converts the back office's local time, in milliseconds, to London's, as a string. */
const toLondonTime = (wallMs: number) =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(wallMs / 1_000) * 1_000)
    .toZonedDateTimeISO('UTC')
    .toPlainDateTime()
    .toZonedDateTime('Australia/Melbourne')
    .withTimeZone(zone)
    .toPlainDateTime()
    .toString({ smallestUnit: 'second' })
    .replace('T', ' ')

const listRecords = async (path: string) => (await paginate(api, path)).records as unknown as ListedRecord[]

test("a synced record has the back office's time in the service's zone", async () => {
  await api.db.run(sql`
    insert into sync_state (service_id, sync, since, finished_at, full_at)
    values (${api.service.id}, 'stock', '2020-01-01T00:00:00', now(), now())`)
  const [sku] = [...simulator.state.skus.values()].filter(({ colour }) => !colour.style.special)
  const [store] = [...simulator.state.stores.values()].filter(({ kind }) => kind === 'shop')
  assert.ok(sku && store)
  const lately = Temporal.Now.instant().subtract({ minutes: 1 }).round('second')
  simulator.clock.freeze(lately.toString())
  simulator.change({ kind: 'set-stock', skuId: sku.id, storeId: store.id, quantity: 7 })
  await installation.sync()

  const { persons, styles, transactions } = simulator.state
  const customers = await listRecords('/customers/search')
  assert.equal(customers.length, persons.size)
  for (const { id, updateTimeStamp } of customers)
    assert.equal(updateTimeStamp, toLondonTime(persons.get(Number(id))?.updated ?? 0), id)
  const products = (await listRecords('/products')).filter(({ id }) => styles.get(Number(id))?.updated)
  assert.ok(products.length > 3)
  for (const { id, updateTimeStamp } of products)
    assert.equal(updateTimeStamp, toLondonTime(styles.get(Number(id))?.updated ?? 0), id)
  const stock = await listRecords('/inventory')
  assert.equal(
    stock.find(({ id }) => id === `${store.id}-${sku.id}`)?.updateTimeStamp,
    toLondonTime(simulator.clock.wall()),
    'stock has the time when its store last changed',
  )
  const sales = await listRecords('/orders/transactions/search')
  assert.ok(sales.length > 0 && sales.length <= transactions.length)
  for (const sale of sales)
    assert.equal(
      sale.updateTimeStamp,
      (sale as unknown as { saleDate: string }).saleDate,
      'a sale has only its sale date',
    )
})
