import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, afterEach, before, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Simulator, startSimulator } from '../simulator/simulator.ts'
import { feedsOf } from '../src/backoffice/apparel21/feeds.ts'
import { type Client, openClient } from '../src/backoffice/apparel21/http.ts'
import { type Release, releaseOf } from '../src/backoffice/apparel21/release.ts'
import { type SyncOptions, syncFeed } from '../src/backoffice/sync.ts'
import type { Feed, FeedRows, Portion } from '../src/domain/feed.ts'
import type { Service } from '../src/settings.ts'
import { syncStates } from '../src/store/sync.ts'
import { openShop, type Shop } from './feeds.ts'

const timeZone = 'Australia/Melbourne'
const sizes = { stores: 8, styles: 24, persons: 60, vouchers: 1 }

/** A service that is fed by a simulator of its own. */
interface Fed {
  simulator: Simulator
  shop: Shop
  service: Service
  client: Client
  release: Release
  sync(feed: string, options?: SyncOptions): ReturnType<typeof syncFeed>
  /** Every feed in turn. */
  syncAll(options?: SyncOptions): Promise<void>
  state(feed: string): Promise<Awaited<ReturnType<typeof syncStates>>[number] | undefined>
  close(): Promise<void>
}

/** One for a single test, which is closed with it. */
async function feedOf(t: TestContext, options?: Parameters<typeof startSimulator>[0]): Promise<Fed> {
  const fed = await feed(options)
  t.after(() => fed.close())
  return fed
}

async function feed(options: Parameters<typeof startSimulator>[0] = {}): Promise<Fed> {
  const shop = await openShop()
  const simulator = await startSimulator({ sizes, ...options })
  const service = { ...shop.service, settings: { ...shop.service.settings, currency: 'AUD', timeZone } }
  const limits = { pageRows: 10, breakerFailures: 1_000, patienceMs: 0 }
  const client = openClient({ url: simulator.url, countryCode: 'AU', timeZone, limits })
  const release = releaseOf(client)
  const feeds = feedsOf(client, release)
  const sync: Fed['sync'] = (name, how) => {
    const found = feeds.find(one => one.name === name)
    assert.ok(found, name)
    return syncFeed(shop.db, service, found, how)
  }
  return {
    ...{ simulator, shop, service, client, release, sync },
    async syncAll(how) {
      for (const { name } of feeds) await sync(name, how)
    },
    state: async name => (await syncStates(shop.db, service)).find(state => state.feed === name),
    async close() {
      client.close()
      await simulator.close()
      await shop.close()
    },
  }
}

let fed: Fed
before(async () => {
  fed = await feed()
  await fed.syncAll()
})
after(() => fed.close())
afterEach(() => {
  fed.simulator.faults.clear()
  fed.simulator.ledger.clear()
})

const count = async ({ shop }: Fed, table: string, where = 'true') =>
  (await shop.rows(`select count(*)::integer as n from ${table} where ${where}`))[0].n
const customer = async (id: number, { shop }: Fed = fed) => {
  const [row] = await shop.rows(`select record from customer where id = '${id}'`)
  return row && JSON.parse(`${row.record}}`)
}
const stockOf = async (skuId: number, storeId: number, { shop }: Fed = fed): Promise<number | undefined> =>
  (await shop.rows(`select free_stock from stock where sku_id = '${skuId}' and store_id = '${storeId}'`))[0]?.free_stock
const personIds = ({ simulator }: Fed = fed) => [...simulator.state.persons.keys()]
/** SKUs in shops that have stock of them. */
function stocked({ simulator: { state } }: Fed = fed) {
  const shops = [...state.stores.values()].filter(store => store.kind === 'shop')
  return [...state.skus.values()].flatMap(sku =>
    shops.flatMap(store => {
      const quantity = state.stock.at(sku.row, store.column)
      return quantity > 0 ? [{ skuId: sku.id, storeId: store.id, quantity }] : []
    }),
  )
}

test('everything that the back office has arrives', async () => {
  const { state } = fed.simulator
  const shops = [...state.stores.values()].filter(store => store.kind === 'shop')
  const styles = [...state.styles.values()].filter(style => style.special !== 'freight')
  const bought = state.transactions.filter(sale => sale.personId !== null)
  assert.equal(await count(fed, 'store'), shops.length)
  assert.equal(await count(fed, 'product'), styles.length)
  assert.equal(
    await count(fed, 'variant'),
    styles.flatMap(style => style.colours.flatMap(colour => colour.skus)).length,
  )
  assert.equal(await count(fed, 'stock', 'free_stock > 0'), stocked().length)
  assert.equal(await count(fed, 'customer'), state.persons.size)
  assert.equal(await count(fed, 'retail_transaction'), bought.length)
  assert.equal(await count(fed, 'reward_account'), state.accounts.size)
  assert.ok(bought.length > 20 && state.accounts.size > 5 && stocked().length > 50)
  for (const { skuId, storeId, quantity } of stocked()) assert.equal(await stockOf(skuId, storeId), quantity)
  for (const person of state.persons.values()) {
    const found = await customer(person.id)
    assert.deepEqual(
      [found.surname, found.contact.email, found.privacy],
      [person.surname.trim(), person.email.trim() || null, person.privacy],
    )
    for (const [typeId, valueId] of person.references) {
      const { code, name } = state.referenceTypes.get(typeId)?.references.get(valueId) ?? {}
      const shown = Object.values(found.references).find(
        reference => (reference as { referenceValueId: string }).referenceValueId === String(valueId),
      )
      assert.deepEqual(shown, { code, name, referenceValueId: String(valueId) })
    }
  }
  for (const sale of bought) {
    const [row] = await fed.shop.rows(`select record from retail_transaction where id = '${sale.id}'`)
    const { lines, customerId, storeNumber, total } = JSON.parse(row.record)
    const store = state.stores.get(sale.storeId)
    assert.deepEqual(
      [customerId, lines.length, storeNumber, Number(total)],
      [
        String(sale.personId),
        sale.lines.length,
        store?.number || null,
        Number(sale.lines.reduce((sum, line) => sum + line.value, 0).toFixed(2)),
      ],
    )
    assert.ok(lines.some((line: { sku: string | null }) => line.sku !== null) || lines.length === 1)
  }
  const accounts = await fed.shop.rows(
    'select account_id, sum(total - redeemed - pending) as left from reward_lot group by 1',
  )
  assert.ok(accounts.length > 3)
})

test('a second run changes nothing, not a single stamp', async () => {
  // Stock that is nothing, or less, is only among the changes.
  await fed.sync('stock')
  const before = await fed.shop.everything()
  await fed.syncAll()
  assert.equal(await fed.shop.everything(), before)
  await fed.syncAll({ full: true })
  assert.equal(await fed.shop.everything(), before)
})

test('what changes arrives with the next run', async () => {
  const { simulator } = fed
  const [first = 0, second = 0] = personIds()
  const [item] = stocked()
  assert.ok(item)
  simulator.change({ kind: 'edit-person', id: first, fields: { surname: 'Changed', privacy: true } })
  simulator.change({ kind: 'set-stock', skuId: item.skuId, storeId: item.storeId, quantity: -3 })
  simulator.change({ kind: 'edit-sku', id: item.skuId, fields: { price: 12.5 } })
  simulator.change({ kind: 'edit-store', id: item.storeId, fields: { name: 'Moved' } })
  const sale = simulator.change({
    ...{ kind: 'till-sale', storeId: item.storeId, personId: second },
    lines: [{ skuId: item.skuId, quantity: 1 }],
  })
  simulator.change({ kind: 'edit-person', id: second, fields: { firstname: 'Buyer' } })
  await fed.syncAll()
  const found = await customer(first)
  assert.deepEqual([found.surname, found.privacy, found.emailSubscription], ['Changed', true, false])
  assert.equal(await stockOf(item.skuId, item.storeId), -4)
  const [variant] = await fed.shop.rows(`select price::text from variant where sku_id = '${item.skuId}'`)
  assert.equal(variant.price, '12.5000')
  assert.equal(await count(fed, 'store', `name = 'Moved'`), 1)
  assert.equal(await count(fed, 'retail_transaction', `id = '${sale}' and customer_id = '${second}'`), 1)
})

test('only what changed is asked for, and what did not is not stamped', async () => {
  await fed.syncAll()
  const before = await fed.shop.rows('select id, changed_at::text from customer order by id')
  const [, , third = 0] = personIds()
  fed.simulator.change({ kind: 'edit-person', id: third, fields: { surname: 'Alone' } })
  const result = await fed.sync('customers')
  assert.equal(result?.isFull, false)
  assert.deepEqual([result?.inserted, result?.changed], [0, 1])
  const after = await fed.shop.rows('select id, changed_at::text from customer order by id')
  const changed = after.filter((row, i) => row.changed_at !== before[i].changed_at).map(row => row.id)
  assert.deepEqual(changed, [String(third)])
})

test('a value of a reference that the cache does not have is fetched with the customer who has it', async () => {
  const [id = 0] = personIds()
  const type = [...fed.simulator.state.referenceTypes.values()].find(one => one.of === 'person')
  assert.ok(type)
  const value = fed.simulator.change({ kind: 'add-reference', typeId: type.id, code: 'NEW', name: 'Brand new' })
  fed.simulator.change({ kind: 'edit-person', id, fields: { references: { [type.id]: Number(value) } } })
  await fed.sync('customers')
  const { references } = await customer(id)
  assert.deepEqual(
    Object.values(references).find(one => (one as { referenceValueId: string }).referenceValueId === value),
    { code: 'NEW', name: 'Brand new', referenceValueId: value },
  )
})

test('changes of one second, and changes that are committed late, are not missed', async () => {
  for (const updatedAfter of ['after', 'from'] as const) {
    fed.simulator.set({ updatedAfter, stamps: 'keep' })
    fed.simulator.clock.freeze()
    const [a = 0, b = 0, c = 0] = personIds().slice(10)
    fed.simulator.change({
      kind: 'edit-person',
      id: a,
      fields: { jobTitle: updatedAfter, surname: `A ${updatedAfter}` },
    })
    await fed.sync('customers')
    fed.simulator.change({ kind: 'edit-person', id: b, fields: { surname: `B ${updatedAfter}` } })
    await fed.sync('customers')
    const wall = fed.simulator.clock.wall() - 5 * 60_000
    const late = new Date(Math.floor(wall / 1_000) * 1_000).toISOString().slice(0, 19)
    fed.simulator.change({ kind: 'edit-person', id: c, fields: { surname: `C ${updatedAfter}`, updated: late } })
    await fed.sync('customers')
    const names = [await customer(a), await customer(b), await customer(c)].map(({ surname }) => surname)
    assert.deepEqual(names, [`A ${updatedAfter}`, `B ${updatedAfter}`, `C ${updatedAfter}`])
    fed.simulator.clock.reset()
  }
  fed.simulator.set({ updatedAfter: 'after', stamps: 'bump' })
})

test('a back office whose clock is an hour ahead or behind loses no change', async t => {
  for (const hours of [1, -1]) {
    const other = await feedOf(t)
    other.simulator.clock.advance(hours * 3_600)
    await other.sync('references')
    await other.sync('stores')
    await other.sync('products')
    await other.sync('stock')
    await other.sync('customers')
    const [item] = stocked(other)
    assert.ok(item)
    for (const id of personIds(other).slice(0, 3)) {
      other.simulator.clock.advance(2)
      other.simulator.change({ kind: 'edit-person', id, fields: { surname: `S${id}` } })
      other.simulator.change({ kind: 'set-stock', skuId: item.skuId, storeId: item.storeId, quantity: 100 + id })
      await other.sync('customers')
      await other.sync('stock')
      assert.equal((await customer(id, other)).surname, `S${id}`)
      assert.equal(await stockOf(item.skuId, item.storeId, other), 100 + id)
    }
  }
})

test('below 2022.1 nobody is asked who changed, and everybody is read when it is time', async t => {
  const old = await feedOf(t, { release: '2021.1' })
  await old.syncAll()
  assert.equal(await count(old, 'customer'), sizes.persons)
  assert.equal(await count(old, 'stock', 'free_stock > 0'), stocked(old).length)
  const [id = 0] = personIds(old)
  old.simulator.change({ kind: 'edit-person', id, fields: { surname: 'Later' } })
  old.simulator.ledger.clear()
  assert.deepEqual([(await old.sync('customers'))?.read, old.simulator.ledger.callsTo({ path: '/Persons' })], [0, []])
  await old.shop.rows(`update sync_state set full_at = now() - interval '25 hours'`)
  assert.equal((await old.sync('customers'))?.isFull, true)
  assert.equal((await customer(id, old)).surname, 'Later')
  assert.ok(old.simulator.ledger.calls.every(call => !/updatedafter=2/i.test(call.path) || /Products/i.test(call.path)))
})

test('pages that repeat or are shuffled stop a run: its fault is kept, its mark stays, and nothing is taken away', async () => {
  for (const kind of ['same-page', 'shuffled'] as const)
    for (const name of ['customers', 'products'] as const) {
      await fed.sync(name)
      const before = await fed.shop.everything()
      const { since } = (await fed.state(name)) ?? {}
      fed.simulator.faults.add({ kind })
      await assert.rejects(fed.sync(name, { full: true }), /./)
      const state = await fed.state(name)
      assert.deepEqual([state?.since, state?.running], [since, false])
      assert.match(state?.fault ?? '', /^back_office_error/)
      assert.equal(await fed.shop.everything(), before)
      fed.simulator.faults.clear()
      await fed.sync(name)
      assert.equal((await fed.state(name))?.fault, null)
    }
})

test('all stock that breaks off takes nothing away', async () => {
  const item = stocked()[5]
  assert.ok(item)
  await fed.sync('stock', { full: true })
  const before = await count(fed, 'stock', 'free_stock > 0')
  for (const kind of ['truncated', 'malformed', 'html', 'empty-body', 'reset-during', 'hang'] as const) {
    fed.simulator.faults.add({ kind, path: '/Freestock/AllStyles' })
    const stopping = AbortSignal.timeout(kind === 'hang' ? 300 : 30_000)
    await assert.rejects(fed.sync('stock', { full: true, signal: stopping }), /./, kind)
    fed.simulator.faults.clear()
  }
  assert.equal(await count(fed, 'stock', 'free_stock > 0'), before)
})

test('what a whole run does not show is gone: stock becomes nothing, products and SKUs are deleted', async t => {
  const other = await feedOf(t)
  await other.syncAll()
  const { state } = other.simulator
  const [item] = stocked(other)
  assert.ok(item)
  const sku = state.skus.get(item.skuId)
  const store = state.stores.get(item.storeId)
  assert.ok(sku && store)
  // Nobody notes it, so that changes alone would never tell.
  state.stock.set(sku.row, store.column, 0, 0)
  const style = [...state.styles.values()].find(one => one !== sku.colour.style && one.colours.length > 0)
  assert.ok(style)
  state.styles.delete(style.id)
  const [lost] = sku.colour.skus.splice(0, 1)
  assert.ok(lost)
  const before = await count(other, 'product')
  await other.sync('products', { full: true })
  await other.sync('stock', { full: true })
  if (lost !== sku) assert.equal(await stockOf(item.skuId, item.storeId, other), 0)
  assert.equal(await count(other, 'product'), before - 1)
  assert.equal(await count(other, 'product', `product_id = '${style.id}'`), 0)
  assert.equal(await count(other, 'variant', `sku_id = '${lost.id}'`), 0)
  const [row] = await other.shop.rows(`select record from product where product_id = '${sku.colour.style.id}'`)
  assert.ok(!row.record.includes(`"skuId":"${lost.id}"`))
})

test('a whole run that shows less than half of what there was takes nothing away, and says so', async t => {
  const other = await feedOf(t, { sizes: { ...sizes, styles: 60 } })
  await other.syncAll()
  const before = await count(other, 'product')
  const { styles } = other.simulator.state
  for (const id of [...styles.keys()].slice(0, Math.ceil(styles.size * 0.6))) styles.delete(id)
  const result = await other.sync('products', { full: true })
  assert.deepEqual([await count(other, 'product'), result?.removed], [before, 0])
  assert.match(Object.keys(result?.notes ?? {}).join(), /of the list product are gone/)
  const zeroed = await other.sync('stock', { full: true })
  assert.match(Object.keys(zeroed?.notes ?? {}).join(), /of the list stock are gone/)
})

/** A feed that brings what a test has it bring. */
const madeOf = (portions: readonly Portion[], facts: Partial<Feed> = {}): Feed => ({
  ...{ name: 'made', everySeconds: 60, fullEverySeconds: 3_600, ...facts },
  async *pull() {
    yield* portions
  },
})

test('a whole run in which something cannot be told apart takes nothing away', async t => {
  const { shop, service } = await feedOf(t)
  const product = (productId: string): FeedRows['products'] => ({
    product: { productId, productCode: productId, name: productId, referenceValues: {} },
    colour: { productId, colourId: '1', code: null, name: null },
    variant: { productId, colourId: '1', skuId: productId, sizeCode: '-', price: '1.00' },
  })
  const products = ['a', 'b', 'c'].map(product)
  const run = (portion: Portion) => syncFeed(shop.db, service, madeOf([portion], { whole: ['variant', 'product'] }))
  const left = async () => (await shop.rows('select product_id from product order by 1')).map(row => row.product_id)
  const seen = [
    { list: 'product', ids: ['a'] },
    { list: 'variant', ids: ['a'] },
  ]
  await run({ rows: { products }, seen, isUnclear: true })
  assert.deepEqual(await left(), ['a', 'b', 'c'])
  await run({ rows: { products }, seen })
  assert.deepEqual(await left(), ['a'])
})

test('a list with fewer records than it says fails the run, and its mark stays', async t => {
  const { shop, service, state } = await feedOf(t)
  const seen = [{ list: 'customer', ids: ['1', '2', '2'] }]
  const end = (atLeast: number, since: string) => ({ end: { since, total: { list: 'customer', atLeast } } })
  await syncFeed(shop.db, service, madeOf([{ seen }, end(2, 'first')]))
  await assert.rejects(syncFeed(shop.db, service, madeOf([{ seen }, end(3, 'second')])), /fewer/)
  assert.equal((await state('made'))?.since, 'first')
})

test('everything is read again when it is time, or when changes are too old to be asked for', async t => {
  const { shop, service } = await feedOf(t)
  const feed = madeOf([{ end: { since: 'mark' } }], { reachSeconds: 7_200 })
  const run = async () => (await syncFeed(shop.db, service, feed))?.isFull
  assert.deepEqual([await run(), await run()], [true, false])
  await shop.rows(`update sync_state set full_at = now() - interval '61 minutes'`)
  assert.deepEqual([await run(), await run()], [true, false])
  await shop.rows(`update sync_state set finished_at = now() - interval '121 minutes'`)
  assert.deepEqual([await run(), await run()], [true, false])
})

test('changes alone take nothing away', async () => {
  const before = await count(fed, 'product')
  const result = await fed.sync('products')
  assert.deepEqual([result?.isFull, await count(fed, 'product')], [false, before])
})

test('a feed has one run at a time, and is free again when that is dead', async () => {
  fed.simulator.faults.add({ kind: 'latency', seconds: 0.5, path: '/Stores', times: 1 })
  const first = fed.sync('stores')
  while (!fed.simulator.ledger.callsTo({ path: '/Stores' }).length) await delay(5)
  assert.equal((await fed.state('stores'))?.running, true)
  assert.equal(await fed.sync('stores'), undefined)
  assert.ok(await first)
  await fed.shop.rows(
    `update sync_state set run = gen_random_uuid(), beat_at = now() - interval '59 seconds' where feed = 'stores'`,
  )
  assert.equal(await fed.sync('stores'), undefined)
  await fed.shop.rows(`update sync_state set beat_at = now() - interval '61 seconds' where feed = 'stores'`)
  assert.ok(await fed.sync('stores'))
})

test('a run that another one took over stops at its next portion', async () => {
  let portions = 0
  const onProgress = () => {
    portions++
  }
  fed.simulator.faults.add({ kind: 'latency', seconds: 0.3, path: '/Persons' })
  const first = fed.sync('customers', { full: true, onProgress })
  while (!fed.simulator.ledger.callsTo({ path: '/Persons' }).length) await delay(5)
  await fed.shop.rows(`update sync_state set run = gen_random_uuid() where feed = 'customers'`)
  await assert.rejects(first, /taken over/)
  assert.equal(portions, 0)
  await fed.shop.rows(`update sync_state set run = null, beat_at = null where feed = 'customers'`)
})

test('a killed run is repeated without harm', async t => {
  const [plain, killed] = [await feedOf(t), await feedOf(t)]
  await plain.syncAll()
  killed.simulator.faults.add({ kind: 'latency', seconds: 0.1 })
  const script = `
    import { openDatabase } from './src/db.ts'
    import { feedsOf } from './src/backoffice/apparel21/feeds.ts'
    import { openClient } from './src/backoffice/apparel21/http.ts'
    import { releaseOf } from './src/backoffice/apparel21/release.ts'
    import { syncFeed } from './src/backoffice/sync.ts'
    const { connection, url, service } = JSON.parse(process.argv[1])
    const db = openDatabase(connection)
    const client = openClient({ url, countryCode: 'AU', timeZone: '${timeZone}', limits: { pageRows: 10 } })
    for (const feed of feedsOf(client, releaseOf(client))) await syncFeed(db, service, feed)`
  const given = { connection: killed.shop.connection, url: killed.simulator.url, service: killed.service }
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, JSON.stringify(given)], {
    cwd: new URL('..', import.meta.url),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exited = once(child, 'exit')
  while (!(await count(killed, 'customer')) && child.exitCode === null) await delay(20)
  child.kill('SIGKILL')
  const [, signal] = await exited
  assert.equal(signal, 'SIGKILL')
  assert.ok((await count(killed, 'customer')) < sizes.persons)
  killed.simulator.faults.clear()
  await killed.shop.rows(`update sync_state set beat_at = now() - interval '2 minutes' where beat_at is not null`)
  await killed.syncAll()
  for (const table of ['store', 'product', 'customer', 'retail_transaction', 'reward_account', 'reward_lot'])
    assert.deepEqual([table, await count(killed, table)], [table, await count(plain, table)])
  for (const { skuId, storeId, quantity } of stocked(killed))
    assert.equal(await stockOf(skuId, storeId, killed), quantity)
  const records = ({ shop }: Fed) => shop.rows(`select left(record, -43) as said from customer order by id`)
  assert.deepEqual(await records(killed), await records(plain))
})

test('of two customers with one e-mail address the second is kept without it', async () => {
  const [, , , , a = 0, b = 0] = personIds()
  const { email } = fed.simulator.state.persons.get(a) ?? { email: '' }
  fed.simulator.change({ kind: 'edit-person', id: b, fields: { email: email.toUpperCase(), surname: 'Twin' } })
  const result = await fed.sync('customers')
  const [first, second] = [await customer(a), await customer(b)]
  assert.deepEqual([first.contact.email, second.contact.email, second.surname], [email.trim(), null, 'Twin'])
  assert.ok(Object.keys(result?.notes ?? {}).some(text => text.includes('e-mail address')))
})

test('two stores that change their numbers both arrive', async () => {
  const shops = [...fed.simulator.state.stores.values()].filter(store => store.kind === 'shop')
  const [a, b] = shops
  assert.ok(a && b)
  const was = a.number
  fed.simulator.change({ kind: 'edit-store', id: b.id, fields: { number: '998' } })
  fed.simulator.change({ kind: 'edit-store', id: a.id, fields: { number: b.number === '998' ? '997' : b.number } })
  await fed.sync('stores')
  assert.equal(await count(fed, 'store', `store_id = '${b.id}' and store_number = '998'`), 1)
  fed.simulator.change({ kind: 'edit-store', id: a.id, fields: { number: '998' } })
  fed.simulator.change({ kind: 'edit-store', id: b.id, fields: { number: was } })
  const { refused } = (await fed.sync('stores')) ?? {}
  assert.equal(refused, 0)
  assert.equal(await count(fed, 'store', `store_id = '${a.id}' and store_number = '998'`), 1)
  assert.equal(await count(fed, 'store', `store_id = '${b.id}' and store_number = '${was}'`), 1)
})

test('a sale that moves no stamp is found when the customer is visited again', async () => {
  const [item] = stocked()
  assert.ok(item)
  const personId = personIds()[7] ?? 0
  await fed.sync('customers')
  await fed.sync('transactions')
  const sale = fed.simulator.change({
    ...{ kind: 'till-sale', storeId: item.storeId, personId },
    lines: [{ skuId: item.skuId, quantity: 1 }],
  })
  await fed.sync('transactions')
  assert.equal(await count(fed, 'retail_transaction', `id = '${sale}'`), 0)
  await fed.shop.rows(`update sync_visit set visited_at = now() - interval '25 hours' where feed = 'transactions'`)
  await fed.sync('transactions')
  assert.equal(await count(fed, 'retail_transaction', `id = '${sale}'`), 1)
})

test('a history that cannot be read is passed over, and the others arrive', async t => {
  const other = await feedOf(t)
  await other.sync('customers')
  const [broken = 0] = other.simulator.state.transactions.flatMap(sale => sale.personId ?? [])
  other.simulator.faults.add({ kind: 'malformed', path: `/Persons/${broken}/RetailTransactions` })
  const result = await other.sync('transactions')
  const others = other.simulator.state.transactions.filter(sale => sale.personId !== null && sale.personId !== broken)
  assert.deepEqual([result?.refused, await count(other, 'retail_transaction')], [1, others.length])
})

test('visits that break off go on where they stopped', async t => {
  const other = await feedOf(t)
  await other.sync('customers')
  const stopping = new AbortController()
  let portions = 0
  const onProgress = () => {
    if (++portions === 12) stopping.abort()
  }
  await assert.rejects(other.sync('transactions', { signal: stopping.signal, onProgress }), /./)
  assert.match((await other.state('transactions'))?.fault ?? '', /stopped/)
  const visited = other.simulator.ledger.callsTo({ path: '/Persons/*/RetailTransactions' }).length
  assert.ok(visited < sizes.persons / 2, `${visited}`)
  await other.sync('transactions')
  const all = other.simulator.ledger.callsTo({ path: '/Persons/*/RetailTransactions' }).length
  assert.ok(all < sizes.persons + 10, `${all}`)
  const bought = other.simulator.state.transactions.filter(sale => sale.personId !== null)
  assert.equal(await count(other, 'retail_transaction'), bought.length)
})

test('a back office that is away leaves its fault, and the next run goes on', async () => {
  await fed.simulator.refuse()
  await assert.rejects(fed.sync('customers'), /./)
  assert.match((await fed.state('customers'))?.fault ?? '', /^back_office_unavailable/)
  await fed.simulator.accept()
  assert.ok(await fed.sync('customers'))
  assert.equal((await fed.state('customers'))?.fault, null)
})

test('points that are gone upstream are gone here', async () => {
  const account = [...fed.simulator.state.accounts.values()].find(one => one.points.length > 0)
  assert.ok(account)
  const lots = () => count(fed, 'reward_lot', `account_id = '${account.id}' and kind = 'points'`)
  const before = await lots()
  assert.ok(before > 0)
  account.points.splice(0)
  fed.simulator.change({ kind: 'edit-person', id: account.personId, fields: { jobTitle: 'x' } })
  await fed.sync('customers')
  await fed.sync('reward-accounts')
  assert.equal(await lots(), 0)
})
