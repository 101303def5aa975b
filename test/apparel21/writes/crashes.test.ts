import assert from 'node:assert/strict'
import { test } from 'node:test'
import { address } from '../../support/order-shop.ts'
import { serve } from '../../support/processes.ts'
import { shopOfProcesses } from './processes.ts'

const { simulator, environmentOf, send, rows, claimsRunOut, person, order } = await shopOfProcesses()
/** A process that nothing is done to: it answers the repeats. */
const steady = await serve(['--no-demo'], environmentOf('steady'))

const writes = {
  customer: async (name: string) => ({
    path: '/customers',
    body: person(name),
    effect: 'person created' as const,
    here: () => rows('customer', `email = '${name}@example.com'`),
  }),
  order: async () => {
    const already = await rows('sales_order')
    const here = async () => (await rows('sales_order')) - already
    return { path: '/orders', body: order(), effect: 'order created' as const, here }
  },
  return: async (name: string) => {
    const body = order()
    const placed = await send(steady, '/orders', body, { key: `for ${name}` })
    assert.equal(placed.status, 201, placed.code)
    simulator.change({ kind: 'despatch-order', id: Number(placed.data.id) })
    const already = await rows('sales_return')
    return {
      path: `/orders/${placed.data.id}/returns`,
      effect: 'return created' as const,
      body: { lines: [{ sku: body.lines[0]?.sku, quantity: 1, reasonCode: 'SIZE' }] },
      here: async () => (await rows('sales_return')) - already,
    }
  },
}

const gift = (receiverEmail: string) => ({
  amount: '150.00',
  gateway: 'visa',
  receiverEmail,
  receiverName: 'Ann Lee',
  senderName: 'John Smith',
  subject: 'A gift for you',
  billingAddress: address,
})
/** Receivers of a voucher with the crash points that they reach. For a new customer, the back office creates a person first. */
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
      const there = () => simulator.ledger.effectsOf('voucher sold').length
      const persons = () => [...simulator.state.persons.values()].filter(candidate => candidate.email === email).length
      const already = await rows('upstream_voucher_sale')
      const here = async () => (await rows('upstream_voucher_sale', 'order_id is not null')) - already
      const doomed = await serve(['--no-demo'], environmentOf('doomed', { FAILPOINT: crashPoint }))
      await assert.rejects(send(doomed, '/vouchers', gift(email), { key }))
      assert.equal((await doomed.ended).signal, 'SIGKILL')
      const isSold = !isNew && crashPoint !== 'before_effect' && crashPoint !== 'before_upstream'
      const isMade = isNew ? crashPoint === 'after_upstream' : true
      assert.deepEqual(
        [there(), persons(), await here()],
        [Number(isSold), Number(isMade), Number(crashPoint === 'after_commit')],
      )
      await claimsRunOut()
      const again = await send(steady, '/vouchers', gift(email), { key })
      assert.deepEqual([again.status, again.data?.status], [202, 'pending'], again.code)
      const third = await send(steady, '/vouchers', gift(email), { key })
      assert.deepEqual(third.data, again.data)
      assert.deepEqual([there(), persons(), await here()], [1, 1, 1])
      const [sold] = simulator.ledger.effectsOf('order created')
      assert.equal(simulator.state.orders.get(Number(sold?.id))?.number, again.data.orderNumber)
      const mails = simulator.state.mail.length
      simulator.change({ kind: 'allot-vouchers' })
      assert.deepEqual(
        simulator.state.mail.slice(mails).map(({ to }) => to),
        [email],
      )
    })

for (const crashPoint of ['before_upstream', 'after_upstream'] as const)
  for (const [kind, make] of Object.entries(writes))
    test(`a ${kind} killed at ${crashPoint} exists once everywhere after its repeat`, async () => {
      const name = `${kind}-${crashPoint}`.replace('_', '-')
      const { path, body, effect, here } = await make(name)
      simulator.ledger.clear()
      const there = () => simulator.ledger.effectsOf(effect).length
      const doomed = await serve(['--no-demo'], environmentOf('doomed', { FAILPOINT: crashPoint }))
      await assert.rejects(send(doomed, path, body, { key: name }))
      assert.equal((await doomed.ended).signal, 'SIGKILL')
      assert.deepEqual([there(), await here()], [crashPoint === 'after_upstream' ? 1 : 0, 0])
      await claimsRunOut()
      const again = await send(steady, path, body, { key: name })
      assert.equal(again.status, 201, again.code)
      assert.deepEqual([there(), await here()], [1, 1])
    })

for (const crashPoint of ['before_upstream', 'after_upstream'] as const)
  for (const by of ['its validation', 'its PIN'])
    test(`a lock by ${by} killed at ${crashPoint} belongs only to its repeat`, async () => {
      const voucher =
        [...simulator.state.vouchers.values()].find(candidate => candidate.lockedUntil === 0) ?? assert.fail()
      const { number, pin } = voucher
      const validate = () => send(steady, '/vouchers/validate', { number, pin, amount: '5.00' })
      const opening = by === 'its PIN' ? { pin } : { validationId: (await validate()).data.validationId }
      const body = { ...opening, lockSeconds: 600 }
      const lock = { method: 'PUT', key: `lock ${crashPoint} ${by}` } as const
      const path = `/vouchers/${number}/lock`
      const doomed = await serve(['--no-demo'], environmentOf('doomed', { FAILPOINT: crashPoint }))
      await assert.rejects(send(doomed, path, body, lock))
      assert.equal((await doomed.ended).signal, 'SIGKILL')
      assert.equal(voucher.lockedUntil > 0, crashPoint === 'after_upstream')
      await claimsRunOut()
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
