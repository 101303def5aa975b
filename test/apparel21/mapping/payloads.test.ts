import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { addOwnershipSuffix, deriveNumber } from '../../../src/backoffice/apparel21/mapping/numbers.ts'
import { parseOrder, readLineStatuses } from '../../../src/backoffice/apparel21/mapping/order-from-xml.ts'
import {
  buildOrderPayload,
  isSameOrder,
  type NewOrder,
} from '../../../src/backoffice/apparel21/mapping/order-to-xml.ts'
import { buildChangedPerson, buildNewPerson } from '../../../src/backoffice/apparel21/mapping/person-to-xml.ts'
import { buildReturnPayload } from '../../../src/backoffice/apparel21/mapping/return-to-xml.ts'
import type { Xml } from '../../../src/backoffice/apparel21/xml/xml.ts'
import { deriveKeys } from '../../../src/crypto/keys.ts'
import { defaultSettings } from '../../../src/domain/tenancy/service-settings.ts'
import { address } from '../../support/order-shop.ts'
import { parseXmlDocument } from '../../support/xml-document.ts'

const getElementNames = ({ children }: Xml) => children.map(({ name }) => name)

test("a person is written in the guide's order and keeps unchanged fields", async () => {
  const person =
    await parseXmlDocument(`<Person><Future>1</Future><UpdateTimeStamp>6/05/2024 4:32:15 PM</UpdateTimeStamp>
    <Contacts><Phones><Work>3</Work><Home>1</Home><Mobile /></Phones><Email>jo@example.test</Email></Contacts><Surname>Sample </Surname>
    <Firstname>Jo</Firstname><Addresses><Delivery><City>PERTH</City></Delivery><Billing><Country>AUSTRALIA</Country><AddressLine1>1 Bay St</AddressLine1></Billing></Addresses>
    <Code>SAMPJO00</Code><Id>3001</Id><JobTitle>Botanist</JobTitle><Privacy>False</Privacy><IsAgent>true</IsAgent><Loyalties><Loyalty><Id>1</Id></Loyalty></Loyalties>
    <References><Reference><Id>4411</Id><ReferenceTypeId>1321</ReferenceTypeId></Reference><Reference><Id /><ReferenceTypeId>27</ReferenceTypeId></Reference></References></Person>`)
  const change = { title: 'Ms', mobile: '0400 1', address: { addressLine1: null, city: 'Melbourne' } }
  const text = buildChangedPerson(person, change, {
    privacy: true,
    references: new Map([
      ['1321', null],
      ['1322', '4421'],
    ]),
  })
  assert.equal(
    text.replace(/^<\?.*?\?>/, ''),
    '<Person><Id>3001</Id><Title>Ms</Title><Firstname>Jo</Firstname><Surname>Sample </Surname><JobTitle>Botanist</JobTitle>' +
      '<Privacy>true</Privacy><UpdateTimeStamp>6/05/2024 4:32:15 PM</UpdateTimeStamp>' +
      '<References><Reference><ReferenceTypeId>1321</ReferenceTypeId><Id /></Reference><Reference><ReferenceTypeId>27</ReferenceTypeId><Id /></Reference>' +
      '<Reference><ReferenceTypeId>1322</ReferenceTypeId><Id>4421</Id></Reference></References><IsAgent>true</IsAgent>' +
      '<Addresses><Billing><AddressLine1 /><City>Melbourne</City><Country>AUSTRALIA</Country></Billing><Delivery><City>PERTH</City></Delivery></Addresses>' +
      '<Contacts><Email>jo@example.test</Email><Phones><Home>1</Home><Mobile>0400 1</Mobile><Work>3</Work></Phones></Contacts></Person>',
  )
})

test('a new person has no code; an empty address carries the name', async () => {
  const input = { firstname: 'Jo', surname: 'Sample', contact: { email: 'jo@example.test' } }
  const person = await parseXmlDocument(buildNewPerson(input, { privacy: true, references: new Map() }, '2026-02-03'))
  assert.deepEqual(getElementNames(person), ['Firstname', 'Surname', 'StartDate', 'Privacy', 'Addresses', 'Contacts'])
  assert.deepEqual(
    person.children[4]?.children[0]?.children.map(({ name, text }) => `${name} ${text}`),
    ['ContactName Jo Sample'],
  )
})

const sample: NewOrder = {
  number: 'W1',
  personId: '3001',
  decimals: 2,
  pickupStoreId: undefined,
  freight: 995n,
  total: 3994n,
  input: {
    billingAddress: address,
    deliveryAddress: { ...address, addressLine2: null, state: null },
    lines: [
      {
        sku: 'A',
        quantity: 2,
        discounts: [
          { type: 'loyalty', reason: 'Gold', amount: '4.00' },
          { type: 'none', amount: '0.00' },
        ],
      },
      { sku: 'B', quantity: 1, discounts: [] },
    ],
  },
  lines: [
    { price: 1500n, value: 2600n },
    { price: 399n, value: 399n },
  ],
  skuIds: new Map([
    ['A', '12001'],
    ['B', '12002'],
  ]),
  contact: { name: 'Jo Sample', email: 'jo@example.test', phones: { home: null, mobile: '0400', work: null } },
  payments: [['PaymentDetail', [['Origin', 'CreditCard']]]],
}

test("an order is written in the guide's order", () => {
  assert.equal(
    buildOrderPayload(sample).replace(/^<\?.*?\?>/, ''),
    '<Order><OrderNumber>W1</OrderNumber><PersonId>3001</PersonId><Addresses>' +
      '<Billing><ContactName>Jo Sample</ContactName><AddressLine1>111 Collins St</AddressLine1><AddressLine2>Level 5</AddressLine2><City>Melbourne</City><State>VIC</State><Postcode>3000</Postcode><Country>Australia</Country></Billing>' +
      '<Delivery><ContactName>Jo Sample</ContactName><AddressLine1>111 Collins St</AddressLine1><City>Melbourne</City><Postcode>3000</Postcode><Country>Australia</Country></Delivery></Addresses>' +
      '<Contacts><Email>jo@example.test</Email><Phones><Mobile>0400</Mobile></Phones></Contacts><OrderDetails>' +
      '<OrderDetail><SkuId>12001</SkuId><Quantity>2</Quantity><Price>15.00</Price><Value>26.00</Value><Discounts><Discount><DiscountTypeId>1</DiscountTypeId><Description>loyalty: Gold</Description><Value>4.00</Value></Discount></Discounts></OrderDetail>' +
      '<OrderDetail><SkuId>12002</SkuId><Quantity>1</Quantity><Price>3.99</Price><Value>3.99</Value></OrderDetail></OrderDetails>' +
      '<SelectedFreightOption><Name>Freight</Name><Value>9.95</Value></SelectedFreightOption><Payments><PaymentDetail><Origin>CreditCard</Origin></PaymentDetail></Payments></Order>',
  )
  const collected = buildOrderPayload({ ...sample, freight: 0n, pickupStoreId: '7101' })
  assert.match(
    collected,
    /<PickupStoreId>7101<\/PickupStoreId><DespatchType>ClickAndCollect<\/DespatchType><Addresses>/,
  )
  assert.doesNotMatch(collected, /SelectedFreightOption/)
})

test('an order matches a posted one by person, units, values and total', async () => {
  const buildLine = (skuId: number, quantity: number, value: string) =>
    `<OrderDetail><SkuId>${skuId}</SkuId><Quantity>${quantity}</Quantity><Value>${value}</Value></OrderDetail>`
  const isSampleOrder = async (lines: string, personId = '3001', total = '39.94') => {
    const text = `<Order><PersonId>${personId}</PersonId><TotalDue>${total}</TotalDue><OrderDetails>${lines}</OrderDetails></Order>`
    return isSameOrder(await parseXmlDocument(text), sample)
  }
  const [a, b, freight] = [buildLine(12001, 2, '26'), buildLine(12002, 1, '3.990'), buildLine(9002, 1, '9.95')]
  assert.equal(await isSampleOrder(b + a + freight), true)
  assert.equal(await isSampleOrder(a + b), true)
  for (const lines of [
    a,
    a + b + b,
    a + b + freight + freight,
    a + buildLine(12003, 1, '3.99'),
    buildLine(12001, 1, '26') + b,
  ])
    assert.equal(await isSampleOrder(lines), false, lines)
  assert.equal(await isSampleOrder(a + b, '3002'), false)
  assert.equal(await isSampleOrder(a + b, '3001', '39.95'), false)
})

test('generated numbers are short and unique for each reference', () => {
  const first = deriveNumber('W', 'reference', 0)
  assert.match(first, /^W[0-9A-HJKMNP-TV-Z]{16}$/)
  assert.equal(deriveNumber('W', 'reference', 0), first)
  const otherNumbers = [
    deriveNumber('W', 'reference', 1),
    deriveNumber('W', 'Reference', 0),
    deriveNumber('R', 'reference', 0),
  ]
  assert.equal(new Set([first, ...otherNumbers].map(number => number.slice(1))).size, 4)
  const keys = deriveKeys(randomBytes(32))
  const addSuffix = (input: string, orderId = '1', id = 1) =>
    addOwnershipSuffix(keys, { id, name: 'luma', settings: defaultSettings }, orderId, input)
  assert.match(addSuffix('RMA-1'), /^RMA-1-[0-9A-HJKMNP-TV-Z]{6}$/)
  assert.equal(addSuffix('RMA-1'), addSuffix('RMA-1'))
  assert.equal(
    new Set([addSuffix('RMA-1'), addSuffix('rma-1'), addSuffix('RMA-1', '2'), addSuffix('RMA-1', '1', 2)]).size,
    4,
  )
  const long = 'x'.repeat(24)
  assert.ok(addSuffix('é'.repeat(30)).length <= 30 && addSuffix(`${'x'.repeat(22)}🦘`).isWellFormed())
  assert.notEqual(addSuffix(`${long}a`), addSuffix(`${long}b`))
})

test("a return is written in the guide's order", () => {
  const text = buildReturnPayload({
    number: 'R-1',
    order: { number: 'W0000125', personId: '3001' },
    restock: false,
    lines: [
      { sku: 'A', quantity: 2, reasonCode: 'SIZE', notes: 'a < b\n& c' },
      { sku: 'B', quantity: 1, reasonCode: 'size ', notes: null },
    ],
    skuIds: new Map([
      ['A', '12001'],
      ['B', '12002'],
    ]),
    reasonIds: new Map([['size', '10366']]),
  })
  assert.equal(
    text.replace(/^<\?.*?\?>/, ''),
    '<ReturnOrder><OrderNumber>R-1</OrderNumber><OrigOrderNum>W0000125</OrigOrderNum><PersonId>3001</PersonId><StockUpdate>False</StockUpdate><OrderDetails>' +
      '<OrderDetail><SkuId>12001</SkuId><Quantity>-2</Quantity><ReturnReasonId>10366</ReturnReasonId><ReturnReasonNotes>a &lt; b\n&amp; c</ReturnReasonNotes></OrderDetail>' +
      '<OrderDetail><SkuId>12002</SkuId><Quantity>-1</Quantity><ReturnReasonId>10366</ReturnReasonId></OrderDetail></OrderDetails></ReturnOrder>',
  )
})

test('an order that is read excludes freight and exchanged items', async () => {
  const buildLine = (skuId: number, quantity: number, value: string, status = 'Shipped') =>
    `<OrderDetail><SkuId>${skuId}</SkuId><Quantity>${quantity}</Quantity><Price>9.95</Price><Value>${value}</Value><Status>${status}</Status></OrderDetail>`
  const order = await parseXmlDocument(
    `<Order><Id>7</Id><OrderNumber>W7</OrderNumber><PersonId>3001</PersonId><OrderDateTime>2026-01-02T03:04:05</OrderDateTime><OrderDetails>
     ${buildLine(1, 1, '9.95')}${buildLine(2, -1, '-5')}${buildLine(1, 2, '19.9', 'Returned')}${buildLine(9, 1, '9.95')}</OrderDetails>
     <SelectedFreightOption><Value>9.95</Value></SelectedFreightOption><Currency><Code>nzd</Code></Currency>
     <Payments><PaymentDetail><Amount>39.8</Amount><CardType>VISA</CardType></PaymentDetail></Payments></Order>`,
  )
  const read = parseOrder(order, { defaultCurrency: 'AUD' })
  assert.deepEqual(
    read.lines.map(({ skuId, quantity, value, status }) => [skuId, quantity, value, status]),
    [
      ['1', 1, 995n, 'shipped'],
      ['1', 2, 1990n, 'returned'],
    ],
  )
  assert.deepEqual([read.currency, read.freight, read.placedAt], ['NZD', 995n, '2026-01-02T03:04:05'])
  assert.deepEqual(read.payments, [{ gateway: 'VISA', amount: '39.80', reference: null, voucherNumber: null }])
  const orderLines = [
    { sequence: 1, skuId: '1', quantity: 1 },
    { sequence: 2, skuId: '1', quantity: 2 },
    { sequence: 3, skuId: '5', quantity: 1 },
  ]
  assert.deepEqual(
    [...readLineStatuses(order, orderLines)],
    [
      [1, 'shipped'],
      [2, 'returned'],
    ],
  )
})
