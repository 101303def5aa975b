import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { raw, sql } from '../../src/database/db.ts'
import { buildCustomer, newEmail } from '../support/customer-bodies.ts'
import { assertProblem } from '../support/problem.ts'
import type { TestApi, TestResponse } from '../support/service.ts'
import { clearFailures, gift, waitForMinuteStart } from '../support/voucher-shop.ts'
import { post, put, retryUntilUncontended, withKey } from '../support/write.ts'
import { placeOrder, postOrder } from './sales.ts'
import { type Shop, usableNumbers, usablePin } from './shop.ts'
import { getValidationId } from './vouchers.ts'

export const dryRun = { prefer: 'tx=rollback' }

/** Returns a digest per table, except for the request log and the account use, which every request changes. */
async function digestTables({ db }: TestApi): Promise<Record<string, string>> {
  const names = await db.rows<{ name: string }>(
    sql`select tablename as name from pg_tables where schemaname = 'public' and tablename !~ '^(request_|account_use)' order by 1`,
  )
  const digests: Record<string, string> = {}
  for (const { name } of names) {
    const rows = await db.rows<{ row: string }>(sql`select t::text as row from ${raw(name)} t order by 1`)
    digests[name] = createHash('sha256').update(JSON.stringify(rows)).digest('hex')
  }
  return digests
}

/** Asserts that a dry run changes neither our tables nor the back office. Returns its response. */
export async function assertLeavesNothing(
  { api, simulator }: Shop,
  work: () => Promise<TestResponse>,
): Promise<TestResponse> {
  const countWrites = () => simulator.ledger.calls.filter(({ method }) => method !== 'GET').length
  const [before, calls] = [await digestTables(api), countWrites()]
  const response = await work()
  assert.deepEqual([await digestTables(api), countWrites()], [before, calls], response.text)
  assert.deepEqual(
    [response.headers['preference-applied'], response.headers.location, response.headers.etag],
    ['tx=rollback', undefined, undefined],
    response.text,
  )
  return response
}

/** Contract of dry runs, the same for every driver. */
export function addDryRunContract(shop: () => Shop) {
  test('a dry run of a customer returns it without creating it', async () => {
    const { api } = shop()
    const body = buildCustomer({ contact: { email: newEmail() }, mobile: '0400 000 009' })
    const { status, json } = await assertLeavesNothing(shop(), () =>
      post(api, '/customers', body, { ...dryRun, ...withKey() }),
    )
    assert.deepEqual([status, json.data.id, json.data.firstname], [201, null, 'John'])
    const created = (await post(api, '/customers', body)).json.data
    const { id, code, startDate, updateTimeStamp, ...fields } = created
    assert.deepEqual(json.data, { ...json.data, ...fields })
    assert.ok(id && startDate && updateTimeStamp && code !== undefined)

    const changed = await assertLeavesNothing(shop(), () =>
      put(api, `/customers/${id}`, { title: 'Dr', mobile: null }, dryRun),
    )
    assert.deepEqual([changed.json.data.id, changed.json.data.title], [id, 'Dr'])
    assert.equal(changed.json.data.contact.phones.mobile, null)
    assert.equal((await api.get(`/customers/${id}`)).json.data.title, created.title)
  })

  test('a dry run of an order calculates without effect', async () => {
    const { status, json } = await assertLeavesNothing(shop(), () => postOrder(shop(), 2, {}, dryRun))
    assert.deepEqual([status, json.data.id, json.data.orderNumber, json.data.lines.length], [201, null, null, 1])
    assert.equal(json.data.total, (await placeOrder(shop(), 2)).total)
  })

  test('a dry run of a voucher neither sells, validates nor locks it', async () => {
    const { api, driver } = shop()
    const [number] = usableNumbers
    const issued = await assertLeavesNothing(shop(), () => post(api, '/vouchers', gift, dryRun))
    assert.deepEqual([issued.json.data.number, issued.json.data.pin], [null, null])
    assert.equal(issued.status, driver === 'embedded' ? 201 : 202)
    const validationId = await getValidationId(api, number)
    const opening = { number, pin: usablePin }
    const validated = await assertLeavesNothing(shop(), () =>
      post(api, '/vouchers/validate', { ...opening, amount: '5.00' }, dryRun),
    )
    assert.deepEqual([validated.status, validated.json.data.validationId], [200, null])
    for (const body of [{ validationId }, { pin: usablePin }]) {
      const locked = await assertLeavesNothing(shop(), () => post(api, `/vouchers/${number}/lock`, body, dryRun))
      assert.deepEqual([locked.status, locked.json.data.status], [200, 'locked'], locked.text)
    }
    assert.equal((await post(api, '/vouchers/lookup', opening)).json.data.status, 'active')
  })

  test('a dry run is rejected like a write, and wrong PINs count', async () => {
    const { api } = shop()
    assertProblem(await postOrder(shop(), 1, { customerId: '99999999' }, dryRun), 'invalid_field', api.baseUrl)
    const opening = { number: usableNumbers[1], pin: '1' }
    for (let i = 0; i < 5; i++)
      assertProblem(await post(api, '/vouchers/lookup', opening, dryRun), 'voucher_not_accepted', api.baseUrl)
    const right = { number: usableNumbers[1], pin: usablePin }
    assertProblem(await post(api, '/vouchers/lookup', right, dryRun), 'voucher_not_accepted', api.baseUrl)
    await clearFailures(api)
  })

  test('concurrent dry runs with wrong PINs are counted and mostly blocked', async () => {
    const { api, simulator, driver } = shop()
    await waitForMinuteStart(api)
    const countLookups = () => simulator.ledger.findCalls({ path: '/Voucher/*' }).length
    const before = countLookups()
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, pin) =>
        retryUntilUncontended(() =>
          post(api, '/vouchers/lookup', { number: usableNumbers[1], pin: String(pin) }, dryRun),
        ),
      ),
    )
    for (const response of responses) assertProblem(response, 'voucher_not_accepted', api.baseUrl)
    assert.deepEqual(await api.db.row(sql`select failures from pin_guard`), { failures: responses.length })
    // Only five PINs are checked. Further attempts are rejected as guessing.
    assert.equal(countLookups() - before, driver === 'embedded' ? 0 : 5)
    assert.equal(await api.db.run(sql`select from reservation`), 0)
    await clearFailures(api)
  })
}
