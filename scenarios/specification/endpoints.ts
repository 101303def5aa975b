import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { assertRejected, getData } from './api.ts'
import { customerRequests } from './customers.ts'
import { buildReturn, buildVoucher, fields, paths, pinHeader } from './names.ts'
import { assertPageLimit, assertPaginated } from './read-pages.ts'
import { section, statement } from './statement.ts'
import { requireValue, Untestable } from './untestable.ts'

const sales = '/orders/transactions/search'

export const endpoints = section(
  '4. Endpoints',
  statement('GET /stores: no required parameters; a JSON object containing the list of stores', async ({ api }) => {
    const { status, body } = await api.get('/stores')
    assert.deepEqual([status, typeof body, Array.isArray(body.data)], [200, 'object', true])
  }),
  statement('GET /staff: optional query filters email and code', async ({ api }) => {
    const staff = getData(await api.get('/staff'))
    const store = requireValue(
      staff.find(({ email }: { email: string | null }) => email),
      'there is no staff',
    )
    for (const name of ['email', 'code']) {
      const filteredStaff = getData(await api.get('/staff', { [name]: store[name] }))
      assert.ok(filteredStaff.length > 0)
      for (const member of filteredStaff) assert.equal(member[name], store[name])
    }
    assert.deepEqual(getData(await api.get('/staff', { code: 'no such code' })), [])
  }),
  statement('GET /staff: supports pagination', async ({ api }) => {
    requireValue(getData(await api.get('/staff'))[3], 'there are too few staff')
    await assertPaginated(api, '/staff')
  }),
  statement('GET /staff/{id}: one staff record', async ({ api }) => {
    const staffMember = requireValue(getData(await api.get('/staff'))[0], 'there is no staff')
    assert.deepEqual(getData(await api.get(`/staff/${staffMember.id}`)), staffMember)
    assertRejected(await api.get('/staff/nobody-at-all'), 404)
  }),
  statement('GET /customers/search: cursor-based pagination', ({ api }) => assertPaginated(api, '/customers/search')),
  statement('GET /customers/search: timestamp filter updated_after', async ({ api, shop }) => {
    const [first, ...otherCustomers] = await shop.customers()
    const last = otherCustomers.at(-1)?.updateTimeStamp
    const customers = getData(await api.get('/customers/search', { updated_after: last }))
    for (const { updateTimeStamp } of customers) assert.ok(updateTimeStamp >= last)
    assert.ok(last > first.updateTimeStamp ? !customers.some(({ id }: { id: string }) => id === first.id) : true)
  }),
  statement(`GET ${sales}: cursor-based pagination`, ({ api }) => assertPaginated(api, sales, { asc: 'true' })),
  statement(`GET ${sales}: updated_after, updated_before filter by date`, async ({ api }) => {
    const transactions = getData(await api.get(sales, { updated_after: '2000-01-01' }))
    const timestamp = requireValue(transactions.at(-1)?.updateTimeStamp, 'there are no transactions')
    const later = getData(await api.get(sales, { updated_after: timestamp }))
    const earlier = getData(await api.get(sales, { updated_before: timestamp }))
    for (const { updateTimeStamp } of later) assert.ok(updateTimeStamp >= timestamp)
    for (const { updateTimeStamp } of earlier) assert.ok(updateTimeStamp <= timestamp)
    assert.deepEqual(getData(await api.get(sales, { updated_before: '2000-01-01' })), [])
    assert.deepEqual(getData(await api.get(sales, { updated_after: '2100-01-01' })), [])
  }),
  ...customerRequests,
  statement('GET retail transactions of one shopper', async ({ api }) => {
    const sale = getData(await api.get(sales)).find(({ customerId: ownerId }: { customerId: string | null }) => ownerId)
    const { id, customerId } = requireValue(sale, 'no transaction is of a known shopper')
    const history = getData(await api.get(paths.transactionsPath(customerId)))
    assert.ok(history.some((entry: { id: string }) => entry.id === id))
    for (const entry of history) assert.equal(entry.customerId, customerId)
  }),
  statement('POST returns: each SKU is on the original order; the created return', async ({ api, shop }) => {
    const { id, lines } = await shop.order()
    const created = getData(await api.post(paths.returnsPath(id), buildReturn(lines[0].sku, await shop.returnReason())))
    assert.equal(created.lines[0].sku, lines[0].sku)
    const returns = getData(await api.get(paths.returnsPath(id)))
    assert.ok(returns.some((refund: { id: string }) => refund.id === created.id))
  }),
  statement('GET gift voucher: voucher information', async ({ api, shop }) => {
    const { number, pin } = await shop.voucher()
    const { availableAmount, status } = getData(await api.get(paths.voucher(number), {}, { [pinHeader]: pin }))
    assert.ok(status && /^\d+(\.\d+)?$/.test(availableAmount))
  }),
  statement('PUT or POST gift voucher lock: the lock result', async ({ api, shop }) => {
    const { number, pin } = await shop.voucher()
    for (const lock of [api.put, api.post]) {
      const { validationId } = getData(await api.get(paths.voucher(number), { amount: '1.00' }, { [pinHeader]: pin }))
      assert.equal(getData(await lock(paths.lockPath(number), { validationId, lockSeconds: 60 })).status, 'locked')
      assertRejected(await api.get(paths.voucher(number), { amount: '1.00' }, { [pinHeader]: pin }), 409)
      assert.equal(getData(await lock(paths.lockPath(number), { validationId, lockSeconds: 0 })).status, 'active')
    }
  }),
  statement('POST gift voucher: a payment gateway name may be chosen', async ({ api, shop }) => {
    await shop.createCustomer()
    for (const variant of [{ gateway: await shop.gateway() }, {}])
      getData(await api.post(paths.vouchers, buildVoucher(variant)))
    assertRejected(await api.post(paths.vouchers, buildVoucher({ gateway: 'no such gateway' })))
  }),
  statement(
    'POST gift voucher: a digital voucher with number and PIN, sent to the customer by email',
    async context => {
      const { api, shop, mails } = context
      const { contact } = await shop.createCustomer()
      const readEmails = requireValue(mails, 'the emails are not accessible')
      const { number, pin } = getData(await api.post(paths.vouchers, buildVoucher({ receiverEmail: contact.email })))
      // A back office that creates number and PIN later sends them only in the email.
      const expected: string[] = [contact.email, ...(number === null ? [] : [number, pin])]
      for (let text = '', tries = 0; !expected.every(sample => text.includes(sample)); text = await readEmails()) {
        assert.ok(tries++ < 100, 'no email arrived')
        await delay(100)
      }
      if (number === null) return
      const validated = await api.get(paths.voucher(number), {}, { [pinHeader]: pin })
      assert.equal(getData(validated).availableAmount, '25.00')
    },
  ),
  statement('GET rewards: retail rewards and gifts for the reward balance', async ({ shop }) => {
    const { rewards, gifts, availableRewards } = requireValue(await shop.rewards(), 'no customer has a reward account')
    assert.ok(Array.isArray(rewards) && Array.isArray(gifts) && typeof availableRewards === 'string')
  }),
  statement('GET payment gateways: the list of available names', async ({ api }) => {
    const gateways = getData(await api.get(paths.gateways))
    if (!gateways.length) throw new Untestable('there is no payment gateway')
    for (const name of gateways) assert.equal(typeof name, 'string')
  }),
  statement('GET inventory, products: with buffer, and with SKU per colour/size', async ({ api }) => {
    const [stock] = getData(await api.get(paths.inventory))
    const [product] = getData(await api.get(paths.products))
    assert.ok(fields.buffer in stock && fields.ecommerceSku in product.colours[0].sizes[0])
  }),
)

export const limits = section(
  '8. Limits',
  statement('Records per page: at most 100, /customers/search', ({ api }) => assertPageLimit(api, '/customers/search')),
  statement(`Records per page: at most 100, ${sales}`, ({ api }) => assertPageLimit(api, sales)),
)
