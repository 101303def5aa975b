import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstReleases } from '../../simulator/world/release.ts'
import { isAtLeast } from '../../src/domain/values/release.ts'
import { assertProblem } from '../support/problem.ts'
import type { Shop } from './shop.ts'

/** Contract of reads, the same for every driver. */
export function addReadContract(shop: () => Shop) {
  test('stores are listed and found by number', async () => {
    const { api, simulator } = shop()
    const { data } = (await api.get('/stores?kind=store')).json
    const shops = [...simulator.state.stores.values()].filter(({ kind }) => kind === 'shop')
    assert.deepEqual(
      data.map(({ storeId }: { storeId: string }) => storeId).sort(),
      shops.map(({ id }) => String(id)).sort(),
    )
    for (const store of data)
      assert.deepEqual((await api.get(`/stores/${encodeURIComponent(store.storeNumber)}`)).json.data, store)
    assertProblem(await api.get('/stores/nowhere'), 'not_found', api.baseUrl)
  })

  test('products are paginated once each with back office prices', async () => {
    const { api, simulator } = shop()
    const ids: string[] = []
    for (let cursor = ''; ; ) {
      const { json } = await api.get(`/products?limit=5${cursor && `&after_cursor=${cursor}`}`)
      ids.push(...json.data.map(({ id }: { id: string }) => id))
      if (!json.meta.hasNextPage) break
      cursor = encodeURIComponent(json.meta.endCursor)
    }
    const styles = [...simulator.state.styles.values()].filter(({ special }) => !special)
    assert.equal(new Set(ids).size, ids.length)
    for (const { id } of styles) assert.ok(ids.includes(String(id)), String(id))
    const [style] = styles
    const sku = style?.colours[0]?.skus[0]
    const { data } = (await api.get(`/products/${style?.id}`)).json
    const sizes = data.colours.flatMap((colour: { sizes: object[] }) => colour.sizes)
    assert.equal(sizes.find(({ skuId }: { skuId: string }) => skuId === String(sku?.id)).price, sku?.price.toFixed(2))
  })

  test("stock is the back office's less the buffer", async () => {
    const { api, simulator } = shop()
    const { data } = (await api.get('/inventory?limit=100')).json
    assert.ok(data.length > 0)
    for (const { skuId, storeId, freeStock, buffer, sellable } of data.slice(0, 20)) {
      const sku = simulator.state.skus.get(Number(skuId))
      const store = simulator.state.stores.get(Number(storeId))
      assert.equal(freeStock, simulator.state.stock.get(sku?.row ?? -1, store?.column ?? -1))
      assert.equal(sellable, Math.max(0, freeStock - buffer))
    }
    const [{ sku, storeNumber }] = data
    const item = (await api.get(`/inventory?sku=${encodeURIComponent(sku)}&store_number=${storeNumber}`)).json.data
    assert.deepEqual(item, [data[0]])
    assertProblem(await api.get('/inventory?sku=nothing'), 'not_found', api.baseUrl)
  })

  test("a customer's retail history contains only their transactions", async () => {
    const { api, simulator } = shop()
    const customerSales = simulator.state.transactions.filter(({ personId: buyerId }) => buyerId !== null)
    const [{ personId } = { personId: 0 }] = customerSales
    const matching = customerSales.filter(sale => sale.personId === personId)
    const { data } = (await api.get(`/customers/${personId}/transactions`)).json
    assert.deepEqual(data.map(({ id }: { id: string }) => id).sort(), matching.map(({ id }) => String(id)).sort())
    const all: { id: string; saleDate: string }[] = (await api.get('/orders/transactions/search?asc=true')).json.data
    assert.ok(all.length >= Math.min(100, customerSales.length))
    assert.deepEqual(
      all.map(({ saleDate }) => saleDate),
      all.map(({ saleDate }) => saleDate).sort(),
    )
    assertProblem(await api.get('/customers/999999/transactions'), 'not_found', api.baseUrl)
  })

  test('a reward account is found both ways and equals its lots', async () => {
    const { api, simulator } = shop()
    const [account] = [...simulator.state.accounts.values()].filter(({ personId }) =>
      simulator.state.persons.has(personId),
    )
    assert.ok(account)
    const byCustomer = await api.get(`/customers/${account.personId}/rewards`)
    assert.equal(byCustomer.status, 200, byCustomer.text)
    const { data } = byCustomer.json
    assert.deepEqual([data.id, data.customerId], [String(account.id), String(account.personId)])
    assert.deepEqual((await api.get(`/rewards/accounts/${account.id}`)).json.data, data)
    const sum = (lots: { available: number | string }[]) => lots.reduce((all, lot) => all + Number(lot.available), 0)
    assert.equal(data.availablePoints, sum(data.points))
    assert.equal(data.availableRewards, sum(data.rewards).toFixed(2))
    const program = (await api.get('/rewards/programs')).json.data.find(
      ({ id }: { id: string }) => id === data.programId,
    )
    assert.equal(data.programName, program.name)
    assert.equal(data.tierName, program.tiers.find(({ id }: { id: string }) => id === data.tierId).name)
    const tag = { 'if-none-match': String(byCustomer.headers.etag) }
    assert.equal((await api.get(`/customers/${account.personId}/rewards`, tag)).status, 304)
  })

  test('a customer without a reward account returns none', async () => {
    const { api, simulator } = shop()
    const none = [...simulator.state.persons.keys()].find(id => !simulator.state.accountsByPerson.has(id))
    for (const path of [
      ...[`/customers/${none}/rewards`, '/customers/999999/rewards', '/customers/..%2F..%2FStores/rewards'],
      ...['/rewards/accounts/999999', '/rewards/accounts/x', '/rewards/accounts/..%2F'],
    ])
      assertProblem(await api.get(path), 'not_found', api.baseUrl)
  })

  test('the payment gateways come from the settings', async () => {
    assert.deepEqual((await shop().api.get('/payment-gateways')).json.data, ['paypal', 'visa'])
  })

  test('capabilities list available functions and explain missing ones', async () => {
    const { api, driver, release } = shop()
    const { data } = (await api.get('/capabilities')).json
    assert.deepEqual(data.backOffice, { driver, release })
    const all: { name: string; available: boolean; reason?: string }[] = data.capabilities
    const names = all.map(({ name }) => name)
    assert.equal(new Set(names).size, names.length)
    for (const { name, available, reason } of all) assert.equal(reason === undefined, available, name)
    const isAvailable = (name: string) => all.find(capability => capability.name === name)?.available
    for (const name of [
      'stores',
      'inventory',
      'products',
      'customers',
      'customerWrites',
      'orders',
      'rewards',
      'rewardRedemptions',
    ])
      assert.equal(isAvailable(name), true, name)
    assert.equal(isAvailable('customersUpdatedAfter'), isAtLeast(release, '2022.1'))
    for (const name of ['returns', 'returnStatus'])
      assert.equal(isAvailable(name), isAtLeast(release, firstReleases.returns), name)
    assert.equal(isAvailable('staff'), driver === 'embedded')
    assert.equal(isAvailable('vouchersIssue'), true)
    assert.equal(isAvailable('emailSubscriptionMapping'), true)
    assert.equal(isAvailable('smsSubscriptionMapping'), false)
  })
}
