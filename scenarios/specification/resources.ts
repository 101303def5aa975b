import assert from 'node:assert/strict'
import { assertRejected, getData } from './api.ts'
import { fields, paths, pinHeader } from './names.ts'
import { readPages } from './read-pages.ts'
import { section, statement } from './statement.ts'
import { requireValue, Untestable } from './untestable.ts'

export const purpose = section(
  '1. What the service does',
  statement('It is an HTTPS JSON API', async ({ api }) => {
    const { status, headers } = await api.get('/stores')
    assert.deepEqual([status, new URL(api.url).protocol], [200, 'https:'])
    assert.match(headers.get('content-type') ?? '', /^application\/json/)
  }),
  statement('Retail history: store sales, head-office telephone/mail sales, web sales', async ({ api }) => {
    const channels = new Set(
      (await readPages(api, '/orders/transactions/search', {}, 20)).map(({ channel }) => channel),
    )
    for (const channel of ['store', 'headOffice', 'web'])
      if (!channels.delete(channel)) throw new Untestable(`there is no sale whose channel is ${channel}`)
    assert.deepEqual([...channels], [])
  }),
)

export const resources = section(
  '2. Resources',
  statement('store: carries the mapped e-commerce location identifier', async ({ api }) => {
    const stores = getData(await api.get('/stores'))
    for (const store of stores) assert.ok(fields.location in store)
    requireValue(
      stores.find((store: Record<string, unknown>) => store[fields.location] !== null),
      'no store is mapped to a location',
    )
  }),
  statement('inventory: stock per store, with the store inventory buffer', async ({ api }) => {
    const stock = getData(await api.get(paths.inventory))
    assert.ok(stock.length > 0)
    for (const level of stock) assert.ok(level.storeNumber && Number.isInteger(level[fields.buffer]))
  }),
  statement('product: colour/size variants, each with its e-commerce SKU', async ({ api }) => {
    const products = getData(await api.get(paths.products))
    assert.ok(products.length > 0)
    for (const { colours } of products)
      for (const { sizes } of colours)
        for (const size of sizes) assert.ok(size[fields.ecommerceSku], JSON.stringify(size))
  }),
  statement('gift voucher: a voucher number and a PIN', async ({ api, shop }) => {
    const { number, pin } = await shop.voucher()
    assert.equal(getData(await api.get(paths.voucher(number), {}, { [pinHeader]: pin })).number, number)
    assertRejected(await api.get(paths.voucher(number), {}, { [pinHeader]: `${pin}0` }))
  }),
  statement('reward / gift: what is used to compute a shopper’s reward balance', async ({ shop }) => {
    const { rewards, gifts, availableRewards } = requireValue(await shop.rewards(), 'no customer has a reward account')
    assert.ok(Array.isArray(gifts))
    const cents = (text: string) => Math.round(Number(text) * 100)
    const open = rewards.reduce((sum: number, { available }: { available: string }) => sum + cents(available), 0)
    assert.equal(cents(availableRewards), open)
  }),
  statement('payment gateway: a named gateway, selectable when posting orders or gift vouchers', async ({ shop }) => {
    assert.equal((await shop.order()).payments[0].gateway, await shop.gateway())
  }),
)
