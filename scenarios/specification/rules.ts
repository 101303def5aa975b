import assert from 'node:assert/strict'
import { assertRejected, getData, sendRequest } from './api.ts'
import { buildReturn, buildVoucher, paths } from './names.ts'
import { readPages } from './read-pages.ts'
import { createNames } from './shop.ts'
import { type StatementContext, section, statement } from './statement.ts'
import { requireValue } from './untestable.ts'

const sales = '/orders/transactions/search'

/** Checks that an older back office returns an empty list although customers exist. */
async function assertEmptyBefore2022({ old }: StatementContext) {
  const api = requireValue(old, 'there is no service with an older back office')
  getData(await api.post(paths.customers, createNames()))
  assert.ok(getData(await api.get('/customers/search')).length > 0)
  const { status, body } = await api.get(paths.customers, { updated_after: '2000-01-01' })
  assert.deepEqual([status, body.data], [200, []])
}

async function assertPhoneAndBirthDateOptional({ api, shop }: StatementContext) {
  const { id } = await shop.createCustomer()
  assert.equal(getData(await api.put(paths.customer(id), { surname: 'Other' })).surname, 'Other')
}

export const rules = section(
  '4. Rules',
  statement('1. asc=true sorts the retail transactions by saleDate ascending', async ({ api }) => {
    const dates = (await readPages(api, sales, { asc: 'true' }, 5)).map(({ saleDate }) => saleDate)
    assert.ok(new Set(dates).size > 1)
    assert.deepEqual(dates, dates.toSorted())
    const [newest] = getData(await api.get(sales, { asc: 'false' }))
    assert.ok(newest.saleDate >= (dates.at(-1) ?? ''))
  }),
  statement('2. updated_before with updated_after limits the transactions to a date range', async ({ api }) => {
    const transactions = getData(await api.get(sales, { updated_after: '2000-01-01' }))
    const timestamps = transactions.map(({ updateTimeStamp }: { updateTimeStamp: string }) => updateTimeStamp).sort()
    const [first, last] = [requireValue(timestamps[0], 'there are no transactions'), timestamps.at(-1)]
    const range = { updated_after: '2000-01-01', updated_before: '2100-01-01' }
    assert.deepEqual(getData(await api.get(sales, range)), transactions)
    assert.deepEqual(getData(await api.get(sales, { ...range, updated_before: first })), [])
    for (const { updateTimeStamp } of getData(await api.get(sales, { updated_after: first, updated_before: last })))
      assert.ok(updateTimeStamp >= first && updateTimeStamp <= last)
  }),
  statement('3. A page holds at most 100 records', async ({ api }) => {
    for (const path of ['/customers/search', sales, paths.products, paths.inventory, '/staff'])
      assert.ok(getData(await api.get(path)).length <= 100, path)
  }),
  statement(
    '4. updated_after on customers needs release 2022.1 or higher; otherwise an empty array',
    assertEmptyBefore2022,
  ),
  statement(
    '5. Gift vouchers need the gift card SKU index, the voucher type and the function configured',
    async ({ old }) => {
      const api = requireValue(old, 'there is no service without gift vouchers')
      assertRejected(await api.post(paths.vouchers, buildVoucher({})))
    },
  ),
  statement('6. POST and PUT customers do not require mobile or dateOfBirth', assertPhoneAndBirthDateOptional),
)

export const authentication = section(
  '5. Authentication',
  statement('1. HTTP Basic with username and password, on every request', async ({ api }) => {
    const { authorization, ...otherHeaders } = api.headers
    assertRejected(await sendRequest(`${api.url}/stores`, { headers: otherHeaders }), 401)
    assertRejected(
      await sendRequest(`${api.url}/stores`, { headers: { ...otherHeaders, authorization: `${authorization}x` } }),
      401,
    )
    assertRejected(
      await sendRequest(`${api.url}/stores`, { headers: { ...otherHeaders, authorization: 'Bearer x' } }),
      401,
    )
    const [username] = Buffer.from(String(authorization).slice(6), 'base64').toString().split(':')
    const wrong = `Basic ${Buffer.from(`${username}:wrong`).toString('base64')}`
    assertRejected(await sendRequest(`${api.url}/stores`, { headers: { ...otherHeaders, authorization: wrong } }), 401)
  }),
  statement('2. The header X-Service-Name, with the value assigned to the account', async ({ api }) => {
    const { 'x-service-name': name, ...otherHeaders } = api.headers
    assertRejected(await sendRequest(`${api.url}/stores`, { headers: otherHeaders }))
    assertRejected(
      await sendRequest(`${api.url}/stores`, { headers: { ...otherHeaders, 'x-service-name': `not ${name}` } }),
    )
  }),
  statement('3. Requests over plain HTTP are not allowed', async ({ api }) => {
    const response = await sendRequest(`${api.url.replace('https:', 'http:')}/stores`, { headers: api.headers }).catch(
      () => undefined,
    )
    assert.ok(response === undefined || response.status >= 400, `${response?.status}`)
  }),
  statement('4. An account is required', async ({ api }) => {
    const unknownAccount = `Basic ${Buffer.from('nobody:nothing').toString('base64')}`
    for (const path of [
      '/stores',
      '/staff',
      '/customers/search',
      sales,
      paths.products,
      paths.inventory,
      paths.gateways,
    ])
      assertRejected(
        await sendRequest(`${api.url}${path}`, { headers: { ...api.headers, authorization: unknownAccount } }),
        401,
      )
  }),
)

export const errors = section(
  '7. Errors',
  statement('1. updated_after on customers below release 2022.1: an empty array', assertEmptyBefore2022),
  statement('2. A customer is not rejected for lacking mobile or dateOfBirth', assertPhoneAndBirthDateOptional),
  statement('3. A return is processed only when the SKU is on the original order', async ({ api, shop }) => {
    const { id } = await shop.order()
    const returnsBefore = getData(await api.get(paths.returnsPath(id)))
    assertRejected(await api.post(paths.returnsPath(id), buildReturn(await shop.otherSku(), await shop.returnReason())))
    assert.deepEqual(getData(await api.get(paths.returnsPath(id))), returnsBefore)
  }),
)

export const versioning = section(
  '9. Versioning',
  statement('Changes are published in a dated changelog: ADDED, FIXED, BREAKING and ANNOUNCEMENT', async ({ api }) => {
    const changes = getData(await api.get(paths.changelog))
    assert.ok(changes.length > 0)
    for (const { date, category } of changes) {
      assert.match(date, /^\d{4}-\d{2}-\d{2}$/)
      assert.ok(['ADDED', 'FIXED', 'BREAKING', 'ANNOUNCEMENT'].includes(category), category)
    }
  }),
)
