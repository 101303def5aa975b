import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { startWorker, type Worker } from '../../../src/jobs/worker.ts'
import { openMailTransport } from '../../../src/mail/transport.ts'
import { eraseRemainingData } from '../../../src/store/privacy/erase-batch.ts'
import { fillShop } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import { captureLog } from '../../support/servers.ts'
import { startTestApi } from '../../support/service.ts'
import { stockGiftCards, voucherSettings } from '../../support/voucher-shop.ts'
import { post, put, remove } from '../../support/write.ts'
import { addTillSales, createCanaryShopper, createMailFolder, findRows } from './canary-shopper.ts'

const logged = captureLog('trace')
const api = await startTestApi({ settings: voucherSettings, log: logged.log })
await fillShop(api.db, api.service)
await stockGiftCards(api, api)
const mailFolder = createMailFolder()
const folderTransport = openMailTransport({ smtpUrl: undefined, dataDir: mailFolder.dataDir })
let worker: Worker | undefined
const startTestWorker = () =>
  startWorker({ db: api.db, keys: api.keys, log: logged.log, mailTransport: folderTransport })
after(async () => {
  await worker?.stop(0)
  await api.stop()
  await rm(mailFolder.dataDir, { recursive: true, force: true })
})

test('erasure with an outdated `If-Match` is rejected', async () => {
  const strictCaller = await api.createService({ requireIfMatch: true })
  const added = await post(strictCaller, '/customers', {
    firstname: 'Ann',
    surname: 'Lee',
    contact: { email: 'ann@example.com' },
  })
  const path = `/customers/${added.json.data.id}`
  const etag = String((await strictCaller.get(path)).headers.etag)
  await put(strictCaller, path, { firstname: 'Anne' }, { 'if-match': etag })
  const eraseAt = (tag?: string) =>
    strictCaller.request(path, { method: 'DELETE', headers: tag ? { 'if-match': tag } : {} })
  assertProblem(await eraseAt(etag), 'precondition_failed', api.baseUrl, path)
  const { status, headers } = await strictCaller.get(path)
  assert.equal(status, 200, 'the customer must still exist')
  assert.equal((await eraseAt(String(headers.etag))).status, 200)
  assert.equal((await eraseAt()).status, 200, 'a repeated request must return the status')
})

const requestErasure = async (id: string) => (await remove(api, `/customers/${id}`)).json?.data?.status
const waitForErasure = (id: string) =>
  waitUntil(async () => (await requestErasure(id)) === 'erased', 'the erasure is done')
const erasedAddress = Object.fromEntries(
  ['contactName', 'companyName', 'addressLine1', 'addressLine2', 'city', 'state', 'postcode', 'country'].map(name => [
    name,
    null,
  ]),
)

test('erasure leaves no personal text in any table, log or email', async () => {
  const { id, n, placed, returned, voucher, present, bodies, keys, order } = await createCanaryShopper(api)
  worker = startTestWorker()
  await waitUntil(async () => (await mailFolder.readEmails()).length === 2, 'the emails are sent')
  assert.match((await mailFolder.readEmails()).join(), /canary/i)
  await worker.stop(1_000)
  assert.ok((await findRows(api, 'canary')).length > 5)

  const { endCursor } = (await api.get('/changes?limit=1000')).json.meta
  const response = await remove(api, `/customers/${id}`)
  assert.equal(response.status, 200, response.text)
  assert.deepEqual([response.json.data.id, response.json.data.status], [id, 'erasing'])
  assertProblem(await api.get(`/customers/${id}`), 'not_found', api.baseUrl)
  worker = startTestWorker()
  await waitForErasure(id)
  await waitUntil(async () => (await mailFolder.readEmails()).length === 0, 'the email file is deleted')
  await worker.stop(1_000)

  assert.deepEqual(await findRows(api, 'canary'), [])
  assert.deepEqual(await findRows(api, '0999 000'), [])
  // Encrypted content can't be searched, so its row must be deleted.
  const encryptedRows = await api.db.rows(sql`
    select operation from idempotent_response where response is not null and operation <> 'POST /vouchers' union all select status from email where encrypted_content is not null`)
  assert.deepEqual(encryptedRows, [])
  assert.ok(logged.text.includes('/customers'))
  assert.doesNotMatch(logged.text, /canary/i)

  const orderAfterwards = (await api.get(`/orders/${placed.id}`)).json.data
  const { updateTimeStamp: _, ...sums } = orderAfterwards
  const { updateTimeStamp: __, ...before } = placed
  assert.deepEqual(sums, {
    ...before,
    customerId: null,
    billingAddress: erasedAddress,
    deliveryAddress: erasedAddress,
    lines: orderAfterwards.lines,
    payments: [{ ...before.payments[0], reference: null }],
  })
  const returnRecord = (await api.get(`/returns/${returned.id}`)).json.data
  assert.deepEqual(
    [returnRecord.total, returnRecord.customerId, returnRecord.lines[0].notes],
    [returned.total, null, null],
  )
  const sales = (await api.get('/orders/transactions/search')).json.data
  const matching = sales.filter((sale: { orderNumber: string }) => sale.orderNumber === placed.orderNumber)
  assert.deepEqual(matching.map(({ total, customerId }: Record<string, unknown>) => [total, customerId]).sort(), [
    ['-10.00', null],
    ['20.00', null],
  ])
  for (const { number, pin } of [voucher, present])
    assert.equal((await post(api, '/vouchers/lookup', { number, pin })).json.data.availableAmount, '150.00')
  assert.deepEqual(
    await api.db.rows(sql`select receiver_name as name from voucher_sale where receiver_name is not null`),
    [{ name: 'Ann' }],
  )
  assertProblem(await api.get(`/rewards/accounts/r${n}`), 'not_found', api.baseUrl)
  const tombstones = (await api.get(`/changes?limit=1000&after_cursor=${endCursor}`)).json.data.filter(
    (record: { action: string }) => record.action === 'removed',
  )
  assert.deepEqual(
    tombstones.map((tombstone: Record<string, unknown>) => [tombstone.kind, tombstone.id]),
    [
      ['customer', id],
      ['reward-account', `r${n}`],
    ],
  )

  assertProblem(await post(api, '/orders', order()), 'invalid_field', api.baseUrl)
  assertProblem(await put(api, `/customers/${id}`, { title: 'Dr' }), 'not_found', api.baseUrl)
  for (const [path, body, key] of [
    ['/customers', bodies.customer, keys.customer],
    ['/orders', order(), keys.order],
  ] as const)
    assertProblem(await post(api, path, body, key), 'idempotency_key_reused', api.baseUrl)
  assert.deepEqual(await findRows(api, 'canary'), [])
})

test('an interrupted erasure resumes in batches and repeats nothing', async () => {
  const { id } = await createCanaryShopper(api)
  await addTillSales(api, api, id, 2_500)
  assert.equal(await requestErasure(id), 'erasing')
  const countRemaining = async () =>
    (
      await api.db.row<{ n: number }>(
        sql`select count(*)::integer as n from retail_transaction where customer_id = ${id}`,
      )
    )?.n
  const stopped = new AbortController()
  stopped.abort(new Error('The worker stops.'))
  await assert.rejects(eraseRemainingData(api.db, api.keys, api.service, id, stopped.signal), /The worker stops/)
  assert.equal(await countRemaining(), 2_502)
  assert.equal(await requestErasure(id), 'erasing')
  await Promise.all([
    eraseRemainingData(api.db, api.keys, api.service, id),
    eraseRemainingData(api.db, api.keys, api.service, id),
  ])
  assert.equal(await countRemaining(), 0)
  assert.deepEqual(await findRows(api, `"customerId":"${id}"`), [])
  assert.equal(await requestErasure(id), 'erased')
  const timestamps = await api.db.row<{ n: number }>(sql`
    select count(distinct changed_at)::integer as n from retail_transaction where id like 'till-%'`)
  assert.equal(timestamps?.n, 3)
})

test('a concurrent write never leaves an order without a customer', async () => {
  for (let round = 0; round < 5; round++) {
    const { id, order } = await createCanaryShopper(api)
    const writes = Array.from({ length: 8 }, (_, i) =>
      i % 2
        ? post(api, '/orders', order([{ sku: 'HOOD-M', quantity: 1 }]))
        : put(api, `/customers/${id}`, { title: 'Dr' }),
    )
    const responses = await Promise.all([...writes.slice(0, 4), remove(api, `/customers/${id}`), ...writes.slice(4)])
    for (const { status, text } of responses) assert.ok([200, 201, 404, 422].includes(status), text)
    await eraseRemainingData(api.db, api.keys, api.service, id)
    assert.deepEqual(await findRows(api, 'canary'), [])
  }
})

test('only an admin can erase, and repeated or unknown erasures change nothing', async () => {
  const { id } = await createCanaryShopper(api)
  const maintainer = await api.createAccount('maintainer')
  assertProblem(await remove(maintainer, `/customers/${id}`), 'insufficient_role', api.baseUrl)
  const other = await api.createService()
  assertProblem(await remove(other, `/customers/${id}`), 'not_found', api.baseUrl)
  assert.equal((await api.get(`/customers/${id}`)).status, 200)
  const dryRun = await api.request(`/customers/${id}`, { method: 'DELETE', headers: { prefer: 'tx=rollback' } })
  assert.equal(dryRun.headers['preference-applied'], 'tx=rollback')
  assert.equal((await api.get(`/customers/${id}`)).status, 200)
  const first = (await remove(api, `/customers/${id}`)).json.data
  assert.deepEqual((await remove(api, `/customers/${id}`)).json.data, first)
  assertProblem(await remove(api, '/customers/nobody'), 'not_found', api.baseUrl)
})

test("an unexpected database error is logged without the row's content", async () => {
  const { id } = await createCanaryShopper(api)
  const previousLength = logged.text.length
  await api.db.run(sql`alter table customer add constraint nobody_is_called_that check (firstname <> 'Canaryfault')`)
  assertProblem(await put(api, `/customers/${id}`, { firstname: 'Canaryfault' }), 'internal_error', api.baseUrl)
  assert.match(logged.text.slice(previousLength), /nobody_is_called_that/)
  assert.doesNotMatch(logged.text.slice(previousLength), /canary/i)
})
