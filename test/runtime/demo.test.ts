import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, test } from 'node:test'
import { Compile } from 'typebox/compile'
import { Check } from 'typebox/value'
import { demoSettings, fillDemoShop } from '../../seed/shop.ts'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { raw, sql } from '../../src/database/db.ts'
import { Product } from '../../src/domain/catalog/products.ts'
import { Reference } from '../../src/domain/catalog/references.ts'
import { StaffMember } from '../../src/domain/catalog/staff.ts'
import { Store } from '../../src/domain/catalog/stores.ts'
import { Customer } from '../../src/domain/customers/customers.ts'
import { StockLevel } from '../../src/domain/inventory/stock-level.ts'
import { RetailTransaction } from '../../src/domain/orders/transactions.ts'
import { RewardAccount, RewardProgram } from '../../src/domain/rewards/rewards.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import { findRewardAccount, listRewardPrograms } from '../../src/store/rewards/rewards.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import { createTestDatabase } from '../support/database.ts'

const { db, drop } = await createTestDatabase()
after(drop)

const keys = deriveKeys('the keys of this test, and of no installation')
const progress: string[] = []
const service = (await addService(db, 'demo', demoSettings)) as Service
const twin = (await addService(db, 'twin', demoSettings)) as Service
await fillDemoShop(db, keys, service, text => progress.push(text))
await fillDemoShop(db, keys, twin)

const readRecords = async <T>(table: string, record = 'record', order = 'record') =>
  (
    await db.rows<{ record: string }>(
      sql`select ${raw(record)} as record from ${raw(table)} where service_id = ${service.id} order by ${raw(order)}`,
    )
  ).map(row => JSON.parse(row.record) as T)
const stores = await readRecords<Store>('store')
const staff = await readRecords<StaffMember>('staff')
const products = await readRecords<Product>('product')
const stock = await readRecords<StockLevel>('stock')
const customers = await readRecords<Customer>('customer', "record || '}'")
const transactions = await readRecords<RetailTransaction>('retail_transaction', 'record', 'sale_date, id')

const assertBetween = (value: number, min: number, max: number) =>
  assert.ok(value >= min && value <= max, `${value} must be from ${min} to ${max}`)
const toCents = (amount: string) => Math.round(Number(amount) * 100)
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)
const listSizes = () => products.flatMap(product => product.colours.flatMap(colour => colour.sizes))

test('the shop has about 20 stores, 150 styles and 20,000 transactions', () => {
  assertBetween(stores.length, 18, 22)
  assertBetween(products.length, 145, 155)
  assertBetween(customers.length, 4_900, 5_100)
  assertBetween(transactions.length, 19_500, 20_500)
  const returns = transactions.filter(({ lines }) => lines.some(line => line.quantity < 0))
  assertBetween(returns.length / transactions.length, 0.05, 0.07)
  for (const store of stores)
    assertBetween(staff.filter(member => member.storeNumber === store.storeNumber).length, 3, 8)
  const styles = products.filter(product => product.productCode !== demoSettings.giftCardSku)
  assert.equal(styles.length, products.length - 1)
  for (const style of styles) assertBetween(style.colours.length, 2, 5)
  assert.equal(new Set(products.map(product => product.description || null)).size, products.length)
})

test('each step of creating the shop prints a line', () => {
  assert.ok(progress.includes('Stores: 20'))
  assert.ok(progress.every(text => /^[\w, ]+: [\d,]+$/.test(text)))
})

test('two services have the same shop with equal timestamps', async () => {
  const tables =
    'store staff reference product colour variant stock customer retail_transaction reward_program reward_tier reward_gift reward_account reward_lot payment_gateway'
  for (const table of tables.split(' ')) {
    const digests = await db.rows<{ count: string; digest: string }>(sql`
      select count(*), md5(string_agg(content, ' ' order by content)) as digest from (
        select service_id, (to_jsonb(t) - 'service_id' - ${table === 'reward_account' ? 'changed_at' : ''}::text)::text as content
          from ${raw(table)} t) r group by service_id`)
    assert.equal(digests.length, 2, table)
    assert.deepEqual(digests[0], digests[1], table)
  }
})

test('the shop is the same in another time zone and language', () => {
  const cwd = new URL('../..', import.meta.url)
  const script = `
    import { hash } from 'node:crypto'
    import { makeDemoShop } from './seed/shop.ts'
    console.log(hash('sha256', JSON.stringify(makeDemoShop())))`
  const runDigest = (env: object) =>
    spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd, env: { ...process.env, ...env } })
  const { stdout } = runDigest({ TZ: 'Pacific/Kiritimati', LC_ALL: 'tr_TR.UTF-8' })
  assert.match(String(stdout), /^[0-9a-f]{64}\n$/)
  assert.deepEqual(runDigest({ TZ: 'America/New_York', LC_ALL: 'C' }).stdout, stdout)
})

test('every record matches the API schema', async () => {
  const schemas = [
    [Store, stores],
    [StaffMember, staff],
    [Product, products],
    [StockLevel, stock],
    [RetailTransaction, transactions],
    [Customer, await readRecords<Customer>('customer', 'record || ecommerce_ids')],
  ] as const
  for (const [schema, all] of schemas) {
    const compiled = Compile({ Reference }, schema)
    const invalidRecord = all.find(record => !compiled.Check(record))
    assert.equal(invalidRecord, undefined, JSON.stringify(invalidRecord))
  }
  const programs = JSON.parse(await listRewardPrograms(db, service)) as RewardProgram[]
  assert.ok(programs.length === 1 && programs.every(program => Check(RewardProgram, program)))
})

test('totals equal lines and lines equal units less discount', () => {
  for (const { id, total, lines } of transactions) {
    assert.equal(toCents(total), sum(lines.map(line => toCents(line.value))), id)
    for (const line of lines) {
      const units = toCents(line.price) * Math.abs(line.quantity)
      const discount = sum(line.discounts.map(({ amount }) => toCents(amount)))
      assert.equal(toCents(line.value), Math.sign(line.quantity) * (units - discount), id)
      for (const { percentage } of line.discounts)
        assert.ok(Math.abs(discount - (units * Number(percentage)) / 100) <= Math.abs(line.quantity) / 2, id)
    }
  }
})

test('transactions refer to existing records except for one discontinued item', () => {
  const skus = new Set(listSizes().map(size => size.ecommerceSku))
  const ids = new Set(customers.map(customer => customer.id))
  const names = new Map(stores.map(store => [store.storeNumber, store.name]))
  const lines = transactions.flatMap(transaction => transaction.lines)
  assert.equal(lines.filter(line => line.sku === null).length, 2)
  assert.ok(lines.every(line => line.sku === null || skus.has(line.sku)))
  for (const { id, customerId, storeNumber, storeName, channel, orderNumber } of transactions) {
    assert.ok(customerId === null ? channel === 'store' : ids.has(customerId), id)
    assert.ok(storeNumber === null ? channel === 'headOffice' : names.get(storeNumber) === storeName, id)
    assert.ok(orderNumber === null || channel === 'web', id)
  }
})

test('each till numbers its receipts from one in time order', () => {
  const last = new Map<string, number>()
  for (const { number, storeNumber } of transactions) {
    const till = storeNumber ?? '000'
    const next = (last.get(till) ?? 0) + 1
    assert.equal(number, `R${till}${String(next).padStart(6, '0')}`)
    last.set(till, next)
  }
})

test('customers never return or get back more than they paid', () => {
  const bought = new Map<string, { units: number; paid: number }>()
  for (const { id, customerId, lines } of transactions)
    for (const { sku, quantity, value } of lines) {
      const earlier = bought.get(`${customerId} ${sku}`) ?? { units: 0, paid: 0 }
      const total = { units: earlier.units + quantity, paid: earlier.paid + toCents(value) }
      assert.ok(total.units >= 0 && total.paid >= 0, `${id}: ${sku}`)
      bought.set(`${customerId} ${sku}`, total)
    }
})

test('the top tenth of customers buys at least a third', () => {
  const counts = [...Map.groupBy(transactions, transaction => transaction.customerId)].flatMap(([id, own]) =>
    id === null ? [] : own.length,
  )
  counts.sort((a, b) => b - a)
  assert.ok(sum(counts.slice(0, 500)) > sum(counts) / 3)
})

test('barcodes are unique in-store EAN-13 with valid check digits', () => {
  const barcodes = listSizes().map(size => size.barcode ?? '')
  assert.equal(new Set(barcodes).size, barcodes.length)
  for (const barcode of barcodes) {
    assert.match(barcode, /^2\d{12}$/)
    assert.equal(sum([...barcode].map((digit, i) => Number(digit) * (i % 2 ? 3 : 1))) % 10, 0, barcode)
  }
})

test('email addresses and telephone numbers are unique and fictional', () => {
  const emails = customers.flatMap(customer => customer.contact.email ?? [])
  assert.equal(new Set(emails.map(email => email.toLowerCase())).size, emails.length)
  assert.ok(emails.length < customers.length)
  assert.ok(emails.every(email => /^[a-z0-9._]+@example\.(com|net|org)$/.test(email)))
  const phones = customers.flatMap(({ contact }) => Object.values(contact.phones).flatMap(phone => phone ?? []))
  assert.ok(phones.every(phone => /^(0|\+61 )491 57\d \d{3}$|^\(0[2378]\) (5550|7010) \d{4}$/.test(phone)))
})

test('some stock is zero or negative and locations are incomplete', () => {
  assert.ok(stock.some(level => level.freeStock === 0) && stock.some(level => level.freeStock < 0))
  assert.ok(stores.every(store => stock.some(level => level.storeId === store.storeId)))
  const locations = stores.flatMap(store => store.ecommerceLocationId ?? [])
  assert.equal(new Set(locations).size, locations.length - 1)
  assertBetween(stores.length - locations.length, 2, 5)
})

test("a member's account matches tier, purchases and lots", async () => {
  const ends = '2026-10-31'
  const spentCents = new Map<string | null, number>()
  const accounts = await db.rows<{ id: string; customer_id: string; since: string; spend: string }>(
    sql`select id, customer_id, join_date::text as since, qualifying_spend::text as spend from reward_account where service_id = ${service.id}`,
  )
  const joinDates = new Map(accounts.map(account => [account.customer_id, account.since]))
  for (const { customerId, saleDate, total } of transactions) {
    const day = saleDate.slice(0, 10)
    if (day > '2025-10-31' && day <= ends && day >= (joinDates.get(customerId ?? '') ?? '9'))
      spentCents.set(customerId, (spentCents.get(customerId) ?? 0) + toCents(total))
  }
  const tierNames = new Map(customers.map(customer => [customer.id, customer.loyaltyName]))
  assert.equal(accounts.length, [...tierNames.values()].filter(name => name !== null).length)
  for (const { customer_id, spend } of accounts)
    assert.equal(toCents(spend), Math.max(0, spentCents.get(customer_id) ?? 0), customer_id)
  for (const { id, customer_id } of accounts.filter((_, i) => i % 15 === 0)) {
    const account = JSON.parse((await findRewardAccount(db, service, { id }))?.record ?? 'null') as RewardAccount
    assert.ok(Check(RewardAccount, account), id)
    assert.equal(account.tierName, tierNames.get(customer_id))
  }
})

test('sufficient points become rewards, and everything expires in 2027-2029', async () => {
  // Reads the tables, because the API's view of an account depends on today's date.
  const lots = await db.rows<
    Record<'account_id' | 'kind' | 'description' | 'expires', string> & Record<'total' | 'redeemed' | 'pending', number>
  >(sql`
    select account_id, kind, description, expiry_date::text as expires, total::float, redeemed::float, pending::float
      from reward_lot where service_id = ${service.id}`)
  for (const [id, own] of Map.groupBy(lots, lot => lot.account_id)) {
    const points = own.filter(lot => lot.kind === 'points')
    const created = own.flatMap(lot => (lot.kind === 'reward' ? Number(/\d+/.exec(lot.description)) : []))
    assert.equal(sum(points.map(lot => lot.redeemed)), sum(created), id)
    assertBetween(sum(points.map(lot => lot.total - lot.redeemed)), 0, 299)
    for (const lot of own) {
      assert.ok(lot.redeemed + lot.pending <= lot.total, id)
      assertBetween(Number(lot.expires.slice(0, 4)), 2027, 2029)
    }
  }
})

test('each gift voucher equals its ledger', async () => {
  const rows = await db.rows<{ number: string; balance: string; sum: string }>(sql`
    select v.number, v.balance::text, sum(e.amount)::text as sum from voucher v join voucher_entry e using (service_id, number)
     where service_id = ${service.id} group by v.number, v.balance`)
  assertBetween(rows.length, 200, 300)
  for (const row of rows) assert.equal(row.balance, row.sum)
})
