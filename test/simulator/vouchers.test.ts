import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { createSender } from '../../simulator/send.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { findText } from '../../simulator/xml/payload.ts'

const now = '2026-02-03T05:32:15Z'
const simulator = await startSimulator({ now })
after(() => simulator.close())
beforeEach(() => {
  simulator.reset()
  simulator.set({ release: '2025.1' })
  simulator.clock.freeze(now)
})
const send = createSender(() => simulator.url)

const lookUp = (number: string, pin: string) => send(`Voucher/${number}?pin=${pin}`)
const validate = (number: string, pin: string, amount = '10') =>
  send(`Voucher/GVValid/${number}?pin=${pin}&amount=${amount}`)
const getValidationId = async (number = '6000001', pin = '1234') =>
  findText((await validate(number, pin)).xml, 'ValidationId') ?? ''
const lock = (id: string, seconds = '', number = '6000001') =>
  send(`Voucher/Lock/${number}?ValidationId=${id}${seconds && `&LockSeconds=${seconds}`}`, { method: 'PUT' })

test('a number and its PIN open a voucher', async () => {
  const { status, xml } = await lookUp('6000002', '0042')
  assert.equal(status, 200)
  assert.deepEqual(
    ['OriginalAmount', 'UsedAmount', 'AvailableAmount'].map(name => findText(xml, name)),
    ['50', '10.5', '39.5'],
  )
  assert.match(findText(xml, 'ExpiryDate') ?? '', /T00:00:00$/)
  assert.equal(findText(xml, 'ValidationId'), undefined)
})

test('each voucher problem has its code', async () => {
  const codes = {
    '6000001/9': 5053,
    '6000001/': 5053,
    '6000002/42': 5053,
    '6000003/3333': 5054,
    '6000004/4444': 5057,
    '6000005/5555': 5056,
    '6000006/6666': 5059,
    '6000008/': 5055,
    '6000010/1010': 5219,
    '999/1': 5056,
  }
  for (const [key, expected] of Object.entries(codes)) {
    const [number = '', pin = ''] = key.split('/')
    for (const { status, code } of [await lookUp(number, pin), await validate(number, pin)])
      assert.deepEqual([status, code], [403, expected], key)
  }
  assert.equal((await send('Voucher/6000010?pin=1010', { country: 'NZ' })).status, 200)
  simulator.set({ release: '2021.1' })
  assert.equal((await lookUp('6000010', '1010')).status, 200, 'versions before 2021.2 have no currencies')
})

test('an expired voucher has no balance and cannot be validated', async () => {
  assert.equal(findText((await lookUp('6000007', '7777')).xml, 'AvailableAmount'), '0')
  const { code, text } = await validate('6000007', '7777')
  assert.equal(code, 5056)
  assert.match(text, /expired/)
})

test('the amount applies only to vouchers without change', async () => {
  assert.equal((await validate('6000001', '1234', '5000')).status, 200)
  assert.equal((await validate('6000009', '9999', '24.99')).code, 5066)
  assert.equal((await validate('6000009', '9999', '25')).status, 200)
  for (const amount of ['', 'abc', '-1']) assert.equal((await validate('6000001', '1234', amount)).code, 5060)
})

test('the next validation ends the previous ID', async () => {
  const [first, second] = [await getValidationId(), await getValidationId()]
  assert.match(first, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  assert.notEqual(first, second)
  const { status, code } = await lock(first)
  assert.deepEqual([status, code], [403, 5061])
  assert.deepEqual([(await lock(second)).status, (await lock(second)).text], [200, ''])
  assert.equal((await lock('')).code, 5061)
  assert.equal((await lock(second, '', '999')).code, 5061)
})

test('a lock lasts an hour, a given time or until undone', async () => {
  const id = await getValidationId()
  await lock(id)
  simulator.clock.advance(3_599)
  assert.equal((await validate('6000001', '1234')).code, 5067)
  simulator.clock.advance(1)
  const next = await getValidationId()
  assert.notEqual(next, '')
  await lock(next, '10')
  assert.equal((await validate('6000001', '1234')).code, 5067)
  assert.equal((await lookUp('6000001', '1234')).status, 200)
  assert.equal((await lock(next, '0')).status, 200)
  assert.equal((await validate('6000001', '1234')).status, 200)
  assert.equal((await lock(await getValidationId(), '-1')).code, 5109)
  const kinds = simulator.ledger.effects.map(effect => effect.kind.replace('voucher ', ''))
  assert.deepEqual(kinds, ['validated', 'locked', 'validated', 'locked', 'unlocked', 'validated', 'validated'])
})

test('the later of two concurrent validations can lock', async () => {
  const ids = await Promise.all([getValidationId(), getValidationId()])
  const locks = await Promise.all(ids.map(id => lock(id)))
  assert.deepEqual(locks.map(({ status }) => status).sort(), [200, 403])
})
