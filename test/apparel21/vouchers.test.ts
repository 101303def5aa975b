import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { askerOf } from '../../simulator/ask.ts'
import type { Simulator } from '../../simulator/control/handle.ts'
import { drawnValidation } from '../../src/backoffice/apparel21/vouchers.ts'
import { raw, sql } from '../../src/db.ts'
import { ApiError, type ErrorCode } from '../../src/errors.ts'
import { expireVouchers } from '../../src/jobs/expire-vouchers.ts'
import type { Work } from '../../src/jobs/job.ts'
import { endUpstreamValidation } from '../../src/store/vouchers/upstream.ts'
import { behind, settings, startApparel21Service } from '../drivers/apparel21.ts'
import { isProblem } from '../support/problem.ts'
import { credentials } from '../support/servers.ts'
import { type Answer, type Caller, startTestService, type TestService } from '../support/service.ts'
import { forgetFailures, lock, refusalOf } from '../support/voucher-shop.ts'
import { post } from '../support/write.ts'

let simulator: Simulator
let api: TestService
/** Another account of the same service, at another server of the same installation. */
let other: Caller
let second: TestService
let stop: () => Promise<void>
let closeSecond: () => void
before(async () => {
  ;({ simulator, api, stop } = await startApparel21Service({ role: 'visitor' }))
  const { client, backOffice } = behind(simulator)
  second = await startTestService({ beside: api, backOffice })
  closeSecond = client.close
  const account = await api.account('visitor')
  other = { ...account, request: atSecond(account), get: (path, headers = {}) => atSecond(account)(path, { headers }) }
})
after(async () => {
  await second.stop()
  closeSecond()
  await stop()
})
beforeEach(async () => {
  simulator.reset()
  await forgetFailures(api)
  await api.db.run(sql`delete from upstream_voucher`)
})

/** The same caller at the second server. */
const atSecond =
  (caller: Caller): Caller['request'] =>
  (path, asking = {}) =>
    second.raw(path, { ...asking, headers: { ...credentials(caller), ...asking.headers } })

const [number, pin] = ['6000001', '1234']
const lookUp = (by: Caller, given = number, as = pin) => post(by, '/vouchers/lookup', { number: given, pin: as })
const validate = (by: Caller, amount = '10.00', given = number, as = pin) =>
  post(by, '/vouchers/validate', { number: given, pin: as, amount })
const validationOf = async (by: Caller, amount?: string): Promise<string> => {
  const { status, json } = await validate(by, amount)
  assert.equal(status, 200, JSON.stringify(json))
  return json.data.validationId
}
const validations = (of = number) => simulator.ledger.callsTo({ path: `/Voucher/GVValid/${of}` }).length
const backDate = () =>
  api.db.run(sql`update upstream_voucher set locked_until = now() - interval '1 ms' where number = ${number}`)

test('number and PIN open a voucher as the back office has it at this moment', async () => {
  const { status, json, text } = await lookUp(api, '6000002', '0042')
  assert.equal(status, 200)
  const { expiryDate, ...shown } = json.data
  assert.deepEqual(shown, {
    number: '6000002',
    status: 'active',
    currency: 'AUD',
    lockedUntil: null,
    email: null,
    originalAmount: '50.00',
    usedAmount: '10.50',
    availableAmount: '39.50',
  })
  assert.match(expiryDate, /^\d{4}-\d\d-\d\d$/)
  assert.doesNotMatch(text, /0042/)
  simulator.change({ kind: 'edit-voucher', number: '6000002', fields: { used: 20 } })
  const get = await api.get('/vouchers/6000002', { 'x-voucher-pin': '0042' })
  assert.equal(get.json.data.availableAmount, '30.00')
})

test('an unknown number, a wrong PIN and what is no number are one and the same answer', async () => {
  const guesses = [
    ...([
      ['999', '1'],
      [number, '9999'],
      ['6000002', '42'],
      ['6000008', '1'],
      ['6000005', '5555'],
    ] as const),
    ...([
      ['..', '1'],
      ['GVValid', '1'],
      ['6000001/', pin],
      ['6000001?x', pin],
      [' 6000001', pin],
      ['６０００００１', pin],
    ] as const),
  ]
  const answers: object[] = []
  for (const [given, as] of guesses) answers.push(refusalOf(await lookUp(api, given, as)))
  for (const answer of answers) assert.deepEqual(answer, answers[0])
  assert.equal((answers[0] as { code: string }).code, 'voucher_not_accepted')
  assert.deepEqual(refusalOf(await validate(api, '10.00', number, '9999')), answers[0])
})

test('a voucher that answers to another number than was asked for does not open', async () => {
  // A back office that takes no notice of case, or of zeros in front, would otherwise let everybody guess under many names.
  simulator.state.vouchers.set('A1', { ...voucherOf(number), number: 'a1' })
  isProblem(await lookUp(api, 'A1'), 'voucher_not_accepted', api.baseUrl)
})

const voucherOf = (of: string) => {
  const voucher = simulator.state.vouchers.get(of)
  if (!voucher) throw new Error(`There is no voucher ${of}.`)
  return voucher
}

test('each thing that is the matter with a voucher has its answer', async () => {
  const cases: [string, string, ErrorCode, string?][] = [
    ['6000003', '3333', 'voucher_unusable', 'redeemed'],
    ['6000004', '4444', 'voucher_unusable', 'not issued'],
    ['6000006', '6666', 'voucher_unusable', 'suspended'],
    ['6000010', '1010', 'voucher_unusable'],
  ]
  for (const [of, as, code, reason] of cases)
    for (const answer of [await lookUp(api, of, as), await validate(api, '10.00', of, as)]) {
      isProblem(answer, code, api.baseUrl)
      assert.equal(answer.json.reason, reason)
    }
  const expired = await lookUp(api, '6000007', '7777')
  assert.deepEqual([expired.json.data.status, expired.json.data.availableAmount], ['expired', '0.00'])
  const late = await validate(api, '10.00', '6000007', '7777')
  isProblem(late, 'voucher_unusable', api.baseUrl)
  assert.equal(late.json.reason, 'expired')
  isProblem(await validate(api, '100.01'), 'insufficient_voucher_balance', api.baseUrl)
  isProblem(await validate(api, '24.99', '6000009', '9999'), 'voucher_must_be_used_in_full', api.baseUrl)
  assert.equal((await validate(api, '25.00', '6000009', '9999')).status, 200)
  assert.equal(validations('6000003') + validations('6000007') + validations('6000001'), 0)
})

test('what the back office refuses in a validation or a lock is an answer of ours, never a fault', async () => {
  const refuse = (path: string, code: number, status = 403) =>
    simulator.faults.add({ kind: 'error', path, status, code, description: `about ${pin}`, times: 1 })
  const validation: [number, ErrorCode, string?][] = [
    ...([
      [5053, 'voucher_not_accepted'],
      [5054, 'voucher_unusable', 'redeemed'],
      [5055, 'voucher_not_accepted'],
    ] as const),
    ...([
      [5056, 'voucher_unusable', 'expired'],
      [5057, 'voucher_unusable', 'not issued'],
    ] as const),
    ...([
      [5059, 'voucher_unusable', 'suspended'],
      [5060, 'invalid_field'],
      [5061, 'validation_id_incorrect'],
    ] as const),
    ...([
      [5062, 'insufficient_voucher_balance'],
      [5065, 'voucher_unusable', 'expired'],
    ] as const),
    ...([
      [5066, 'voucher_must_be_used_in_full'],
      [5219, 'voucher_unusable'],
      [5008, 'voucher_not_accepted'],
    ] as const),
    [5068, 'back_office_error'],
  ].map(([code, ours, reason]) => [code, ours, reason] as [number, ErrorCode, string?])
  for (const [code, ours, reason] of validation) {
    refuse('/Voucher/GVValid/*', code, code === 5008 ? 404 : 403)
    const answer = await validate(api)
    isProblem(answer, ours, api.baseUrl, '/vouchers/validate')
    assert.equal(answer.json.reason, reason, String(code))
    assert.doesNotMatch(answer.text, /about|1234/)
  }
  refuse('/Voucher/GVValid/*', 5060)
  const query = await api.get(`/vouchers/${number}?amount=10.00`, { 'x-voucher-pin': pin })
  assert.deepEqual(query.json.errors[0].parameter, 'amount')
  // Somebody outside holds it; until when is not told.
  refuse('/Voucher/GVValid/*', 5067)
  const held = await validate(api)
  assert.deepEqual([held.status, held.json.code, held.json.lockedUntil], [409, 'voucher_locked', undefined])
  for (const [code, ours] of [
    [5067, 409],
    [5059, 422],
    [5109, 502],
  ] as const) {
    const mine = await validationOf(api)
    refuse('/Voucher/Lock/*', code)
    assert.equal((await lock(api, number, mine)).status, ours)
    assert.equal((await lock(api, number, mine, 0)).status, 200, 'the validation is still there')
  }
})

test('while somebody holds a voucher nobody asks the back office for a validation, and the holder is not disturbed', async () => {
  const mine = await validationOf(api)
  assert.doesNotMatch(mine, /^[0-9a-f]{8}-/, 'not the id of the back office')
  const held = await lock(api, number, mine, 600)
  assert.equal(held.status, 200)
  assert.deepEqual(
    [held.json.data.status, held.json.data.availableAmount, held.json.data.originalAmount],
    ['locked', '100.00', '100.00'],
  )
  assert.equal(validations(), 1)
  for (const by of [other, api]) {
    const refused = await validate(by)
    isProblem(refused, 'voucher_locked', by === api ? api.baseUrl : second.baseUrl, '/vouchers/validate')
    assert.equal(refused.json.lockedUntil, held.json.data.lockedUntil)
    assert.doesNotMatch(refused.text, new RegExp(api.username))
  }
  isProblem(await lookUp(other, number, '9999'), 'voucher_not_accepted', second.baseUrl)
  const seen = (await lookUp(other)).json.data
  assert.deepEqual([seen.status, seen.lockedUntil], ['locked', held.json.data.lockedUntil])
  assert.equal(validations(), 1)
  assert.equal((await lock(other, number, mine, 700)).status, 200, 'the validation is what holds, at any server')
  assert.equal((await lock(api, number, mine, 0)).json.data.status, 'active')
  assert.ok(voucherOf(number).lockedUntil <= simulator.clock.now())
  const theirs = await validationOf(other)
  isProblem(await lock(api, number, mine), 'validation_id_incorrect', api.baseUrl)
  assert.equal((await lock(other, number, theirs)).status, 200)
  isProblem(await lock(api, number, mine), 'voucher_locked', api.baseUrl)
})

test('of 20 clients at two servers never two hold a voucher, and no lock of one is broken by another', async () => {
  const held: { from: number; to: number }[] = []
  const seen = new Map<string, number>()
  await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const me = i % 2 ? api : other
      for (let n = 0; n < 5; n++) {
        await delay(Math.random() * 300)
        const validated = await validate(me)
        const answer = validated.status === 200 ? await lock(me, number, validated.json.data.validationId) : validated
        const outcome = String(answer.json.code ?? answer.status)
        seen.set(outcome, (seen.get(outcome) ?? 0) + 1)
        if (answer.status !== 200) continue
        const from = performance.now()
        await lookUp(me)
        const to = performance.now()
        assert.equal((await lock(me, number, validated.json.data.validationId, 0)).status, 200)
        held.push({ from, to })
      }
    }),
  )
  const told = JSON.stringify(Object.fromEntries(seen))
  for (const outcome of seen.keys()) assert.match(outcome, /^(200|voucher_locked|validation_id_incorrect)$/, told)
  assert.ok(held.length >= 3 && (seen.get('voucher_locked') ?? 0) > 0, told)
  held.sort((a, b) => a.from - b.from)
  for (const [i, { from }] of held.entries()) assert.ok(i === 0 || from >= (held[i - 1]?.to ?? 0), 'two at a time')
  let isHeld = false
  for (const { kind } of simulator.ledger.effects) {
    if (kind === 'voucher locked') isHeld = true
    if (kind === 'voucher unlocked') isHeld = false
    assert.ok(!(isHeld && kind === 'voucher validated'))
  }
  assert.equal(simulator.ledger.callsTo({ path: '/Voucher/GVValid/*', status: 403 }).length, 0, 'nor was it tried')
})

test('of clients that lock with one validation all renew; of those with older ones none holds', async () => {
  const older = await validationOf(api)
  const newest = await validationOf(other)
  const answers = await Promise.all(
    [older, newest, older, newest, older].map((id, i) => lock(i % 2 ? other : api, number, id)),
  )
  assert.deepEqual(
    answers.map(({ status }) => status === 200),
    [false, true, false, true, false],
  )
})

test('a validation that a till has ended opens nothing any more, and the next one does', async () => {
  const mine = await validationOf(api)
  const till = askerOf(() => simulator.url)
  assert.equal((await till(`Voucher/GVValid/${number}?pin=${pin}&amount=1`)).status, 200)
  isProblem(await lock(api, number, mine), 'validation_id_incorrect', api.baseUrl)
  const tried = simulator.ledger.callsTo({ path: '/Voucher/Lock/*' }).length
  isProblem(await lock(api, number, mine), 'validation_id_incorrect', api.baseUrl)
  assert.equal(simulator.ledger.callsTo({ path: '/Voucher/Lock/*' }).length, tried, 'it is not tried again')
  assert.equal((await lock(api, number, await validationOf(api))).status, 200)
})

test('a lock that has run out is free, by the clock of the database, and its holder is refused', async () => {
  const mine = await validationOf(api)
  await lock(api, number, mine, 60)
  simulator.clock.advance(61)
  isProblem(await validate(other), 'voucher_locked', second.baseUrl)
  await backDate()
  assert.equal((await lookUp(api)).json.data.status, 'active')
  const theirs = await validationOf(other)
  isProblem(await lock(api, number, mine), 'validation_id_incorrect', api.baseUrl)
  assert.equal((await lock(other, number, theirs)).status, 200)
  isProblem(await lock(api, number, mine, 0), 'voucher_locked', api.baseUrl)
})

test('a validation ends after 24 hours; the lock that it holds can be given back then, and not renewed', async () => {
  const age = () => api.db.run(sql`update upstream_voucher set validated_until = now() where number = ${number}`)
  const first = await validationOf(api)
  await age()
  isProblem(await lock(api, number, first), 'validation_id_incorrect', api.baseUrl)
  const mine = await validationOf(api)
  await lock(api, number, mine, 86_400)
  await age()
  isProblem(await lock(api, number, mine, 60), 'validation_id_incorrect', api.baseUrl)
  assert.equal((await lock(api, number, mine, 0)).status, 200)
})

test('the daily job forgets the vouchers that are done with, and none that somebody may still use', async () => {
  const known = async () =>
    (await api.db.rows<{ number: string }>(sql`select number from upstream_voucher order by 1`)).length
  const job = () => expireVouchers({ db: api.db, log: pino({ level: 'silent' }) } as Work)
  const week = (column: 'validated_until' | 'locked_until', more: string) =>
    api.db.run(
      sql`update upstream_voucher set ${raw(column)} = now() - interval '7 days' + ${more}::interval where number = ${number}`,
    )
  const mine = await validationOf(api)
  await job()
  assert.equal((await lock(api, number, mine, 60)).status, 200, 'a validation that counts')
  await week('validated_until', '-1 s')
  await job()
  assert.equal(await known(), 1, 'a lock that holds')
  await week('locked_until', '1 minute')
  await job()
  assert.equal(await known(), 1, 'one of this week')
  await week('locked_until', '-1 s')
  await job()
  assert.equal(await known(), 0)
  simulator.clock.advance(61)
  const next = await validationOf(api)
  assert.equal((await lock(api, number, next, 0)).status, 200, 'a voucher that was forgotten is as good as before')
  await api.db.transaction(tx => endUpstreamValidation(tx, api.service, number))
  await job()
  assert.equal(await known(), 0, 'one that is spent')
})

test('validation ids cannot be guessed without being noticed, and are those of one voucher and one service', async () => {
  const mine = await validationOf(api)
  const wrong = refusalOf(await lock(api, number, `${mine.slice(0, -1)}${mine.endsWith('A') ? 'B' : 'A'}`))
  assert.equal(wrong.code, 'validation_id_incorrect')
  const { validationId } = voucherOf(number)
  const tenant = await api.tenant(settings)
  assert.deepEqual(refusalOf(await lock(api, number, validationId)), wrong, 'the id of the back office')
  assert.deepEqual(refusalOf(await lock(api, '6000002', mine)), wrong)
  assert.deepEqual(refusalOf(await lock(tenant, number, mine)), wrong)
  const codes: string[] = []
  for (let i = 0; i < 40; i++) codes.push((await lock(api, number, `guess${i}`)).json.code)
  assert.ok(codes.includes('too_many_failures'))
  assert.equal(simulator.ledger.callsTo({ path: '/Voucher/Lock/*' }).length, 0)
})

test('guesses do not reach the back office once a voucher refuses, nor once an address has had too many', async () => {
  const asked = () => simulator.ledger.callsTo({ path: '/Voucher/*' }).length
  await startOfMinute()
  for (let i = 0; i < 8; i++)
    isProblem(await lookUp(i % 2 ? api : other, number, '9999'), 'voucher_not_accepted', (i % 2 ? api : second).baseUrl)
  assert.equal(asked(), 5)
  isProblem(await lookUp(api), 'voucher_not_accepted', api.baseUrl)
  isProblem(await validate(api), 'voucher_not_accepted', api.baseUrl)
  assert.equal(asked(), 5, 'the right PIN does not either')
  await forgetFailures(api)
  await startOfMinute()
  const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => lookUp(i % 2 ? api : other, number, `${i}`)))
  for (const { json } of answers) assert.equal(json.code, 'voucher_not_accepted')
  assert.equal(asked(), 10, 'nor do more at once than one after the other')
  await forgetFailures(api)
  await startOfMinute()
  for (let i = 0; i < 30; i++) assert.equal((await lookUp(api, `77${i}`, '1')).status, 403)
  const before = asked()
  isProblem(await lookUp(api), 'too_many_failures', api.baseUrl)
  isProblem(await lookUp(api, '779', '1'), 'too_many_failures', api.baseUrl)
  assert.equal(asked(), before)
})

/** Failures are counted by the minute: waits for the next one where little is left of this one. */
async function startOfMinute() {
  const row = await api.db.row<{ left: number }>(sql`select 60 - extract(second from now())::float8 as left`)
  if (row && row.left < 8) await delay(row.left * 1_000)
}

test('a right PIN makes the wrong ones before it forgotten; what is the matter with a voucher counts for none', async () => {
  for (let i = 0; i < 4; i++) await lookUp(api, number, '9999')
  assert.equal((await lookUp(api)).status, 200)
  for (let i = 0; i < 4; i++) await lookUp(api, number, '9999')
  assert.equal((await lookUp(api)).status, 200)
  for (let i = 0; i < 6; i++) isProblem(await lookUp(api, '6000003', '3333'), 'voucher_unusable', api.baseUrl)
})

/** Draws as an order does that then is, or is not, placed. */
const draw = (validationId: string, amount: string, { isPlaced = true, of = number } = {}) =>
  api.db
    .transaction(async tx => {
      const pointer = '/payments/0/voucher'
      const id = await drawnValidation(
        { tx, keys: api.keys, service: api.service },
        { number: of, validationId, amount, pointer },
      )
      if (!isPlaced) throw new Undone(id)
      return id
    })
    .catch(error => {
      if (error instanceof Undone) return error.message
      throw error
    })
class Undone extends Error {}

test('a draw gives the id that the back office knows, once', async () => {
  const mine = await validationOf(api)
  await lock(api, number, mine)
  assert.equal(await draw(mine, '30.00', { isPlaced: false }), voucherOf(number).validationId)
  assert.equal((await lookUp(api)).json.data.status, 'locked', 'an order that fails spends nothing')
  assert.equal(await draw(mine, '30.00'), voucherOf(number).validationId)
  assert.equal((await lookUp(api)).json.data.status, 'active', 'the lock is spent with it')
  await rejects(draw(mine, '30.00'), 'validation_id_incorrect')
  isProblem(await lock(api, number, mine), 'validation_id_incorrect', api.baseUrl)
})

test('a draw is refused for what the embedded back office refuses it for', async () => {
  await rejects(draw('x', '1.00'), 'validation_id_incorrect')
  const older = await validationOf(api)
  const mine = await validationOf(other)
  await rejects(draw(older, '1.00'), 'validation_id_incorrect')
  await lock(other, number, mine)
  await rejects(draw(older, '1.00'), 'voucher_locked')
  await rejects(draw(mine, '100.01'), 'insufficient_voucher_balance')
  await rejects(draw(mine, '0.00'), 'invalid_field')
  await rejects(draw(mine, '1.00', { of: '6000002' }), 'validation_id_incorrect')
  assert.equal(await draw(mine, '100.00'), voucherOf(number).validationId)
})

test('of draws at once with one validation one gets through', async () => {
  const mine = await validationOf(api)
  const drawn = await Promise.allSettled(Array.from({ length: 8 }, () => draw(mine, '10.00')))
  assert.equal(drawn.filter(({ status }) => status === 'fulfilled').length, 1)
})

async function rejects(work: Promise<unknown>, code: ErrorCode) {
  const error = await work.then(
    () => undefined,
    fault => fault,
  )
  assert.ok(error instanceof ApiError, String(error))
  assert.equal(error.code, code)
  for (const { pointer } of error.faults) assert.equal(pointer, '/payments/0/voucher')
  assert.ok(error.faults.length)
}

test('neither PIN nor the back office’s validation is in a log, an answer or a column', async () => {
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
  const { client, backOffice } = behind(simulator, { log })
  const logging = await startTestService({ beside: api, log, backOffice })
  try {
    const secret = '987654321'
    simulator.change({ kind: 'edit-voucher', number, fields: { pin: secret } })
    const answers: Answer[] = []
    const look = async (query = '') =>
      answers.push(await logging.get(`/vouchers/${number}${query}`, { 'x-voucher-pin': secret }))
    await look()
    for (const fault of [
      { kind: 'error', status: 403, code: 9_999, description: `The PIN ${secret} is odd` },
      { kind: 'error', status: 400, code: 5_053, description: `The PIN ${secret} is odd` },
      { kind: 'html' },
      { kind: 'truncated' },
      { kind: 'lost-answer' },
      { kind: 'redirect', location: `/Voucher/1?pin=${secret}` },
    ] as const) {
      simulator.faults.add({ ...fault, path: '/Voucher/*', times: 2 })
      await look('?amount=10.00')
      simulator.faults.clear()
    }
    await forgetFailures(api)
    await look('?amount=10.00')
    assert.equal(answers.at(-1)?.status, 200)
    const { validationId } = voucherOf(number)
    const rows = await api.db.rows<{ row: string }>(sql`select v::text as row from upstream_voucher v`)
    assert.equal(rows.length, 1)
    assert.ok(
      lines.some(line => line.includes('***')),
      'the calls that failed are logged',
    )
    for (const text of [...lines, ...rows.map(({ row }) => row), ...answers.map(answer => answer.text)]) {
      assert.doesNotMatch(text, new RegExp(secret))
      assert.ok(!text.includes(validationId), text)
    }
    assert.doesNotMatch(lines.join(''), /x-voucher-pin/i)
  } finally {
    await logging.stop()
    client.close()
  }
})

test('a lock whose answer is lost can be repeated, and is told to be unknown until then', async () => {
  const mine = await validationOf(api)
  simulator.faults.add({ kind: 'lost-answer', path: '/Voucher/Lock/*', times: 1 })
  isProblem(await lock(api, number, mine), 'outcome_unknown', api.baseUrl)
  const blind = await validate(other)
  assert.deepEqual([blind.status, blind.json.code], [409, 'voucher_locked'])
  assert.equal((await lock(api, number, mine)).status, 200)
  assert.equal(voucherOf(number).lockedUntil > simulator.clock.now(), true)
})

test('while the back office is away vouchers are told to wait, and nothing is counted', async () => {
  const mine = await validationOf(api)
  await simulator.refuse()
  try {
    for (const answer of [await lookUp(api), await validate(api), await lock(api, number, mine)]) {
      isProblem(answer, 'back_office_unavailable', api.baseUrl)
      assert.match(String(answer.headers['retry-after']), /^\d+$/)
    }
    assert.equal(await api.db.run(sql`select from pin_guard`), 0)
  } finally {
    await simulator.accept()
  }
})
