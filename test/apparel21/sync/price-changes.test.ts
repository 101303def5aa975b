import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openShop } from '../shop.ts'

const shop = await openShop()
after(() => shop.stop())
const { simulator, api } = shop

const { tee, hat } = shop.findItems()
const getPriceChanges = async (sku: string) => {
  const [product] = (await api.get(`/products?sku=${sku}`)).json.data
  const sizes = product.colours.flatMap((colour: { sizes: object[] }) => colour.sizes)
  return sizes.find(({ skuId }: { skuId: string }) => skuId === sku).priceChanges
}

test('coming prices are listed with their first day, earliest first', async () => {
  simulator.state.futurePrices.set(Number(tee.sku), [
    { from: '2099-05-16', price: 80 },
    { from: '2099-05-14', price: 100 },
  ])
  const { asOf } = (await api.get('/products?limit=1')).json.meta
  await shop.sync('products', { full: false })
  assert.deepEqual(await getPriceChanges(tee.sku), [
    { from: '2099-05-14', price: '100.00' },
    { from: '2099-05-16', price: '80.00' },
  ])
  assert.deepEqual(await getPriceChanges(hat.sku), [])
  const changed = (await api.get(`/products?updated_after=${encodeURIComponent(asOf)}`)).json.data
  assert.equal(changed.length, 1)
})

test('a failed request keeps the coming prices and the products', async () => {
  simulator.faults.add({ kind: 'error', status: 403, code: 5030, path: '/Products/FuturePrices' })
  await shop.sync('products')
  simulator.faults.clear()
  assert.equal((await getPriceChanges(tee.sku)).length, 2)
})

test('a coming price that is gone is removed', async () => {
  simulator.state.futurePrices.clear()
  simulator.state.futurePrices.set(Number(hat.sku), [{ from: '2099-12-26', price: 1 }])
  await shop.sync('products')
  assert.deepEqual(await getPriceChanges(tee.sku), [])
  assert.deepEqual(await getPriceChanges(hat.sku), [{ from: '2099-12-26', price: '1.00' }])
})
