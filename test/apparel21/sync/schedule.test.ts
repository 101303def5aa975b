import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  countRows,
  findStocked,
  getPersonIds,
  loadCustomer,
  loadFreeStock,
  startFilledSyncFixture,
  startSyncFixtureFor,
} from './sync-fixture.ts'

const fixture = await startFilledSyncFixture()

test('a first sync imports everything from the back office', async () => {
  const { state } = fixture.simulator
  const styles = [...state.styles.values()].filter(style => style.special !== 'freight')
  const customerSales = state.transactions.filter(sale => sale.personId !== null)
  assert.equal(await countRows(fixture, 'store'), state.stores.size)
  assert.equal(await countRows(fixture, 'product'), styles.length)
  assert.equal(
    await countRows(fixture, 'variant'),
    styles.flatMap(style => style.colours.flatMap(colour => colour.skus)).length,
  )
  assert.equal(await countRows(fixture, 'stock', 'free_stock > 0'), findStocked(fixture).length)
  assert.equal(await countRows(fixture, 'customer'), state.persons.size)
  assert.equal(await countRows(fixture, 'retail_transaction'), customerSales.length)
  assert.equal(await countRows(fixture, 'reward_account'), state.accounts.size)
  assert.ok(customerSales.length > 20 && state.accounts.size > 5 && findStocked(fixture).length > 50)
  for (const { skuId, storeId, quantity } of findStocked(fixture))
    assert.equal(await loadFreeStock(skuId, storeId, fixture), quantity)
  for (const person of state.persons.values()) {
    const record = await loadCustomer(person.id, fixture)
    assert.deepEqual(
      [record.surname, record.contact.email, record.privacy],
      [person.surname.trim(), person.email.trim() || null, person.privacy],
    )
    for (const [typeId, valueId] of person.references) {
      const { code, name } = state.referenceTypes.get(typeId)?.references.get(valueId) ?? {}
      const shownReference = Object.values(record.references).find(
        reference => (reference as { referenceValueId: string }).referenceValueId === String(valueId),
      )
      assert.deepEqual(shownReference, { code, name, referenceValueId: String(valueId) })
    }
  }
  for (const sale of customerSales) {
    const [row] = await fixture.shop.queryRows(`select record from retail_transaction where id = '${sale.id}'`)
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
  const accounts = await fixture.shop.queryRows(
    'select account_id, sum(total - redeemed - pending) as left from reward_lot group by 1',
  )
  assert.ok(accounts.length > 3)
})

test('a second run changes no timestamp', async () => {
  // Only incremental syncs include stock of 0 or less.
  await fixture.sync('stock')
  const before = await fixture.shop.dumpTables()
  await fixture.syncAll()
  assert.equal(await fixture.shop.dumpTables(), before)
  await fixture.syncAll({ full: true })
  assert.equal(await fixture.shop.dumpTables(), before)
})

test('the next run imports changes', async () => {
  const { simulator } = fixture
  const [first = 0, second = 0] = getPersonIds(fixture)
  const item = findStocked(fixture).find(({ storeId }) => simulator.state.stores.get(storeId)?.kind === 'shop')
  assert.ok(item)
  simulator.change({ kind: 'edit-person', id: first, fields: { surname: 'Changed', privacy: true } })
  simulator.change({ kind: 'set-stock', skuId: item.skuId, storeId: item.storeId, quantity: -3 })
  simulator.change({ kind: 'edit-sku', id: item.skuId, fields: { price: 12.5 } })
  simulator.change({ kind: 'edit-store', id: item.storeId, fields: { name: 'Moved' } })
  const sale = simulator.change({
    kind: 'till-sale',
    storeId: item.storeId,
    personId: second,
    lines: [{ skuId: item.skuId, quantity: 1 }],
  })
  simulator.change({ kind: 'edit-person', id: second, fields: { firstname: 'Buyer' } })
  await fixture.syncAll()
  const record = await loadCustomer(first, fixture)
  assert.deepEqual([record.surname, record.privacy, record.emailSubscription], ['Changed', true, false])
  assert.equal(await loadFreeStock(item.skuId, item.storeId, fixture), -4)
  const [variant] = await fixture.shop.queryRows(`select price::text from variant where sku_id = '${item.skuId}'`)
  assert.equal(variant.price, '12.5000')
  assert.equal(await countRows(fixture, 'store', `name = 'Moved'`), 1)
  assert.equal(await countRows(fixture, 'retail_transaction', `id = '${sale}' and customer_id = '${second}'`), 1)
})

test('a run reads only changes and updates only changed timestamps', async () => {
  await fixture.syncAll()
  const before = await fixture.shop.queryRows('select id, changed_at::text from customer order by id')
  const [, , third = 0] = getPersonIds(fixture)
  fixture.simulator.change({ kind: 'edit-person', id: third, fields: { surname: 'Alone' } })
  const result = await fixture.sync('customers')
  assert.equal(result?.isFull, false)
  assert.deepEqual([result?.inserted, result?.changed], [0, 1])
  const after = await fixture.shop.queryRows('select id, changed_at::text from customer order by id')
  const changed = after.filter((row, i) => row.changed_at !== before[i].changed_at).map(row => row.id)
  assert.deepEqual(changed, [String(third)])
})

test('a missing reference value is fetched with its customer', async () => {
  const [id = 0] = getPersonIds(fixture)
  const type = [...fixture.simulator.state.referenceTypes.values()].find(
    referenceType => referenceType.recordType === 'person',
  )
  assert.ok(type)
  const value = fixture.simulator.change({ kind: 'add-reference', typeId: type.id, code: 'NEW', name: 'Brand new' })
  fixture.simulator.change({ kind: 'edit-person', id, fields: { references: { [type.id]: Number(value) } } })
  await fixture.sync('customers')
  const { references } = await loadCustomer(id, fixture)
  assert.deepEqual(
    Object.values(references).find(reference => (reference as { referenceValueId: string }).referenceValueId === value),
    { code: 'NEW', name: 'Brand new', referenceValueId: value },
  )
})

test('changes of one second and late commits are not missed', async () => {
  for (const updatedAfter of ['after', 'from'] as const) {
    fixture.simulator.set({ updatedAfter, timestamps: 'keep' })
    fixture.simulator.clock.freeze()
    const [a = 0, b = 0, c = 0] = getPersonIds(fixture).slice(10)
    fixture.simulator.change({
      kind: 'edit-person',
      id: a,
      fields: { jobTitle: updatedAfter, surname: `A ${updatedAfter}` },
    })
    await fixture.sync('customers')
    fixture.simulator.change({ kind: 'edit-person', id: b, fields: { surname: `B ${updatedAfter}` } })
    await fixture.sync('customers')
    const wall = fixture.simulator.clock.wall() - 5 * 60_000
    const lateTimestamp = new Date(Math.floor(wall / 1_000) * 1_000).toISOString().slice(0, 19)
    fixture.simulator.change({
      kind: 'edit-person',
      id: c,
      fields: { surname: `C ${updatedAfter}`, updated: lateTimestamp },
    })
    await fixture.sync('customers')
    const names = [await loadCustomer(a, fixture), await loadCustomer(b, fixture), await loadCustomer(c, fixture)].map(
      ({ surname }) => surname,
    )
    assert.deepEqual(names, [`A ${updatedAfter}`, `B ${updatedAfter}`, `C ${updatedAfter}`])
    fixture.simulator.clock.reset()
  }
  fixture.simulator.set({ updatedAfter: 'after', timestamps: 'bump' })
})

test('a back office clock an hour ahead or behind loses no change', async t => {
  for (const hours of [1, -1]) {
    const other = await startSyncFixtureFor(t)
    other.simulator.clock.advance(hours * 3_600)
    await other.sync('references')
    await other.sync('stores')
    await other.sync('products')
    await other.sync('stock')
    await other.sync('customers')
    const [item] = findStocked(other)
    assert.ok(item)
    for (const id of getPersonIds(other).slice(0, 3)) {
      other.simulator.clock.advance(2)
      other.simulator.change({ kind: 'edit-person', id, fields: { surname: `S${id}` } })
      other.simulator.change({ kind: 'set-stock', skuId: item.skuId, storeId: item.storeId, quantity: 100 + id })
      await other.sync('customers')
      await other.sync('stock')
      assert.equal((await loadCustomer(id, other)).surname, `S${id}`)
      assert.equal(await loadFreeStock(item.skuId, item.storeId, other), 100 + id)
    }
  }
})

test('the second of two customers with one email is stored without it', async () => {
  const [, , , , a = 0, b = 0] = getPersonIds(fixture)
  const { email } = fixture.simulator.state.persons.get(a) ?? { email: '' }
  fixture.simulator.change({ kind: 'edit-person', id: b, fields: { email: email.toUpperCase(), surname: 'Twin' } })
  const result = await fixture.sync('customers')
  const [first, second] = [await loadCustomer(a, fixture), await loadCustomer(b, fixture)]
  assert.deepEqual([first.contact.email, second.contact.email, second.surname], [email.trim(), null, 'Twin'])
  assert.ok(Object.keys(result?.notes ?? {}).some(text => text.includes('email address')))
})

test('two stores that swap numbers are both stored', async () => {
  const shops = [...fixture.simulator.state.stores.values()].filter(store => store.kind === 'shop')
  const [a, b] = shops
  assert.ok(a && b)
  const numberBefore = a.number
  fixture.simulator.change({ kind: 'edit-store', id: b.id, fields: { number: '998' } })
  fixture.simulator.change({ kind: 'edit-store', id: a.id, fields: { number: b.number === '998' ? '997' : b.number } })
  await fixture.sync('stores')
  assert.equal(await countRows(fixture, 'store', `store_id = '${b.id}' and store_number = '998'`), 1)
  fixture.simulator.change({ kind: 'edit-store', id: a.id, fields: { number: '998' } })
  fixture.simulator.change({ kind: 'edit-store', id: b.id, fields: { number: numberBefore } })
  const { rejected } = (await fixture.sync('stores')) ?? {}
  assert.equal(rejected, 0)
  assert.equal(await countRows(fixture, 'store', `store_id = '${a.id}' and store_number = '998'`), 1)
  assert.equal(await countRows(fixture, 'store', `store_id = '${b.id}' and store_number = '${numberBefore}'`), 1)
})

test('a sale that changes no timestamp is found at the next refresh', async () => {
  const [item] = findStocked(fixture)
  assert.ok(item)
  const personId = getPersonIds(fixture)[7] ?? 0
  await fixture.sync('customers')
  await fixture.sync('transactions')
  const sale = fixture.simulator.change({
    kind: 'till-sale',
    storeId: item.storeId,
    personId,
    lines: [{ skuId: item.skuId, quantity: 1 }],
  })
  await fixture.sync('transactions')
  assert.equal(await countRows(fixture, 'retail_transaction', `id = '${sale}'`), 0)
  await fixture.shop.queryRows(
    `update sync_refresh set refreshed_at = now() - interval '25 hours' where sync = 'transactions'`,
  )
  await fixture.sync('transactions')
  assert.equal(await countRows(fixture, 'retail_transaction', `id = '${sale}'`), 1)
})

test('points deleted upstream are deleted here with tombstones', async () => {
  const soon = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10)
  const account = [...fixture.simulator.state.accounts.values()].find(candidate =>
    candidate.points.some(({ expires }) => expires > soon),
  )
  assert.ok(account)
  const countLots = () => countRows(fixture, 'reward_lot', `account_id = '${account.id}'`)
  const loadTimestamp = async () =>
    (await fixture.shop.queryRows(`select changed_at::text as at from reward_account where id = '${account.id}'`))[0].at
  const [lotCount, before] = [await countLots(), await loadTimestamp()]
  assert.ok(lotCount > 0)
  for (const kind of ['points', 'rewards', 'gifts'] as const) account[kind].splice(0)
  fixture.simulator.change({ kind: 'edit-person', id: account.personId, fields: { jobTitle: 'x' } })
  await fixture.sync('customers')
  await fixture.sync('reward-accounts')
  assert.equal(await countLots(), 0)
  assert.ok((await loadTimestamp()) > before)
})
