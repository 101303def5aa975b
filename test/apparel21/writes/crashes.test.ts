import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve } from '../../support/processes.ts'
import { gift } from '../../support/voucher-shop.ts'
import { startProcessFixture } from './processes.ts'

const { simulator, buildEnvironment, send, countTableRows, expireClaims, buildPerson, buildOrder } =
  await startProcessFixture()
/** A process without faults, which gets the repeated requests. */
const steady = await serve(['--no-demo'], buildEnvironment('steady'))

const writes = {
  customer: async (name: string) => ({
    path: '/customers',
    body: buildPerson(name),
    effect: 'person created' as const,
    countRows: () => countTableRows('customer', `email = '${name}@example.com'`),
  }),
  order: async () => {
    const before = await countTableRows('sales_order')
    const countRows = async () => (await countTableRows('sales_order')) - before
    return { path: '/orders', body: buildOrder(), effect: 'order created' as const, countRows }
  },
  return: async (name: string) => {
    const body = buildOrder()
    const placed = await send(steady, '/orders', body, { key: `for ${name}` })
    assert.equal(placed.status, 201, placed.code)
    simulator.change({ kind: 'despatch-order', id: Number(placed.data.id) })
    const before = await countTableRows('sales_return')
    return {
      path: `/orders/${placed.data.id}/returns`,
      effect: 'return created' as const,
      body: { lines: [{ sku: body.lines[0]?.sku, quantity: 1, reasonCode: 'SIZE' }] },
      countRows: async () => (await countTableRows('sales_return')) - before,
    }
  },
}

const buildGift = (receiverEmail: string) => ({ ...gift, gateway: 'visa', receiverEmail })
/** Receivers of a voucher, with their crash points. For a new customer, a person is created in the back office first. */
const receivers = {
  'an existing customer': {
    crashPoints: [
      'before_effect',
      'before_upstream',
      'after_upstream',
      'after_effect',
      'before_commit',
      'after_commit',
    ],
  },
  'a new customer': { crashPoints: ['before_upstream', 'after_upstream'] },
} as const

for (const [receiver, { crashPoints }] of Object.entries(receivers))
  for (const crashPoint of crashPoints)
    test(`a voucher for ${receiver} killed at ${crashPoint} exists once after its repeat`, async () => {
      const [shopper] = [...simulator.state.persons.values()].filter(({ email: ownEmail }) => ownEmail !== '')
      const isNew = receiver === 'a new customer'
      const email = isNew ? `gift-${crashPoint}@example.com` : (shopper?.email ?? assert.fail())
      const key = `gift ${receiver} ${crashPoint}`
      simulator.ledger.clear()
      const countEffects = () => simulator.ledger.findEffects('voucher sold').length
      const countPersons = () =>
        [...simulator.state.persons.values()].filter(candidate => candidate.email === email).length
      const before = await countTableRows('upstream_voucher_sale')
      const countRows = async () => (await countTableRows('upstream_voucher_sale', 'order_id is not null')) - before
      const victim = await serve(['--no-demo'], buildEnvironment('victim', { FAILPOINT: crashPoint }))
      await assert.rejects(send(victim, '/vouchers', buildGift(email), { key }))
      assert.equal((await victim.ended).signal, 'SIGKILL')
      const isSold = !isNew && crashPoint !== 'before_effect' && crashPoint !== 'before_upstream'
      const hasPerson = isNew ? crashPoint === 'after_upstream' : true
      assert.deepEqual(
        [countEffects(), countPersons(), await countRows()],
        [Number(isSold), Number(hasPerson), Number(crashPoint === 'after_commit')],
      )
      await expireClaims()
      const again = await send(steady, '/vouchers', buildGift(email), { key })
      assert.deepEqual([again.status, again.data?.status], [202, 'pending'], again.code)
      const third = await send(steady, '/vouchers', buildGift(email), { key })
      assert.deepEqual(third.data, again.data)
      assert.deepEqual([countEffects(), countPersons(), await countRows()], [1, 1, 1])
      const [sold] = simulator.ledger.findEffects('order created')
      assert.equal(simulator.state.orders.get(Number(sold?.id))?.number, again.data.orderNumber)
      const mails = simulator.state.mail.length
      simulator.change({ kind: 'allot-vouchers' })
      assert.deepEqual(
        simulator.state.mail.slice(mails).map(({ to }) => to),
        [email],
      )
    })

for (const crashPoint of ['before_upstream', 'after_upstream'] as const)
  for (const [kind, prepareWrite] of Object.entries(writes))
    test(`a ${kind} killed at ${crashPoint} exists once everywhere after its repeat`, async () => {
      const name = `${kind}-${crashPoint}`.replace('_', '-')
      const { path, body, effect, countRows } = await prepareWrite(name)
      simulator.ledger.clear()
      const countEffects = () => simulator.ledger.findEffects(effect).length
      const victim = await serve(['--no-demo'], buildEnvironment('victim', { FAILPOINT: crashPoint }))
      await assert.rejects(send(victim, path, body, { key: name }))
      assert.equal((await victim.ended).signal, 'SIGKILL')
      assert.deepEqual([countEffects(), await countRows()], [crashPoint === 'after_upstream' ? 1 : 0, 0])
      await expireClaims()
      const again = await send(steady, path, body, { key: name })
      assert.equal(again.status, 201, again.code)
      assert.deepEqual([countEffects(), await countRows()], [1, 1])
    })

for (const crashPoint of ['before_upstream', 'after_upstream'] as const)
  for (const lockedBy of ['its validation', 'its PIN'])
    test(`a lock by ${lockedBy} killed at ${crashPoint} belongs only to its repeat`, async () => {
      const voucher =
        [...simulator.state.vouchers.values()].find(candidate => candidate.lockedUntil === 0) ?? assert.fail()
      const { number, pin } = voucher
      const validate = () => send(steady, '/vouchers/validate', { number, pin, amount: '5.00' })
      const opening = lockedBy === 'its PIN' ? { pin } : { validationId: (await validate()).data.validationId }
      const body = { ...opening, lockSeconds: 600 }
      const lock = { method: 'PUT', key: `lock ${crashPoint} ${lockedBy}` } as const
      const path = `/vouchers/${number}/lock`
      const victim = await serve(['--no-demo'], buildEnvironment('victim', { FAILPOINT: crashPoint }))
      await assert.rejects(send(victim, path, body, lock))
      assert.equal((await victim.ended).signal, 'SIGKILL')
      assert.equal(voucher.lockedUntil > 0, crashPoint === 'after_upstream')
      await expireClaims()
      assert.equal((await validate()).code, 'voucher_locked')
      const again = await send(steady, path, body, lock)
      assert.deepEqual([again.status, again.data?.status], [200, 'locked'], again.code)
      assert.ok(voucher.lockedUntil > simulator.clock.now())
      const { validationId } = { ...opening, ...again.data }
      assert.equal(
        (await send(steady, path, { validationId, lockSeconds: 0 }, { method: 'PUT' })).data.status,
        'active',
      )
    })
