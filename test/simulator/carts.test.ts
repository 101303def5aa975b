import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { createSender } from '../../simulator/send.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { findElement, findElements, findText } from '../../simulator/xml/payload.ts'

const simulator = await startSimulator({ now: '2026-02-03T05:32:15Z' })
after(() => simulator.close())
beforeEach(() => simulator.reset())
const send = createSender(() => simulator.url)

const buildDetail = (quantity: number, elements = '') =>
  `<CartDetail><SkuId>12001</SkuId><Quantity>${quantity}</Quantity>${elements}</CartDetail>`
const putCart = (details: string, { head = '', tail = '' } = {}) =>
  send('Carts/1234', {
    method: 'PUT',
    body: `<Cart>${head}${details && `<CartDetails>${details}</CartDetails>`}${tail}</Cart>`,
    version: '2.0',
  })

test('a cart gets prices, promotions and freight', async () => {
  const { status, xml } = await putCart(buildDetail(4), {
    tail: '<SelectedFreightOption><Id>162</Id></SelectedFreightOption>',
  })
  assert.equal(status, 200)
  const [line] = findElements(findElement(xml, 'CartDetails'), 'CartDetail')
  assert.deepEqual(
    [findText(line, 'Price'), findText(line, 'Discount'), findText(line, 'Value')],
    ['89.95', '35.98', '323.82'],
  )
  const discount = findElement(line, 'Discounts', 'Discount')
  assert.deepEqual(
    [findText(discount, 'DiscountTypeId'), findText(discount, 'PromoId'), findText(discount, 'Value')],
    ['2', '1080', '35.98'],
  )
  assert.deepEqual([findText(xml, 'TotalDiscount'), findText(xml, 'TotalDue')], ['35.98', '333.77'])
  assert.equal(findElements(findElement(xml, 'FreightOptions'), 'FreightType').length, 2)
})

test('a cart keeps manual discounts and adds the loyalty discount', async () => {
  const member = [...simulator.state.persons.values()].find(({ loyalties }) => loyalties.some(({ active }) => active))
  const card = member?.loyalties.find(({ active }) => active)
  assert.ok(member && card)
  simulator.state.loyaltyPercents.set(card.typeId, 5)
  const manual = '<Discounts><Discount><DiscountTypeId>1</DiscountTypeId><Value>10</Value></Discount></Discounts>'
  const { xml } = await putCart(buildDetail(1, manual), { head: `<PersonId>${member.id}</PersonId>` })
  const [line] = findElements(findElement(xml, 'CartDetails'), 'CartDetail')
  const types = findElements(findElement(line, 'Discounts'), 'Discount').map(discount =>
    findText(discount, 'DiscountTypeId'),
  )
  assert.deepEqual([types, findText(line, 'Value')], [['1', '3'], '75.95'])
})

test('a cart without products is rejected', async () => {
  const { status, code } = await putCart('')
  assert.deepEqual([status, code], [400, 5033])
})

test('freight options are listed from release 2021.1 in payload version 4', async () => {
  const { xml } = await send('FreightOptions', { version: '4.0' })
  const [option] = findElements(xml, 'FreightOption')
  assert.deepEqual(
    [findText(option, 'Id'), findText(option, 'Carrier', 'Code'), findText(option, 'SLA', 'Code')],
    ['161', 'AUS', 'Express'],
  )
})
