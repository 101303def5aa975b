import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { sql } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { endRedemptions } from '../../../src/jobs/end-redemptions.ts'
import type { JobRun } from '../../../src/jobs/job.ts'
import { purgeExpired } from '../../../src/jobs/purge-expired.ts'
import { eraseRemainingData } from '../../../src/store/privacy/erase-batch.ts'
import { createImporter } from '../../import/import-command.ts'
import { assertProblem } from '../../support/problem.ts'
import { createMember } from '../../support/reward-member.ts'
import { sendThrough, startSecondServer } from '../../support/servers.ts'
import { type Caller, startTestApi } from '../../support/service.ts'
import { assertReplay, post, remove, withKey } from '../../support/write.ts'

const api = await startTestApi()
after(() => api.stop())
const runImport = createImporter(api)
const path = '/rewards/accounts/a1/redemptions'

/** Creates a shop with a member who has rewards of 10 and 15 and 100 points. */
async function createShop() {
  const member = await createMember(api)
  await member.addLots(
    { kind: 'reward', lotId: 'late', total: '15.00', expiryDate: '2099-12-31' },
    { kind: 'reward', lotId: 'early', total: '10.00', expiryDate: '2099-01-31' },
    { lotId: 'p1', total: '100' },
  )
  const { shop } = member
  const redeem = (body: object, caller: Pick<Caller, 'request'> = shop, headers = {}) =>
    post(caller, path, { requestId: randomUUID(), ...body }, headers)
  const finish = (action: 'confirm' | 'cancel', requestId: string, caller: Pick<Caller, 'request'> = shop) =>
    post(caller, `${path}/${requestId}/${action}`, {})
  const runJob = () => {
    const { signal } = new AbortController()
    const { db, keys } = api
    const offices = { getDriver: () => ({}) as never }
    return endRedemptions(offices).run({ db, keys, signal, log: pino({ level: 'silent' }) } as JobRun)
  }
  return { ...member, redeem, finish, runJob }
}

/** Returns the row counts of both redemption tables. */
const countRows = async ({ id }: Pick<Service, 'id'>) => {
  const { rows } = await api.db.pool.query(
    `select (select count(*) from reward_redemption where service_id = $1)::integer as redemptions,
            (select count(*) from reward_redemption_part where service_id = $1)::integer as parts`,
    [id],
  )
  return [rows[0].redemptions, rows[0].parts]
}

test('rewards are reserved earliest expiry first, and used when confirmed', async () => {
  const { shop, redeem, finish, getAccount, checkLedger } = await createShop()
  const reserved = await redeem({ amount: '12.50', seconds: 600 })
  assert.equal(reserved.status, 201, reserved.text)
  const { requestId, createdAt, expiresAt, ...fields } = reserved.json.data
  assert.deepEqual(fields, { accountId: 'a1', status: 'pending', points: null, amount: '12.50', currency: 'AUD' })
  assert.ok(createdAt < expiresAt)
  assert.equal(reserved.headers.location, `${path}/${requestId}`)
  const account = await getAccount()
  assert.equal(account.availableRewards, '12.50')
  assert.deepEqual(
    account.rewards.map(({ id, redeemed, pending, available }) => [id, redeemed, pending, available]),
    [
      ['early', '0.00', '10.00', '0.00'],
      ['late', '0.00', '2.50', '12.50'],
    ],
  )
  await checkLedger()
  const confirmed = await finish('confirm', requestId)
  assert.deepEqual([confirmed.status, confirmed.json.data.status], [200, 'confirmed'])
  assert.deepEqual((await shop.get(`${path}/${requestId}`)).json.data, confirmed.json.data)
  assert.deepEqual(
    (await getAccount()).rewards.map(({ id, redeemed, pending }) => [id, redeemed, pending]),
    [
      ['early', '10.00', '0.00'],
      ['late', '2.50', '0.00'],
    ],
  )
  await checkLedger()
})

test('points are reserved, and a cancelled redemption gives them back', async () => {
  const { redeem, finish, getAccount, checkLedger } = await createShop()
  const { requestId, points } = (await redeem({ points: 70 })).json.data
  assert.equal(points, 70)
  assert.equal((await getAccount()).availablePoints, 30)
  const short = await redeem({ points: 31 })
  assertProblem(short, 'insufficient_rewards', api.baseUrl, path)
  assert.equal(short.json.detail, 'At most 30 points can be redeemed.')
  assert.equal((await finish('cancel', requestId)).json.data.status, 'cancelled')
  assert.equal((await getAccount()).availablePoints, 100)
  await checkLedger()
})

test('each request ID has one effect, with or without an Idempotency-Key', async () => {
  const { redeem, finish, getAccount } = await createShop()
  const requestId = randomUUID()
  const first = await redeem({ requestId, amount: '10.00' })
  assert.deepEqual((await redeem({ requestId: requestId.toUpperCase(), amount: '10.00' })).json, first.json)
  const reused = await redeem({ requestId, amount: '11.00' })
  assert.deepEqual([reused.status, reused.json.code], [422, 'idempotency_key_reused'])
  const keyHeaders = withKey()
  const body = { requestId: randomUUID(), amount: '1.00' }
  const keyedRedemption = await redeem(body, undefined, keyHeaders)
  assertReplay(await redeem(body, undefined, keyHeaders), keyedRedemption)
  assert.equal((await getAccount()).availableRewards, '14.00')
  for (let i = 0; i < 2; i++) assert.equal((await finish('confirm', requestId)).json.data.status, 'confirmed')
  assert.equal((await finish('cancel', requestId)).json.code, 'invalid_transition')
  assert.equal((await getAccount()).availableRewards, '14.00')
})

test('invalid redemptions are rejected, and dry runs reserve nothing', async () => {
  const { shop, redeem, finish, getAccount } = await createShop()
  const getCode = async (body: object) => (await redeem(body)).json.code
  assert.equal(await getCode({}), 'invalid_body')
  assert.equal(await getCode({ points: 1, amount: '1.00' }), 'invalid_body')
  assert.equal(await getCode({ amount: '0.00' }), 'invalid_field')
  assert.equal(await getCode({ amount: '1.001' }), 'invalid_field')
  assert.equal(await getCode({ amount: '1.00', requestId: 'cart-1' }), 'invalid_field')
  assert.equal(
    (await post(shop, '/rewards/accounts/none/redemptions', { requestId: randomUUID(), points: 1 })).status,
    404,
  )
  assert.equal((await finish('confirm', randomUUID())).status, 404)
  assert.equal((await shop.get(`${path}/cart-1`)).status, 404)
  const dryRun = await redeem({ amount: '5.00' }, undefined, { prefer: 'tx=rollback' })
  assert.equal(dryRun.json.data.status, 'pending')
  assert.equal(
    (await redeem({ amount: '26.00' }, undefined, { prefer: 'tx=rollback' })).json.code,
    'insufficient_rewards',
  )
  assert.equal((await getAccount()).availableRewards, '25.00')
})

test('an expired redemption reserves nothing, and the job publishes it', async () => {
  const { shop, service, redeem, finish, getAccount, runJob } = await createShop()
  const { requestId } = (await redeem({ amount: '25.00' })).json.data
  const { endCursor } = (await shop.get('/changes?kinds=reward-account')).json.meta
  await api.db.run(sql`update reward_redemption set expires_at = clock_timestamp() where service_id = ${service.id}`)
  assert.equal((await getAccount()).availableRewards, '25.00')
  assert.equal((await finish('confirm', requestId)).json.code, 'invalid_transition')
  assert.equal((await shop.get(`${path}/${requestId}`)).json.data.status, 'expired')
  assert.equal((await redeem({ amount: '25.00' })).status, 201)
  await runJob()
  assert.equal((await finish('cancel', requestId)).json.data.status, 'expired')
  const changes = (await shop.get(`/changes?kinds=reward-account&after_cursor=${encodeURIComponent(endCursor)}`)).json
  assert.deepEqual(
    changes.data.map(({ id }: { id: string }) => id),
    ['a1'],
  )
})

test('orders neither convert nor take back reserved points', async () => {
  const { redeem, finish, getAccount, earn, returnItems, checkLedger } = await createShop()
  await earn('O1', '150.00')
  const { requestId } = (await redeem({ points: 200 })).json.data
  await earn('O2', '100.00')
  assert.equal((await getAccount()).availablePoints, 150)
  await returnItems('O1', '150.00')
  assert.equal((await getAccount()).availablePoints, 0)
  assert.equal((await finish('confirm', requestId)).json.data.status, 'confirmed')
  await checkLedger()
})

test('points that a redemption gives back are offset against owed points', async () => {
  for (const outcome of ['cancelled', 'expired'] as const) {
    const { service, redeem, finish, getAccount, earn, returnItems, checkLedger, runJob, listEntries } =
      await createShop()
    await earn('O1', '150.00')
    const { requestId } = (await redeem({ points: 200 })).json.data
    // 50 of the 150 points can be taken back. The others are reserved, so they are owed.
    await returnItems('O1', '150.00')
    if (outcome === 'cancelled') assert.equal((await finish('cancel', requestId)).json.data.status, outcome)
    else {
      const { rowCount } = await api.db.pool.query(
        'update reward_redemption set expires_at = clock_timestamp() where service_id = $1',
        [service.id],
      )
      assert.equal(rowCount, 1)
      await runJob()
    }
    assert.equal((await getAccount()).availablePoints, 100, outcome)
    assert.ok((await listEntries()).some(entry => entry.startsWith('settle -')))
    await checkLedger()
    await earn('O2', '50.00')
    assert.equal((await getAccount()).availablePoints, 150, 'no points may be owed any more')
    await checkLedger()
  }
})

test('a confirmation fails if an import took the reserved rewards away', async () => {
  const { shop, redeem, finish } = await createShop()
  const { requestId } = (await redeem({ amount: '25.00' })).json.data
  const header = 'accountId,kind,lotId,createdAt,total,redeemed\n'
  const { code } = await runImport(shop, 'reward-lots', `${header}a1,reward,early,2026-01-05 10:00:00,10.00,5.00\n`)
  assert.equal(code, 0)
  assert.equal((await finish('confirm', requestId)).json.code, 'insufficient_rewards')
  assert.equal((await finish('cancel', requestId)).json.data.status, 'cancelled')
})

test('the erasure of a customer deletes their redemptions', async () => {
  const { shop, service, redeem, finish } = await createShop()
  const confirmed = (await redeem({ amount: '5.00' })).json.data
  await finish('confirm', confirmed.requestId)
  await redeem({ amount: '10.00' })
  await redeem({ points: 10 })
  assert.deepEqual(await countRows(service), [3, 3])
  const erased = await remove(shop, '/customers/c1')
  assert.equal(erased.json.data?.status, 'erasing', erased.text)
  await eraseRemainingData(api.db, api.keys, service, 'c1')
  assert.deepEqual(await countRows(service), [0, 0])
  assert.equal((await shop.get(`${path}/${confirmed.requestId}`)).status, 404)
})

test('redemptions stay for 90 days after their end, and pending ones stay', async () => {
  const { shop, service, redeem, finish } = await createShop()
  const ids: string[] = []
  for (const action of ['confirm', 'cancel', undefined] as const) {
    const { requestId } = (await redeem({ amount: '1.00' })).json.data
    if (action) await finish(action, requestId)
    ids.push(requestId)
  }
  const purge = () => purgeExpired({ db: api.db, signal: new AbortController().signal } as JobRun)
  const readStatusCodes = async () =>
    (await Promise.all(ids.map(id => shop.get(`${path}/${id}`)))).map(({ status }) => status)
  await purge()
  assert.deepEqual(await readStatusCodes(), [200, 200, 200])
  await api.db.run(sql`
    update reward_redemption set expires_at = expires_at - interval '91 days' where service_id = ${service.id} and status <> 'pending'`)
  await purge()
  assert.deepEqual(await readStatusCodes(), [404, 404, 200])
  assert.deepEqual(await countRows(service), [1, 1])
})

test('an account of the API can have 1,000 pending redemptions', async () => {
  const { service, redeem } = await createShop()
  await redeem({ points: 1 })
  await api.db.run(sql`
    insert into reward_redemption (service_id, request_id, account_id, lot_kind, amount, status, username, expires_at)
    select service_id, gen_random_uuid(), account_id, lot_kind, amount, status, username, expires_at from reward_redemption, generate_series(1, 999) where service_id = ${service.id}`)
  const rejected = await redeem({ points: 1 })
  assert.deepEqual([rejected.status, rejected.json.code], [429, 'rate_limited'])
})

test('200 clients of two servers never redeem more than is available', async () => {
  const { shop, redeem, finish, getAccount, checkLedger } = await createShop()
  const second = await startSecondServer(api)
  const throughSecondServer = sendThrough(second.sendRequest, shop)
  const statuses = await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const caller = i % 2 ? throughSecondServer : shop
      for (;;) {
        const { status, json } = await redeem({ amount: '1.00' }, caller)
        if (json.code === 'concurrent_update') continue
        if (status !== 201) return json.code
        return (await finish(i % 5 ? 'confirm' : 'cancel', json.data.requestId, caller)).json.data?.status
      }
    }),
  )
  await second.stop()
  const confirmed = statuses.filter(status => status === 'confirmed').length
  assert.ok(confirmed <= 25, `${confirmed} confirmed`)
  assert.ok(statuses.includes('insufficient_rewards'))
  assert.equal((await getAccount()).availableRewards, `${25 - confirmed}.00`)
  await checkLedger()
})
