import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { createSender } from '../../simulator/send.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { findElement, findText } from '../../simulator/xml/payload.ts'

const simulator = await startSimulator({ now: '2026-02-03T05:32:15Z' })
after(() => simulator.close())
beforeEach(() => simulator.reset())
const send = createSender(() => simulator.url)

const buildRequestId = (n: number) => `1f2e558a-a062-4e6c-84bc-697dd5fcfd${n}`
const redeem = (code: string, requestId: string, reserved: boolean) =>
  send('Coupons/Redemptions', {
    body: `<CouponRedemption><RequestId>${requestId}</RequestId><PersonId>3001</PersonId><CouponCode>${code}</CouponCode><Reserved>${reserved}</Reserved><Transaction><Detail><Key>1</Key><SkuId>12001</SkuId><Quantity>2</Quantity><Price>50</Price></Detail></Transaction></CouponRedemption>`,
    version: '1.0',
  })

test('a coupon returns the discount of each line', async () => {
  const { xml } = await redeem('BLACK21', buildRequestId(10), false)
  const detail = findElement(xml, 'Transaction', 'Detail', 'NewBreakdown', 'NewDetail')
  assert.deepEqual([findText(detail, 'Discount'), findText(detail, 'Value')], ['20', '80'])
  assert.equal(findText(detail, 'Discounts', 'Discount', 'Redemption', 'RequestId'), buildRequestId(10))
})

test('a unique coupon is reserved by one request until it is released', async () => {
  assert.equal((await redeem('SEASON1', buildRequestId(10), true)).status, 200)
  assert.equal((await redeem('SEASON1', buildRequestId(10), true)).status, 200)
  assert.equal((await redeem('SEASON1', buildRequestId(11), true)).code, 5230)
  assert.equal((await send(`Coupons/Redemptions/${buildRequestId(11)}`, { method: 'DELETE' })).code, 5234)
  assert.equal((await send(`Coupons/Redemptions/${buildRequestId(10)}`, { method: 'DELETE' })).status, 200)
  assert.equal((await redeem('SEASON1', buildRequestId(11), true)).status, 200)
})

test('an unusable coupon is rejected with its code', async () => {
  const codes = await Promise.all(
    ['NONE', 'DISABLED', 'EARLY', 'EXPIRED'].map(async code => (await redeem(code, buildRequestId(10), true)).code),
  )
  assert.deepEqual(codes, [5225, 5226, 5227, 5228])
})
