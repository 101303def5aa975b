import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createSender } from '../../simulator/send.ts'
import type { Depth } from '../../simulator/shop/records.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { findElements, type Payload } from '../../simulator/xml/payload.ts'

const now = '2026-02-03T05:32:15.76Z'
const simulator = await startSimulator({ now })
simulator.clock.freeze(now)
after(() => simulator.close())
const send = createSender(() => simulator.url)

const findStyle = (depth: Depth) => {
  const style = [...simulator.state.styles.values()].find(
    candidate =>
      candidate.depth === depth &&
      !candidate.special &&
      candidate.colours[0]?.skus.every(({ row }) => simulator.state.stock.getTotal(row) > 5),
  )
  const colour = style?.colours[0]
  const sku = colour?.skus[0]
  assert.ok(style && colour && sku)
  return { style, colour, sku }
}
const getElementPath = (payload: Payload | undefined): string[] =>
  payload ? [payload.name, ...getElementPath(payload.children[0])] : []
const getStores = (payload: Payload | undefined) => findElements(payload, 'Store').map(store => store.attributes)

test("the stock root follows the query and the item's depth", async () => {
  const shapes = {
    size: ['Style Clr Sku Store', 'Clr Sku Store', 'Sku Store'],
    colour: ['Style Clr Store', 'Clr Store', 'Sku Store'],
    style: ['Style Store', 'Style Store', 'Style Store'],
  }
  for (const depth of ['size', 'colour', 'style'] as const) {
    const { style, colour, sku } = findStyle(depth)
    const responses = await Promise.all(
      [`style/${style.id}`, `clr/${colour.id}`, `sku/${sku.id}`].map(target => send(`Freestock/${target}`)),
    )
    assert.deepEqual(
      responses.map(({ xml }) => getElementPath(xml).join(' ')),
      shapes[depth],
      depth,
    )
  }
})

test('the root has the joined name and nodes their own', async () => {
  const { style, colour, sku } = findStyle('size')
  const root = (await send(`Freestock/sku/${sku.id}`)).xml
  assert.equal(root?.attributes.Name, `${style.name} ${colour.name} ${sku.sizeName}`)
  const styleRoot = (await send(`Freestock/style/${style.id}`)).xml
  assert.equal(styleRoot?.children[0]?.children[0]?.attributes.Name, sku.sizeName)
})

test('stores without positive stock are omitted, and none is 5008', async () => {
  const { sku } = findStyle('size')
  const stores = [...simulator.state.stores.values()]
  stores.forEach((store, i) => {
    simulator.change({ kind: 'set-stock', skuId: sku.id, storeId: store.id, quantity: i === 0 ? 4 : i === 1 ? -15 : 0 })
  })
  const listedStores = getStores((await send(`Freestock/sku/${sku.id}`)).xml)
  assert.deepEqual(
    listedStores.map(store => [store.StoreId, store.FreeStock]),
    [[String(stores[0]?.id), '4']],
  )
  simulator.change({ kind: 'sell-stock', skuId: sku.id, storeId: stores[0]?.id ?? 0, quantity: 4 })
  const { status, code } = await send(`Freestock/sku/${sku.id}`)
  assert.deepEqual([status, code], [404, 5008])
  assert.equal((await send('Freestock/sku/abc')).code, 5081)
})

test('a warehouse has no number and store numbers keep zeros', async () => {
  const stores = (await send('Freestock/AllStyles')).text
  assert.match(stores, /StoreNumber=""/)
  assert.match(stores, /StoreNumber="0\d\d"/)
})

test('stock changes are absolute and can be zero or negative', async () => {
  const { sku } = findStyle('colour')
  const [first, other] = [...simulator.state.stores.values()].filter(({ kind }) => kind === 'shop')
  assert.ok(first && other)
  simulator.change({ kind: 'set-stock', skuId: sku.id, storeId: first.id, quantity: 0 })
  simulator.change({ kind: 'set-stock', skuId: sku.id, storeId: other.id, quantity: -15 })
  const since = 'ChangedSince=2026-02-03T16:32:00'
  const { xml, text } = await send(`StockChanged?${since}`, { version: '1.0' })
  assert.deepEqual([xml?.name, xml?.attributes.changedSince], ['stockByStore', '2026-02-03T16:32:00'])
  assert.match(text, new RegExp(`<sku skuid="${sku.id}" freeStock="-15" />`))
  assert.match(text, /lastChanged="2026-02-03T16:32:15\.76"/)
  const narrowed = await send(`StockChanged?${since}&StoreId=${first.id}`)
  assert.deepEqual(
    narrowed.xml?.children.map(store => store.attributes.storeid),
    [String(first.id)],
  )
  assert.match(narrowed.text, new RegExp(`<sku skuid="${sku.id}" freeStock="0" />`))
})

test('stock changes need a valid time and an existing store', async () => {
  for (const query of ['', 'ChangedSince=2026-02-03', 'ChangedSince=2026-02-03T16:32:00&StoreId=1']) {
    const { status, code } = await send(`StockChanged?${query}`)
    assert.deepEqual([status, code], [400, 5147])
  }
  assert.equal((await send('StockChanged?ChangedSince=2030-01-01T00:00:00')).code, 5008)
})

test('a store filter returns only this store for all styles', async () => {
  const id = [...simulator.state.stores.keys()][3]
  const ids = new Set((await send(`Freestock/AllStyles/${id}`)).text.match(/StoreId="\d+"/g))
  assert.deepEqual([...ids], [`StoreId="${id}"`])
})

test('a large response is streamed with constant memory', async () => {
  const large = await startSimulator({ sizes: { stores: 60, skus: 15_000, persons: 10 } })
  try {
    const response = await fetch(`${large.url}Freestock/AllStyles?countryCode=AU`)
    const before = process.memoryUsage().rss
    let [bytes, peakBytes, stores] = [0, before, 0]
    for await (const part of response.body ?? []) {
      bytes += part.length
      stores += Buffer.from(part).toString('latin1').split('FreeStock="').length - 1
      peakBytes = Math.max(peakBytes, process.memoryUsage().rss)
    }
    assert.ok(bytes > 10_000_000, `${bytes} bytes`)
    assert.ok(
      Math.abs(stores - large.state.stock.countPositive()) < 1_000,
      'the response must contain every row with stock',
    )
    assert.ok(peakBytes - before < 60_000_000, `${(peakBytes - before) / 1e6} MB more`)
    assert.equal(response.headers.get('content-length'), null)
  } finally {
    await large.close()
  }
})
