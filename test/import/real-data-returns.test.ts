import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { formatAmount, parseAmount } from '../../src/domain/values/money.ts'
import { importFile } from '../../src/import/import-file.ts'
import { openSource } from '../../src/import/sources/file.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { upsertGateways } from '../../src/store/tenancy/gateways.ts'
import { startTestApi, type TestApi, type TestResponse } from '../support/service.ts'
import { post } from '../support/write.ts'
import { convertProducts, convertSales } from './real-data/adventureworks-sales.ts'
import { findSkipReason, realData } from './real-data/convert.ts'
import { readLines } from './real-data/csv.ts'

const skip = findSkipReason()
const address = { addressLine1: '1970 Napa Ct.', city: 'Bothell', postcode: '98011', country: 'United States' }
const parseCents = (text: string | undefined) => parseAmount(text ?? '', 2) ?? assert.fail(`${text} is not an amount`)

/** A line of the import file. Returns have a negative quantity. */
type Line = Record<string, string>

/** Runs `work` for each item, eight at a time. */
async function runInParallel<T>(all: readonly T[], work: (item: T) => Promise<void>) {
  const remaining = all.values()
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const item of remaining) await work(item)
    }),
  )
}

/** Sums of units and values by SKU. */
class SkuSums {
  readonly bySku = new Map<string, { units: number; value: bigint }>()
  add(sku: string, units: number, value: bigint) {
    const sum = this.bySku.get(sku) ?? { units: 0, value: 0n }
    this.bySku.set(sku, { units: sum.units + units, value: sum.value + value })
  }
  get units() {
    return [...this.bySku.values()].reduce((sum, { units }) => sum + units, 0)
  }
}

describe('AdventureWorks returns become orders and returns in the API', { skip }, () => {
  let folder: string
  let api: TestApi
  const orders = new Map<string, Line[]>()
  const returns: Line[] = []
  const ids = new Map<string, string>()
  const responses: TestResponse[] = []

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tillbridge-returns-'))
    const folders = { from: realData, to: folder, linesRead: {} }
    const catalogue = await convertProducts(folders)
    await convertSales(folders, catalogue.items)
    const lines: Line[] = []
    for await (const line of readLines(join(folder, 'transactions-adventureworks.csv'))) lines.push(line)
    returns.push(...lines.filter(line => Number(line.quantity) < 0))
    const expected = new Set(returns.map(line => line.orderNumber))
    for (const line of lines)
      if (Number(line.quantity) > 0 && expected.has(line.orderNumber))
        orders.set(line.orderNumber ?? '', [...(orders.get(line.orderNumber ?? '') ?? []), line])

    // The files contain no stock.
    api = await startTestApi({
      settings: { currency: 'USD', writesPerMinute: 'off', readsPerMinute: 'off', oversell: 'allow' },
    })
    for (const [kind, file] of [
      ['products', 'products-adventureworks.csv'],
      ['sku-mapping', 'sku-mapping.csv'],
    ] as const) {
      const rejectedFile = join(folder, 'rejected.csv')
      const summary = await importFile(api.db, api.service, kind, await openSource(join(folder, file)), {
        rejectedPath: rejectedFile,
      })
      assert.equal(summary.rejected, 0)
    }
    const buyers = new Set([...orders.values()].map(([first]) => first?.customerId ?? ''))
    const rows = [...buyers].map(id => ({ id, firstname: 'A', surname: id, email: `${id}@adventure-works.com` }))
    await upsertCustomers(api.db, api.service, rows)
    await upsertGateways(api.db, api.service, [{ name: 'visa' }])
  })
  after(async () => {
    await api?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  test("every order with returns is placed with the file's total", async () => {
    await runInParallel([...orders], async ([orderNumber, lines]) => {
      const total = lines.reduce((sum, line) => sum + parseCents(line.value), 0n)
      const response = await post(api, '/orders', {
        orderNumber,
        customerId: lines[0]?.customerId,
        billingAddress: address,
        deliveryAddress: address,
        lines: lines.map(({ sku, quantity, price }) => ({ sku, quantity: Number(quantity), price })),
        payments: [{ gateway: 'visa', amount: formatAmount(total, 2) }],
      })
      assert.equal(response.status, 201, response.text)
      assert.equal(response.json.data.total, formatAmount(total, 2))
      ids.set(orderNumber, response.json.data.id)
    })
    assert.equal(ids.size, orders.size)
    assert.ok(ids.size > 1_700, `${ids.size} orders`)
  })

  test('every return is accepted once although sent twice', async () => {
    await runInParallel(returns, async ({ id = '', number, orderNumber = '', sku, quantity }) => {
      const body = { returnNumber: number, lines: [{ sku, quantity: -Number(quantity), reasonCode: 'FAULTY' }] }
      const path = `/orders/${ids.get(orderNumber)}/returns`
      const [response, again] = [
        await post(api, path, body, { 'idempotency-key': id }),
        await post(api, path, body, { 'idempotency-key': id }),
      ]
      assert.equal(response.status, 201, response.text)
      assert.deepEqual([again.text, again.headers['idempotent-replayed']], [response.text, 'true'])
      responses.push(response)
    })
    assert.ok(responses.length >= 1_809, `${responses.length} returns`)
  })

  test("units and money match the file's totals by SKU", () => {
    const [fileSums, responseSums] = [new SkuSums(), new SkuSums()]
    for (const { sku = '', quantity, value } of returns) fileSums.add(sku, -Number(quantity), -parseCents(value))
    for (const { json } of responses)
      for (const { sku, quantity, value } of json.data.lines) responseSums.add(sku, quantity, parseCents(value))
    assert.equal(fileSums.units, 1_828)
    assert.deepEqual(responseSums.bySku, fileSums.bySku)
  })

  test('returned plus returnable equals sold in every order', async () => {
    let returned = 0
    await runInParallel([...ids], async ([orderNumber, id]) => {
      const { json } = await api.get(`/orders/${id}/returnable`)
      const sold = Map.groupBy(orders.get(orderNumber) ?? [], line => line.sku)
      assert.equal(json.data.length, sold.size)
      for (const line of json.data) {
        const units = sold.get(line.sku)?.reduce((sum, { quantity }) => sum + Number(quantity), 0)
        assert.deepEqual([line.sold, line.returnable + line.returned], [units, units], orderNumber)
        returned += line.returned
      }
    })
    assert.equal(returned, 1_828)
  })

  test('a return beyond a fully returned order is rejected', async () => {
    let rejected = 0
    await runInParallel(returns.slice(0, 200), async ({ orderNumber = '', sku }) => {
      const path = `/orders/${ids.get(orderNumber)}/returns`
      const line = (await api.get(`/orders/${ids.get(orderNumber)}/returnable`)).json.data.find(
        (record: { sku: string }) => record.sku === sku,
      )
      const response = await post(api, path, {
        lines: [{ sku, quantity: line.returnable + 1, reasonCode: 'FAULTY' }],
      })
      assert.equal(response.json.code, 'quantity_exceeds_returnable', response.text)
      rejected++
    })
    assert.equal(rejected, 200)
  })

  test('the history shows sales and returns with matching totals', async () => {
    let units = 0
    for (let cursor = '', more = true; more; ) {
      const { json } = await api.get(`/orders/transactions/search?limit=100${cursor}`)
      for (const { lines } of json.data) for (const { quantity } of lines) if (quantity < 0) units -= quantity
      more = json.meta.hasNextPage
      cursor = `&after_cursor=${json.meta.endCursor}`
    }
    assert.equal(units, 1_828)
  })
})
