import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../../src/db.ts'
import { decideOnVoucher } from '../../../src/store/vouchers/standing.ts'
import { isProblem } from '../../support/problem.ts'
import { anotherServer, credentials } from '../../support/servers.ts'
import { type Caller, startTestService, type TestService } from '../../support/service.ts'
import {
  addVouchers,
  forgetFailures,
  lock,
  pin,
  refusalOf,
  stepsOf,
  validate,
  validationOf,
  voucherSettings,
} from '../../support/voucher-shop.ts'
import { post, put } from '../../support/write.ts'

let api: TestService
/** Another account of the same service. */
let other: Caller
before(async () => {
  api = await startTestService({ settings: voucherSettings, role: 'visitor' })
  other = await api.account('visitor')
})
after(() => api.stop())
beforeEach(() => forgetFailures(api))

let made = 0
/** A new voucher of 150.00. */
async function voucher() {
  const number = `20623${++made}`
  await addVouchers(api, api, { [number]: {} })
  return number
}

/** Moves a voucher's times into the past. */
const backDate = (number: string, column: 'locked_until' | 'validated_until', by: string) =>
  column === 'locked_until'
    ? api.db.run(
        sql`update voucher set locked_until = now() - ${by}::interval where service_id = ${api.service.id} and number = ${number}`,
      )
    : api.db.run(
        sql`update voucher set validated_until = now() - ${by}::interval where service_id = ${api.service.id} and number = ${number}`,
      )

/** The wall clock in Melbourne so many seconds from now. */
const inMelbourne = (seconds: number) =>
  Temporal.Now.zonedDateTimeISO('Australia/Melbourne')
    .add({ seconds })
    .toPlainDateTime()
    .toString()
    .replace('T', ' ')
    .slice(0, 19)

const secondsBetween = (a: string, b: string) =>
  Math.abs(Date.parse(`${a.replace(' ', 'T')}Z`) - Date.parse(`${b.replace(' ', 'T')}Z`)) / 1_000

test('a validation shows the voucher as the look-up does, with an id that opens it', async () => {
  const number = await voucher()
  const found = await post(api, '/vouchers/lookup', { number, pin })
  assert.equal(found.status, 200)
  assert.equal(found.headers.location, undefined)
  const { status, json } = await validate(api, number)
  assert.equal(status, 200)
  const { validationId, ...shown } = json.data
  assert.deepEqual(shown, found.json.data)
  assert.match(validationId, /^[\w-]{32}$/)
  const held = await lock(api, number, validationId)
  assert.equal(held.status, 200)
  assert.deepEqual(held.json.data, { ...shown, status: 'locked', lockedUntil: held.json.data.lockedUntil })
  assert.ok(secondsBetween(held.json.data.lockedUntil, inMelbourne(3_600)) < 30, held.json.data.lockedUntil)
  assert.deepEqual((await post(api, '/vouchers/lookup', { number, pin })).json.data, held.json.data)
})

test('the GET form looks up, and with an amount validates', async () => {
  const number = await voucher()
  const get = (query = '') => api.get(`/vouchers/${number}${query}`, { 'x-voucher-pin': pin })
  assert.equal((await get()).json.data.validationId, undefined)
  const validated = await get('?amount=150.00')
  assert.equal((await lock(api, number, validated.json.data.validationId)).status, 200)
  const refused = await get('?amount=150.00')
  isProblem(refused, 'voucher_locked', api.baseUrl, `/vouchers/${number}`)
  const more = await voucher()
  const tooMuch = await api.get(`/vouchers/${more}?amount=150.01`, { 'x-voucher-pin': pin })
  isProblem(tooMuch, 'insufficient_voucher_balance', api.baseUrl, `/vouchers/${more}`)
  assert.equal(tooMuch.json.errors[0].parameter, 'amount')
  for (const amount of ['0.00', '-1.00', '1', '1.001', '1,00', '1e3', 'NaN', '%201.00'])
    isProblem(
      await api.get(`/vouchers/${more}?amount=${amount}`, { 'x-voucher-pin': pin }),
      'invalid_parameter',
      api.baseUrl,
    )
  for (const query of [`?amount=1.00&pin=${pin}`, `?pin=${pin}`])
    isProblem(await get(query), 'invalid_parameter', api.baseUrl)
})

test('a PIN in the URL of a write is refused by name and not repeated', async () => {
  const number = await voucher()
  for (const path of ['/vouchers/lookup', '/vouchers/validate', '/vouchers']) {
    const answer = await post(api, `${path}?pin=${pin}`, { number, pin })
    if (path !== '/vouchers') assert.equal(answer.json.errors[0].parameter, 'pin')
    assert.doesNotMatch(answer.text, new RegExp(pin))
  }
  isProblem(await put(api, `/vouchers/${number}/lock?pin=${pin}`, {}), 'invalid_parameter', api.baseUrl)
})

test('while somebody holds a voucher nobody else can validate it, and the holder is not disturbed', async () => {
  const number = await voucher()
  const mine = await validationOf(api, number)
  const { lockedUntil } = (await lock(api, number, mine, 600)).json.data
  const refused = await validate(other, number)
  isProblem(refused, 'voucher_locked', api.baseUrl, '/vouchers/validate')
  assert.equal(refused.json.lockedUntil, lockedUntil)
  assert.doesNotMatch(refused.text, new RegExp(api.username), 'the holder is not named')
  const wrong = await post(other, '/vouchers/validate', { number, pin: '999999', amount: '10.00' })
  isProblem(wrong, 'voucher_not_accepted', api.baseUrl, '/vouchers/validate')
  assert.equal((await lock(api, number, mine, 700)).status, 200)
  assert.equal((await lock(api, number, mine, 0)).json.data.status, 'active')
  assert.equal((await validate(other, number)).status, 200)
  assert.deepEqual(await stepsOf(api, api, number), ['issue active', 'lock locked', 'lock locked', 'unlock active'])
})

test('without a lock the newest validation takes the place of the one before it', async () => {
  const number = await voucher()
  const [older, newer] = [await validationOf(api, number), await validationOf(other, number)]
  isProblem(await lock(api, number, older), 'validation_id_incorrect', api.baseUrl, `/vouchers/${number}/lock`)
  assert.equal((await lock(other, number, newer)).status, 200)
  const late = await lock(api, number, older)
  isProblem(late, 'voucher_locked', api.baseUrl, `/vouchers/${number}/lock`)
  assert.match(late.json.lockedUntil, /^\d{4}-/)
})

test('of clients that lock at once one holds the voucher, and the others are told that it is locked', async () => {
  for (let round = 0; round < 5; round++) {
    const number = await voucher()
    const ids: string[] = []
    for (let i = 0; i < 8; i++) ids.push(await validationOf(i % 2 ? api : other, number))
    const answers = await Promise.all([...ids, ...ids].map(id => lock(api, number, id)))
    const statuses = answers.map(({ status }) => status)
    // The newest validation was sent twice: the second time it renews its own lock.
    assert.equal(statuses.filter(status => status === 200).length, 2, statuses.join())
    // Whoever comes before the holder has an older validation that opens nothing yet held; after it, a lock.
    for (const answer of answers)
      if (answer.status !== 200) assert.ok(['voucher_locked', 'validation_id_incorrect'].includes(answer.json.code))
    const later = await Promise.all(ids.slice(0, -1).map(id => lock(other, number, id)))
    for (const answer of later) isProblem(answer, 'voucher_locked', api.baseUrl, `/vouchers/${number}/lock`)
  }
})

test('of 20 clients with 20 tries each never two hold a voucher at the same time', async () => {
  const number = await voucher()
  const held: { from: number; to: number }[] = []
  const seen = new Map<string, number>()
  await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const me = i % 2 ? api : other
      for (let n = 0; n < 20; n++) {
        // Without a pause each validation would be replaced by the next client's before it could lock.
        await delay(Math.random() * 400)
        const validated = await validate(me, number)
        const answer = validated.status === 200 ? await lock(me, number, validated.json.data.validationId) : validated
        const outcome = answer.json.code ?? answer.status
        seen.set(String(outcome), (seen.get(String(outcome)) ?? 0) + 1)
        if (answer.status !== 200) continue
        const from = performance.now()
        // Long enough for the others to try.
        await post(me, '/vouchers/lookup', { number, pin })
        const to = performance.now()
        assert.equal((await lock(me, number, validated.json.data.validationId, 0)).status, 200)
        held.push({ from, to })
      }
    }),
  )
  const told = JSON.stringify(Object.fromEntries(seen))
  assert.equal(
    [...seen.values()].reduce((a, b) => a + b),
    400,
  )
  assert.deepEqual(
    [...seen.keys()].filter(key => !/^(200|voucher_locked|validation_id_incorrect)$/.test(key)),
    [],
    told,
  )
  assert.ok(held.length >= 5, told)
  assert.ok((seen.get('voucher_locked') ?? 0) > 0, told)
  held.sort((a, b) => a.from - b.from)
  for (const [i, { from }] of held.entries()) assert.ok(i === 0 || from >= (held[i - 1]?.to ?? 0), 'two at a time')
})

test('a repeat with its key is the same answer; without a key the same validation renews', async () => {
  const number = await voucher()
  const mine = await validationOf(api, number)
  const key = { 'idempotency-key': 'hold-1' }
  const first = await lock(api, number, mine, 60, key)
  const replay = await lock(api, number, mine, 60, key)
  assert.equal(replay.headers['idempotent-replayed'], 'true')
  assert.equal(replay.text, first.text)
  isProblem(await lock(api, number, mine, 61, key), 'idempotency_key_reused', api.baseUrl)
  const renewed = await lock(api, number, mine, 6_000)
  assert.ok(secondsBetween(renewed.json.data.lockedUntil, inMelbourne(6_000)) < 30)
  assert.equal((await stepsOf(api, api, number)).length, 3)
})

test('a refusal does not use up the key of a lock', async () => {
  const number = await voucher()
  const mine = await validationOf(api, number)
  await lock(api, number, mine)
  await backDate(number, 'locked_until', '1 ms')
  const theirs = await validationOf(other, number)
  await lock(other, number, theirs)
  const key = { 'idempotency-key': 'hold-2' }
  isProblem(await lock(api, number, mine, 60, key), 'voucher_locked', api.baseUrl)
  await lock(other, number, theirs, 0)
  isProblem(await lock(api, number, mine, 60, key), 'validation_id_incorrect', api.baseUrl)
})

test('a lock that has run out is free at once, and its holder is refused once another validates', async () => {
  const number = await voucher()
  const mine = await validationOf(api, number)
  await lock(api, number, mine, 1)
  isProblem(await validate(other, number), 'voucher_locked', api.baseUrl)
  await backDate(number, 'locked_until', '1 ms')
  const { data } = (await post(api, '/vouchers/lookup', { number, pin })).json
  assert.deepEqual([data.status, data.lockedUntil, data.availableAmount], ['active', null, '150.00'])
  const theirs = await validationOf(other, number)
  isProblem(await lock(api, number, mine), 'validation_id_incorrect', api.baseUrl)
  assert.equal((await lock(other, number, theirs)).status, 200)
  isProblem(await lock(api, number, mine, 0), 'voucher_locked', api.baseUrl)
  assert.equal((await lock(other, number, theirs, 0)).status, 200, 'the stale holder has unlocked nothing')
  assert.deepEqual(await stepsOf(api, api, number), [
    ...['issue active', 'lock locked', 'unlock active'],
    ...['lock locked', 'unlock active'],
  ])
})

test('a validation ends after 24 hours; the lock it holds can be given back after that, and not renewed', async () => {
  const number = await voucher()
  const first = await validationOf(api, number)
  await backDate(number, 'validated_until', '1 ms')
  isProblem(await lock(api, number, first), 'validation_id_incorrect', api.baseUrl)
  const mine = await validationOf(api, number)
  await lock(api, number, mine, 86_400)
  await backDate(number, 'validated_until', '1 ms')
  isProblem(await lock(api, number, mine, 60), 'validation_id_incorrect', api.baseUrl)
  assert.equal((await lock(api, number, mine, 0)).status, 200)
})

test('a wrong validation id and an unknown number are one and the same answer, and too many are told to wait', async () => {
  const number = await voucher()
  const mine = await validationOf(api, number)
  const wrong = refusalOf(await lock(api, number, `${mine.slice(0, -1)}${mine.endsWith('A') ? 'B' : 'A'}`))
  assert.equal(wrong.code, 'validation_id_incorrect')
  assert.equal(wrong.status, 403)
  assert.deepEqual(refusalOf(await lock(api, 'nope', mine)), wrong)
  assert.deepEqual(refusalOf(await lock(api, await voucher(), mine)), wrong, 'the validation of another voucher')
  const tenant = await api.tenant(voucherSettings)
  assert.deepEqual(refusalOf(await lock(tenant, number, mine)), wrong, 'another service')
  const codes = []
  for (let i = 0; i < 40; i++) codes.push((await lock(api, number, `guess${i}`)).json.code)
  assert.ok(codes.includes('too_many_failures'), codes.join())
  assert.equal((await lock(api, number, mine)).status, 200, 'the right one still opens')
  assert.equal((await lock(other, number, mine, 0)).status, 200)
})

test('a lock lasts from 1 to 86400 seconds, and 0 gives back what is held or not', async () => {
  const number = await voucher()
  const mine = await validationOf(api, number)
  for (const lockSeconds of [-1, 86_401, 2 ** 40])
    isProblem(await lock(api, number, mine, lockSeconds), 'invalid_field', api.baseUrl, `/vouchers/${number}/lock`)
  for (const lockSeconds of [1.5, '60', null, true])
    isProblem(
      await put(api, `/vouchers/${number}/lock`, { validationId: mine, lockSeconds }),
      'invalid_body',
      api.baseUrl,
    )
  for (const body of [{}, { validationId: mine, pin }, { validationId: 7 }])
    isProblem(await put(api, `/vouchers/${number}/lock`, body), 'invalid_body', api.baseUrl)
  assert.equal((await lock(api, number, mine, 0)).json.data.status, 'active')
  assert.deepEqual(await stepsOf(api, api, number), ['issue active'], 'nothing was held, so nothing happened')
  for (const lockSeconds of [1, 86_400]) assert.equal((await lock(api, number, mine, lockSeconds)).status, 200)
})

test('a voucher that cannot be used is looked up, and neither validated nor held', async () => {
  await addVouchers(api, api, {
    redeemed: { usedAmount: '150.00', state: 'redeemed' },
    expired: { expiryDate: '2020-01-31' },
    suspended: { state: 'suspended' },
    pending: { state: 'pending' },
  })
  for (const [number, reason] of [
    ['redeemed', 'redeemed'],
    ['expired', 'expired'],
    ['suspended', 'suspended'],
    ['pending', 'not issued'],
  ] as const) {
    const found = await post(api, '/vouchers/lookup', { number, pin })
    assert.deepEqual([found.json.data.status, found.json.data.availableAmount], [number, '0.00'])
    const refused = await validate(api, number)
    isProblem(refused, 'voucher_unusable', api.baseUrl, '/vouchers/validate')
    assert.equal(refused.json.reason, reason)
    isProblem(
      await post(api, '/vouchers/validate', { number, pin: '1', amount: '1.00' }),
      'voucher_not_accepted',
      api.baseUrl,
    )
  }
  const number = await voucher()
  const mine = await validationOf(api, number)
  await api.db.run(
    sql`update voucher set expiry_date = '2020-01-01' where service_id = ${api.service.id} and number = ${number}`,
  )
  const late = await lock(api, number, mine)
  isProblem(late, 'voucher_unusable', api.baseUrl, `/vouchers/${number}/lock`)
  assert.equal(late.json.reason, 'expired')
  assert.deepEqual(await stepsOf(api, api, number), ['issue active', 'expire expired'])
})

test('a lock keeps a voucher alive past its last day until it ends', async () => {
  const number = await voucher()
  const mine = await validationOf(api, number)
  await lock(api, number, mine)
  await api.db.run(
    sql`update voucher set expiry_date = '2020-01-01' where service_id = ${api.service.id} and number = ${number}`,
  )
  const look = async () => (await post(api, '/vouchers/lookup', { number, pin })).json.data.status
  assert.equal(await look(), 'locked')
  await backDate(number, 'locked_until', '1 ms')
  assert.equal(await look(), 'expired')
})

test('a suspension takes the voucher from its holder, and what was validated before it opens nothing after it', async () => {
  const number = await voucher()
  const mine = await validationOf(api, number)
  await lock(api, number, mine)
  assert.deepEqual(await decideOnVoucher(api.db, api.service, number, 'suspend'), { done: true, state: 'suspended' })
  isProblem(await lock(api, number, mine), 'validation_id_incorrect', api.baseUrl)
  assert.deepEqual(await decideOnVoucher(api.db, api.service, number, 'suspend'), { done: false, state: 'suspended' })
  assert.deepEqual(await decideOnVoucher(api.db, api.service, number, 'resume'), { done: true, state: 'active' })
  isProblem(await lock(api, number, mine), 'validation_id_incorrect', api.baseUrl)
  assert.equal((await validate(api, number)).status, 200)
  assert.equal(await decideOnVoucher(api.db, api.service, 'nope', 'resume'), undefined)
})

test('no more can be validated than the voucher has, and where it is used in full, no less', async () => {
  const number = await voucher()
  const tooMuch = await validate(api, number, '150.01')
  isProblem(tooMuch, 'insufficient_voucher_balance', api.baseUrl, '/vouchers/validate')
  assert.equal(tooMuch.json.errors[0].pointer, '/amount')
  assert.equal((await validate(api, number, '150.00')).status, 200)
  const strict = await api.tenant({ ...voucherSettings, voucherInFull: true })
  await addVouchers(api, strict, { full: { usedAmount: '30.50' } })
  for (const amount of ['119.49', '0.01', '10.00'])
    isProblem(await validate(strict, 'full', amount), 'voucher_must_be_used_in_full', api.baseUrl, '/vouchers/validate')
  isProblem(await validate(strict, 'full', '119.51'), 'insufficient_voucher_balance', api.baseUrl)
  assert.equal((await validate(strict, 'full', '119.50')).status, 200)
})

test('an amount is text with the decimals of the currency, and more than nothing', async () => {
  const number = await voucher()
  const send = (amount: unknown) => post(api, '/vouchers/validate', { number, pin, amount })
  for (const amount of ['-1.00', '0.00', '0.001', '100', '1000000000.00', 'NaN', '1e9', '', ' 1.00', '1,00', '１.00'])
    isProblem(await send(amount), 'invalid_field', api.baseUrl, '/vouchers/validate')
  for (const amount of [100.1, 100, null, ['1.00'], { amount: '1.00' }, true])
    isProblem(await send(amount), 'invalid_body', api.baseUrl, '/vouchers/validate')
  for (const text of ['100.10', '1e9', 'NaN', '-0'])
    assert.equal(
      (await post(api, '/vouchers/validate', `{"number":"${number}","pin":"${pin}","amount":${text}}`)).status,
      400,
      text,
    )
})

test('a voucher in another currency than the service is shown, and not used', async () => {
  const number = await voucher()
  await api.db.run(
    sql`update voucher set currency = 'JPY', original_amount = 200, expiry_date = null where service_id = ${api.service.id} and number = ${number}`,
  )
  const { data } = (await post(api, '/vouchers/lookup', { number, pin })).json
  assert.deepEqual(
    [data.currency, data.originalAmount, data.availableAmount, data.expiryDate],
    ['JPY', '200', '150', null],
  )
  isProblem(await validate(api, number), 'voucher_unusable', api.baseUrl)
})

test('an account holds at most 1,000 vouchers at a time', async () => {
  const me = await api.account('visitor')
  const numbers = Array.from({ length: 1_001 }, (_, i) => `cap-${i}`)
  await addVouchers(api, api, Object.fromEntries(numbers.map(number => [number, {}])))
  const [last = '', first = ''] = [numbers.at(-1), numbers[0]]
  const kept = await validationOf(api, first)
  await api.db.run(sql`
    insert into voucher_entry (service_id, number, entry, kind, amount, state, locked_until, held_by)
    select ${api.service.id}, number, 2, 'lock', 0, 'locked', now() + interval '100 s', ${me.username} from unnest(${numbers.slice(0, -1)}::text[]) number`)
  const mine = await validationOf(api, last)
  const refused = await lock(me, last, mine)
  isProblem(refused, 'rate_limited', api.baseUrl, `/vouchers/${last}/lock`)
  assert.ok(Number(refused.headers['retry-after']) > 50 && Number(refused.headers['retry-after']) <= 100)
  assert.equal((await lock(me, first, kept, 200)).status, 200, 'one that is held can be held on')
  assert.equal((await lock(other, last, mine, 1)).status, 200, 'another account has its own count')
  assert.equal((await lock(me, first, kept, 0)).status, 200)
  assert.equal((await lock(me, last, mine)).status, 200)
})

test('a lock and wrong PINs count for all servers', async () => {
  const second = await anotherServer(api)
  try {
    const number = await voucher()
    const look = (given: string) =>
      second.ask(`/vouchers/${number}`, { headers: { ...credentials(api), 'x-voucher-pin': given } })
    await lock(api, number, await validationOf(api, number))
    assert.equal((await look(pin)).json.data.status, 'locked')
    for (let i = 0; i < 5; i++)
      isProblem(
        i % 2 ? await look('111111') : await post(api, '/vouchers/lookup', { number, pin: '111111' }),
        'voucher_not_accepted',
        i % 2 ? second.baseUrl : api.baseUrl,
      )
    isProblem(await look(pin), 'voucher_not_accepted', second.baseUrl)
    isProblem(await post(api, '/vouchers/lookup', { number, pin }), 'voucher_not_accepted', api.baseUrl)
    isProblem(await validate(api, number), 'voucher_not_accepted', api.baseUrl)
  } finally {
    await second.stop()
  }
})
