import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { priceOrder } from '../../../src/domain/orders/order-rules.ts'
import type { OrderInput } from '../../../src/domain/orders/orders.ts'
import {
  computeAmountDue,
  computeLineValue,
  computeRefund,
  computeShippedValue,
  computeUnitsValue,
  sum,
} from '../../../src/domain/orders/pricing.ts'
import { type SoldLine, validateReturn } from '../../../src/domain/orders/return-rules.ts'
import { returnStatuses } from '../../../src/domain/orders/returns.ts'
import { permittedReturnActions, returnActions } from '../../../src/domain/orders/transitions.ts'
import { address } from '../../support/order-shop.ts'

const taxHint = 'Tax on top of the prices belongs in `taxLines`.'
const money = fc.bigInt({ min: 0n, max: 10n ** 12n })
const quantity = fc.integer({ min: 1, max: 9_999 })

test('a line total is price times quantity less all discounts', () => {
  assert.equal(computeLineValue(2_999n, 3, [400n, 1n]), 8_596n)
  assert.equal(computeLineValue(100n, 1, [101n]), -1n)
  fc.assert(
    fc.property(money, quantity, fc.array(money, { maxLength: 5 }), (price, count, discounts) => {
      const units = Array.from({ length: Math.min(count, 50) }, () => price)
      const undiscounted = sum(units) + price * BigInt(count - units.length)
      assert.equal(computeLineValue(price, count, discounts) + sum(discounts), undiscounted)
    }),
  )
})

test('the amount due is lines plus freight and taxes, in any order', () => {
  fc.assert(
    fc.property(fc.array(money), money, fc.array(money), (values, freight, taxes) => {
      const withoutCharges = computeAmountDue(values.toReversed(), 0n, [])
      assert.equal(computeAmountDue(values, freight, taxes) - freight - sum(taxes), withoutCharges)
    }),
  )
  assert.equal(computeAmountDue([], 995n, [5n]), 1000n)
})

test('refunds of a line in any parts add up to its price', () => {
  const allocations = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(money, allocations, (value, counts) => {
      const paid = { value, quantity: counts.reduce((a, b) => a + b), returned: 0, refunded: 0n }
      for (const count of counts) {
        const refund = computeRefund(paid, count)
        assert.ok(refund >= 0n)
        // A part refunds its share, rounded to the smallest unit.
        const share = (value * BigInt(count)) / BigInt(paid.quantity)
        assert.ok(refund === share || refund === share + 1n, `${refund} for ${share}`)
        paid.returned += count
        paid.refunded += refund
      }
      assert.equal(paid.refunded, value)
    }),
  )
})

test('a unit is never refunded above its cost after cancelled returns', () => {
  // Ten units cost 1.00 each, less 0.02 in total. Returned one by one, the first and the sixth refund 0.99. The other returns
  // were cancelled.
  const line = { value: 998n, quantity: 10, returned: 2, refunded: 198n }
  assert.equal(computeRefund(line, 1), 100n)
  assert.equal(computeRefund(line, 8), 800n)
})

test('returns and cancellations in any order refund exactly the amount paid', () => {
  const move = fc.record({ count: fc.integer({ min: 1, max: 5 }), cancel: fc.option(fc.nat(20)) })
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 200n }), quantity, fc.array(move), (value, units, moves) => {
      const paid = { value, quantity: Math.min(units, 30), returned: 0, refunded: 0n }
      const open: { count: number; refund: bigint }[] = []
      const returnUnits = (expected: number) => {
        const count = Math.min(expected, paid.quantity - paid.returned)
        if (count === 0) return
        const refund = computeRefund(paid, count)
        assert.ok(refund >= 0n)
        // A refund is at most the price of its units, so a return never has a negative discount.
        const maxUnitPrice = (value + BigInt(paid.quantity) - 1n) / BigInt(paid.quantity)
        assert.ok(refund <= maxUnitPrice * BigInt(count), `${refund} for ${count} at ${maxUnitPrice}`)
        open.push({ count, refund })
        paid.returned += count
        paid.refunded += refund
        assert.ok(paid.refunded <= value)
      }
      for (const { count, cancel } of moves) {
        const [cancelled] = cancel === null ? [] : open.splice(cancel % (open.length || 1), 1)
        if (cancelled) {
          paid.returned -= cancelled.count
          paid.refunded -= cancelled.refund
        } else returnUnits(count)
      }
      returnUnits(paid.quantity)
      assert.equal(paid.returned, paid.quantity)
      assert.equal(paid.refunded, value)
      assert.equal(sum(open.map(line => line.refund)), value)
    }),
  )
})

const buildInput = (more: Partial<OrderInput>): OrderInput => ({
  customerId: '1',
  billingAddress: address,
  deliveryAddress: address,
  lines: [{ sku: 'A', quantity: 1 }],
  payments: [{ gateway: 'visa', amount: '10.00' }],
  ...more,
})
const context = {
  customer: true,
  store: true,
  numberTaken: false,
  gateways: ['visa'],
  giftCardSkuId: undefined,
  variants: new Map([['A', { skuId: '1', price: '10.00' }]]),
}

test('an order is valid only with exactly the amount due', () => {
  const cent = fc.integer({ min: 0, max: 5_000 })
  fc.assert(
    fc.property(quantity, cent, cent, fc.array(cent, { maxLength: 4 }), (count, freight, off, parts) => {
      const toAmount = (cents: number) => `${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
      const discount = Math.min(off, 1_000 * count)
      const due = 1_000 * count - discount + freight
      const validate = (amounts: number[]) =>
        priceOrder(
          buildInput({
            lines: [{ sku: 'A', quantity: count, discounts: [{ type: 'loyalty', amount: toAmount(discount) }] }],
            freight: toAmount(freight),
            payments: amounts.map(amount => ({ gateway: 'visa', amount: toAmount(amount) })),
          }),
          context,
          'AUD',
          2,
        )
      const partialAmounts: number[] = []
      for (const part of parts) partialAmounts.push(Math.min(part, due - total(partialAmounts)))
      const valid = validate([...partialAmounts, due - total(partialAmounts)])
      assert.deepEqual(valid.errors, [])
      assert.equal(valid.total, BigInt(due))
      const [error, ...more] = validate([...partialAmounts, due - total(partialAmounts) + 1]).errors
      assert.deepEqual([error?.code, error?.pointer, more], ['payment_total_mismatch', '/payments', []])
      assert.equal(
        error?.detail,
        `The payments must total ${toAmount(due)} AUD; they total ${toAmount(due + 1)} AUD. ${taxHint}`,
      )
    }),
  )
})
const total = (amounts: readonly number[]) => amounts.reduce((a, b) => a + b, 0)

test('currencies with no or three decimals are calculated in their own units', () => {
  const listErrors = (price: string, paid: string, currency: string, decimals: number) =>
    priceOrder(
      buildInput({ lines: [{ sku: 'A', quantity: 3 }], payments: [{ gateway: 'visa', amount: paid }] }),
      { ...context, variants: new Map([['A', { skuId: '1', price }]]) },
      currency,
      decimals,
    ).errors.map(error => error.detail)
  assert.deepEqual(listErrors('1200', '3600', 'JPY', 0), [])
  assert.deepEqual(listErrors('1200', '3601', 'JPY', 0), [
    `The payments must total 3600 JPY; they total 3601 JPY. ${taxHint}`,
  ])
  assert.deepEqual(listErrors('0.005', '0.015', 'KWD', 3), [])
})

test('errors in the order itself come before conflicts with other writes', () => {
  const { errors } = priceOrder(
    buildInput({ orderNumber: 'W1', lines: [{ sku: 'B', quantity: 1 }] }),
    { ...context, numberTaken: true },
    'AUD',
    2,
  )
  assert.deepEqual(
    errors.map(error => error.code),
    ['unknown_sku', 'order_number_taken'],
  )
})

test('shipped and cancelled units of a line share its value exactly', () => {
  const step = fc.record({ action: fc.constantFrom('ship', 'cancel', 'return'), count: fc.integer({ min: 1, max: 3 }) })
  const anyValue = fc.bigInt({ min: 0n, max: 1_000n })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), anyValue, fc.array(step, { maxLength: 12 }), (ordered, paid, steps) => {
      const state = {
        value: paid,
        quantity: ordered,
        shipped: 0,
        cancelled: 0,
        cancelledValue: 0n,
        returned: 0,
        refunded: 0n,
      }
      let soldValue = 0n
      for (const { action, count } of [...steps, { action: 'ship', count: ordered }]) {
        if (action === 'return') {
          const units = Math.min(count, state.shipped - state.returned)
          if (units === 0) continue
          state.refunded += computeRefund(
            { ...state, value: computeShippedValue(state), quantity: state.shipped },
            units,
          )
          state.returned += units
        } else {
          const units = Math.min(count, ordered - state.shipped - state.cancelled)
          const amount = computeUnitsValue(state, units)
          assert.ok(amount >= 0n)
          if (action === 'ship') {
            soldValue += amount
            state.shipped += units
          } else {
            state.cancelledValue += amount
            state.cancelled += units
          }
        }
        assert.equal(computeShippedValue(state), soldValue)
        assert.ok(state.refunded + state.cancelledValue <= paid)
      }
      assert.equal(soldValue + state.cancelledValue, paid)
    }),
  )
})

test("a return uses an SKU's first lines first, within their remaining quantity", () => {
  const line = fc.record({
    sku: fc.constantFrom('A', 'B', 'a'),
    status: fc.constantFrom('shipped', 'processing', 'cancelled'),
    quantity: fc.integer({ min: 1, max: 6 }),
    part: fc.integer({ min: 0, max: 6 }),
    value: fc.bigInt({ min: 0n, max: 1_000n }),
  })
  const returnedItem = fc.record({ sku: fc.constantFrom('A', 'B', 'a', 'C'), quantity: fc.integer({ min: 1, max: 6 }) })
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1, maxLength: 6 }),
      fc.array(returnedItem, { minLength: 1, maxLength: 5 }),
      (orderLines, expected) => {
        const lines = orderLines.map(({ status, part, ...soldLine }, i): SoldLine => {
          const units = status === 'processing' ? Math.min(part, soldLine.quantity) : soldLine.quantity
          const cancelled = status === 'cancelled' ? soldLine.quantity : 0
          const cancelledValue = cancelled ? soldLine.value : 0n
          const returns = { returned: 0, refunded: 0n }
          return { ...soldLine, sequence: i + 1, shipped: units - cancelled, cancelled, cancelledValue, ...returns }
        })
        const { errors, allocations } = validateReturn(
          { lines: expected.map(expectedLine => ({ ...expectedLine, reasonCode: 'SIZE' })) },
          { number: 'W1', lines },
          { returnReasons: [{ code: 'SIZE', name: 'Wrong size' }], defaultReturnReason: null },
        )
        const countSold = (sku: string) =>
          total(lines.filter(soldLine => soldLine.sku === sku).map(soldLine => soldLine.shipped))
        for (const [i, { sku }] of expected.entries()) {
          const soFar = total(
            expected
              .slice(0, i + 1)
              .filter(item => item.sku === sku)
              .map(item => item.quantity),
          )
          const codes = errors.filter(error => error.pointer?.startsWith(`/lines/${i}/`)).map(error => error.code)
          if (!lines.some(soldLine => soldLine.sku === sku)) assert.deepEqual(codes, ['sku_not_on_order'])
          else assert.deepEqual(codes, soFar > countSold(sku) ? ['quantity_exceeds_returnable'] : [])
        }
        for (const { sequence, sku, quantity: soldQuantity, value, shipped } of lines) {
          const lineAllocations = allocations.filter(allocation => allocation.orderSequence === sequence)
          const count = total(lineAllocations.map(allocation => allocation.quantity))
          assert.ok(count <= shipped)
          for (const allocation of lineAllocations) assert.equal(expected[allocation.entry]?.sku, sku)
          if (count === soldQuantity) assert.equal(sum(lineAllocations.map(allocation => allocation.value)), value)
        }
        if (errors.length === 0)
          for (const [i, { quantity: count }] of expected.entries())
            assert.equal(
              total(allocations.filter(allocation => allocation.entry === i).map(allocation => allocation.quantity)),
              count,
            )
      },
    ),
  )
})

test('a return goes from requested to received to refunded, unless cancelled early', () => {
  const transitions = returnStatuses.flatMap(from =>
    permittedReturnActions[from].map(action => `${from} ${returnActions[action]}`),
  )
  assert.deepEqual(transitions, [
    'requested received',
    'requested cancelled',
    'received refunded',
    'received cancelled',
  ])
  assert.deepEqual(Object.values(returnActions).toSorted(), ['cancelled', 'received', 'refunded'])
})
