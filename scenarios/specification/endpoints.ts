import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { assertRejected, dataOf } from './api.ts'
import { customerRequests } from './customers.ts'
import { fields, paths, pinHeader, returnOf, voucherOf } from './names.ts'
import { NotTried, requireValue } from './not-tried.ts'
import { holdsAHundred, isPaged } from './paginate.ts'
import { section, statement } from './statement.ts'

const sales = '/orders/transactions/search'

export const endpoints = section(
  '4. Endpoints',
  statement('GET /stores: no required parameters; a JSON object containing the list of stores', async ({ api }) => {
    const { status, body } = await api.get('/stores')
    assert.deepEqual([status, typeof body, Array.isArray(body.data)], [200, 'object', true])
  }),
  statement('GET /staff: optional query filters email and code', async ({ api }) => {
    const staff = dataOf(await api.get('/staff'))
    const store = requireValue(
      staff.find(({ email }: { email: string | null }) => email),
      'there is no staff',
    )
    for (const name of ['email', 'code']) {
      const filteredStaff = dataOf(await api.get('/staff', { [name]: store[name] }))
      assert.ok(filteredStaff.length > 0)
      for (const member of filteredStaff) assert.equal(member[name], store[name])
    }
    assert.deepEqual(dataOf(await api.get('/staff', { code: 'no such code' })), [])
  }),
  statement('GET /staff: supports pagination', async ({ api }) => {
    requireValue(dataOf(await api.get('/staff'))[3], 'there are too few staff')
    await isPaged(api, '/staff')
  }),
  statement('GET /staff/{id}: one staff record', async ({ api }) => {
    const staffMember = requireValue(dataOf(await api.get('/staff'))[0], 'there is no staff')
    assert.deepEqual(dataOf(await api.get(`/staff/${staffMember.id}`)), staffMember)
    assertRejected(await api.get('/staff/nobody-at-all'), 404)
  }),
  statement('GET /customers/search: cursor-based pagination', ({ api }) => isPaged(api, '/customers/search')),
  statement('GET /customers/search: timestamp filter updated_after', async ({ api, shop }) => {
    const [first, ...otherCustomers] = await shop.customers()
    const last = otherCustomers.at(-1)?.updateTimeStamp
    const customers = dataOf(await api.get('/customers/search', { updated_after: last }))
    for (const { updateTimeStamp } of customers) assert.ok(updateTimeStamp >= last)
    assert.ok(last > first.updateTimeStamp ? !customers.some(({ id }: { id: string }) => id === first.id) : true)
  }),
  statement(`GET ${sales}: cursor-based pagination`, ({ api }) => isPaged(api, sales, { asc: 'true' })),
  statement(`GET ${sales}: updated_after, updated_before filter by date`, async ({ api }) => {
    const transactions = dataOf(await api.get(sales, { updated_after: '2000-01-01' }))
    const timestamp = requireValue(transactions.at(-1)?.updateTimeStamp, 'there are no transactions')
    const later = dataOf(await api.get(sales, { updated_after: timestamp }))
    const earlier = dataOf(await api.get(sales, { updated_before: timestamp }))
    for (const { updateTimeStamp } of later) assert.ok(updateTimeStamp >= timestamp)
    for (const { updateTimeStamp } of earlier) assert.ok(updateTimeStamp <= timestamp)
    assert.deepEqual(dataOf(await api.get(sales, { updated_before: '2000-01-01' })), [])
    assert.deepEqual(dataOf(await api.get(sales, { updated_after: '2100-01-01' })), [])
  }),
  ...customerRequests,
  statement('GET retail transactions of one shopper', async ({ api }) => {
    const sale = dataOf(await api.get(sales)).find(({ customerId: ownerId }: { customerId: string | null }) => ownerId)
    const { id, customerId } = requireValue(sale, 'no transaction is of a known shopper')
    const history = dataOf(await api.get(paths.transactionsOf(customerId)))
    assert.ok(history.some((entry: { id: string }) => entry.id === id))
    for (const entry of history) assert.equal(entry.customerId, customerId)
  }),
  statement('POST returns: each SKU is on the original order; the created return', async ({ api, shop }) => {
    const { id, lines } = await shop.order()
    const created = dataOf(await api.post(paths.returnsOf(id), returnOf(lines[0].sku, await shop.returnReason())))
    assert.equal(created.lines[0].sku, lines[0].sku)
    const returns = dataOf(await api.get(paths.returnsOf(id)))
    assert.ok(returns.some((refund: { id: string }) => refund.id === created.id))
  }),
  statement('GET gift voucher: voucher information', async ({ api, shop }) => {
    const { number, pin } = await shop.voucher()
    const { availableAmount, status } = dataOf(await api.get(paths.voucher(number), {}, { [pinHeader]: pin }))
    assert.ok(status && /^\d+(\.\d+)?$/.test(availableAmount))
  }),
  statement('PUT or POST gift voucher lock: the lock result', async ({ api, shop }) => {
    const { number, pin } = await shop.voucher()
    for (const lock of [api.put, api.post]) {
      const { validationId } = dataOf(await api.get(paths.voucher(number), { amount: '1.00' }, { [pinHeader]: pin }))
      assert.equal(dataOf(await lock(paths.lockOf(number), { validationId, lockSeconds: 60 })).status, 'locked')
      assertRejected(await api.get(paths.voucher(number), { amount: '1.00' }, { [pinHeader]: pin }), 409)
      assert.equal(dataOf(await lock(paths.lockOf(number), { validationId, lockSeconds: 0 })).status, 'active')
    }
  }),
  statement('POST gift voucher: a payment gateway name may be chosen', async ({ api, shop }) => {
    await shop.newCustomer()
    for (const more of [{ gateway: await shop.gateway() }, {}]) dataOf(await api.post(paths.vouchers, voucherOf(more)))
    assertRejected(await api.post(paths.vouchers, voucherOf({ gateway: 'no such gateway' })))
  }),
  statement('POST gift voucher: a digital voucher with number and PIN, sent to the customer by email', async trial => {
    const { api, shop, mails } = trial
    const { contact } = await shop.newCustomer()
    const read = requireValue(mails, 'the emails are not accessible')
    const { number, pin } = dataOf(await api.post(paths.vouchers, voucherOf({ receiverEmail: contact.email })))
    // A back office that creates number and PIN later sends them only in the email.
    const expected: string[] = [contact.email, ...(number === null ? [] : [number, pin])]
    for (let text = '', tries = 0; !expected.every(sample => text.includes(sample)); text = await read()) {
      assert.ok(tries++ < 100, 'no email arrived')
      await delay(100)
    }
    if (number === null) return
    const opened = await api.get(paths.voucher(number), {}, { [pinHeader]: pin })
    assert.equal(dataOf(opened).availableAmount, '25.00')
  }),
  statement('GET rewards: retail rewards and gifts for the reward balance', async ({ shop }) => {
    const { rewards, gifts, availableRewards } = requireValue(await shop.rewards(), 'no customer has a reward account')
    assert.ok(Array.isArray(rewards) && Array.isArray(gifts) && typeof availableRewards === 'string')
  }),
  statement('GET payment gateways: the list of available names', async ({ api }) => {
    const gateways = dataOf(await api.get(paths.gateways))
    if (!gateways.length) throw new NotTried('there is no payment gateway')
    for (const name of gateways) assert.equal(typeof name, 'string')
  }),
  statement('GET inventory, products: with buffer, and with SKU per colour/size', async ({ api }) => {
    const [stock] = dataOf(await api.get(paths.inventory))
    const [product] = dataOf(await api.get(paths.products))
    assert.ok(fields.buffer in stock && fields.ecommerceSku in product.colours[0].sizes[0])
  }),
)

export const limits = section(
  '8. Limits',
  statement('Records per page: at most 100, /customers/search', ({ api }) => holdsAHundred(api, '/customers/search')),
  statement(`Records per page: at most 100, ${sales}`, ({ api }) => holdsAHundred(api, sales)),
)
