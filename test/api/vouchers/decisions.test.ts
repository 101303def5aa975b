import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setBackOffice } from '../../../src/store/backoffice/connections.ts'
import { assertProblem } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import { startTestApi, type TestApi } from '../../support/service.ts'
import { issueVoucher, newVoucher, pin, stockGiftCards, voucherSettings } from '../../support/voucher-shop.ts'
import { post } from '../../support/write.ts'

let api: TestApi
before(async () => {
  api = await startTestApi({ settings: voucherSettings })
  await stockGiftCards(api, api)
})
after(() => api?.stop())

const listKinds = ({ entries }: { entries: { kind: string }[] }) => entries.map(({ kind }) => kind)

test('only an admin can read a ledger with recipient without a PIN', async () => {
  const { number } = (await issueVoucher(api)).json.data
  const { json, text } = await api.get(`/vouchers/${number}/ledger`)
  const { voucher, senderName, receiverEmail } = json.data
  assert.deepEqual(
    [voucher.number, voucher.availableAmount, senderName, receiverEmail, listKinds(json.data)],
    [number, '150.00', 'John Smith', 'ann.lee@example.com', ['issue']],
  )
  assert.doesNotMatch(text, /"pin"/)
  const path = `/vouchers/${number}/ledger`
  assertProblem(
    await (await api.createAccount('maintainer', api.service)).get(path),
    'insufficient_role',
    api.baseUrl,
    path,
  )
})

test('a suspended voucher is unusable until resumed, with ledger and audit entries', async () => {
  const number = await newVoucher(api)
  const validate = () => post(api, '/vouchers/validate', { number, pin, amount: '10.00' })
  for (let i = 0; i < 2; i++)
    assert.equal((await post(api, `/vouchers/${number}/suspend`, {})).json.data.status, 'suspended')
  assert.equal((await validate()).json.code, 'voucher_unusable')
  assert.equal((await post(api, `/vouchers/${number}/resume`, {})).json.data.status, 'active')
  assert.equal((await validate()).status, 200)
  const { json } = await api.get(`/vouchers/${number}/ledger`)
  assert.deepEqual(listKinds(json.data).slice(-2), ['suspend', 'resume'])
  const newest = (await api.get('/audit')).json.data.at(-1)
  assert.deepEqual([newest.operation, newest.subject], ['POST /vouchers/:number/resume', `/vouchers/${number}`])
})

test('a ledger entry has the account and API key of its write', async () => {
  const { number } = (await issueVoucher(api)).json.data
  const till = await api.createAccount('maintainer', api.service)
  const { json } = await post(api, `/accounts/${till.username}/keys`, { name: 'till-7' })
  const headers = { authorization: `Basic ${json.data.apiKey}` }
  const imported = await newVoucher(api)
  const lock = (body: object) => post(api, `/vouchers/${imported}/lock`, body, headers)
  const { validationId } = (await lock({ pin })).json.data
  assert.equal((await lock({ validationId, lockSeconds: 0 })).json.data.status, 'active')
  assert.equal((await post(api, `/vouchers/${imported}/suspend`, {})).status, 200)
  const readEntries = async (voucherNumber: string) =>
    (await api.get(`/vouchers/${voucherNumber}/ledger`)).json.data.entries.map(
      ({ kind, username, apiKey }: Record<string, string | null>) => [kind, username, apiKey],
    )
  assert.deepEqual(await readEntries(number), [['issue', api.username, null]])
  assert.deepEqual(await readEntries(imported), [
    ['issue', null, null],
    ['lock', till.username, 'till-7'],
    ['unlock', till.username, 'till-7'],
    ['suspend', api.username, null],
  ])
})

test('an unlocked voucher is free and the previous validation is invalid', async () => {
  const number = await newVoucher(api)
  const { validationId } = (await post(api, `/vouchers/${number}/lock`, { pin })).json.data
  const released = await post(api, `/vouchers/${number}/unlock`, {})
  assert.deepEqual([released.json.data.status, released.json.data.lockedUntil], ['active', null])
  const again = await post(api, `/vouchers/${number}/lock`, { validationId })
  assert.equal(again.json.code, 'validation_id_incorrect')
})

test('a spent voucher cannot be suspended; an unknown one is not found', async () => {
  const spent = await newVoucher(api, { state: 'redeemed', usedAmount: '150.00' })
  const rejected = await post(api, `/vouchers/${spent}/suspend`, {})
  assert.deepEqual([rejected.json.code, rejected.json.reason], ['voucher_unusable', 'redeemed'])
  assertProblem(await post(api, '/vouchers/1/suspend', {}), 'not_found', api.baseUrl, '/vouchers/1/suspend')
  const other = await api.createService()
  const settings = { driver: 'apparel21', url: 'https://127.0.0.1:9', country: 'AU' } as const
  await setBackOffice(api.db, api.keys, other.service, settings)
  await waitUntil(
    async () => (await other.get('/syncs')).json.data.length > 5,
    'the back office setting applies',
    20_000,
  )
  for (const response of [await other.get('/vouchers/1/ledger'), await post(other, '/vouchers/1/suspend', {})])
    assert.equal(response.json.code, 'capability_unavailable')
})
