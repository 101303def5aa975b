import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { createSender } from '../../simulator/send.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { findElement, findElements, findText } from '../../simulator/xml/payload.ts'

const now = '2026-02-03T05:32:15Z'
const simulator = await startSimulator({ now })
after(() => simulator.close())
beforeEach(() => {
  simulator.reset()
  simulator.clock.freeze(now)
})
const send = createSender(() => simulator.url)

const buyer = 3001
const buildLine = (content: string) => `<OrderDetail>${content}</OrderDetail>`
const buildTeeLine = (quantity = 2, elements = '') =>
  buildLine(
    `<SkuId>12001</SkuId><Quantity>${quantity}</Quantity><Price>50</Price><Value>${50 * quantity}</Value>${elements}`,
  )
const buildCardPayment = (amount: number, elements = '<MerchantId>SIMPAY</MerchantId>') =>
  `<PaymentDetail><Origin>CreditCard</Origin><Amount>${amount}</Amount>${elements}</PaymentDetail>`

interface OrderParts {
  head?: string
  person?: number
  middle?: string
  delivery?: string
  contacts?: string
  lines?: string
  freight?: string
  payments?: string
}

const buildOrder = ({
  head = '',
  person = buyer,
  middle = '',
  delivery = '<ContactName>Ann</ContactName>',
  contacts = '<Contacts><Email>jo@example.test</Email></Contacts>',
  lines = buildTeeLine(),
  freight = '',
  payments = buildCardPayment(100),
}: OrderParts = {}) =>
  `<Order>${head}<PersonId>${person}</PersonId>${middle}<Addresses><Billing><City>X</City></Billing><Delivery>${delivery}</Delivery></Addresses>${contacts}<OrderDetails>${lines}</OrderDetails>${freight}<Payments>${payments}</Payments></Order>`

const postOrder = (parts: OrderParts = {}, version = '2.0') =>
  send(`Persons/${buyer}/Orders/`, { body: buildOrder(parts), version })
const getRejection = async (parts: OrderParts) => {
  const { status, code } = await postOrder(parts)
  return [status, code]
}
const placeOrder = async (parts: OrderParts = {}) => {
  const { status, headers, text } = await postOrder(parts)
  assert.deepEqual([status, text], [201, ''])
  return Number(/Orders\/(\d+)\?countryCode=AU$/.exec(String(headers.get('location')))?.[1])
}

test('an order has a unique number, given or generated', async () => {
  const id = await placeOrder()
  const created = (await send(`Persons/${buyer}/Orders/${id}`)).xml
  assert.match(findText(created, 'OrderNumber') ?? '', /^W\d{7}$/)
  const orderId = await placeOrder({ head: '<OrderNumber>SHOP-1</OrderNumber>' })
  assert.equal(findText((await send('OrderNumbers/shop-1')).xml, 'Id'), String(orderId))
  assert.deepEqual(await getRejection({ head: '<OrderNumber>SHOP-1</OrderNumber>' }), [403, 5052])
  assert.equal(simulator.ledger.findEffects('order created').length, 2)
})

test('a missing required order field is rejected by its code', async () => {
  assert.deepEqual(await getRejection({ person: 3002 }), [400, 5025])
  assert.deepEqual(await getRejection({ contacts: '' }), [400, 5004])
  assert.deepEqual(await getRejection({ delivery: '' }), [400, 5021])
  assert.deepEqual(await getRejection({ payments: buildCardPayment(99.99) }), [400, 5026])
  assert.deepEqual(await getRejection({ payments: buildCardPayment(100).replace('CreditCard', 'Cash') }), [403, 5028])
  assert.deepEqual(
    await getRejection({ payments: buildCardPayment(100, '<MerchantId>OTHER</MerchantId>') }),
    [403, 5100],
  )
  assert.deepEqual(await getRejection({ lines: buildTeeLine().replace('12001', '1') }), [403, 5129])
  assert.deepEqual(await getRejection({ lines: buildTeeLine().replace('<Value>100', '<Value>90') }), [403, 5094])
  assert.deepEqual(await getRejection({ middle: '<OrderDateTime>today</OrderDateTime>' }), [403, 5092])
  assert.deepEqual(await getRejection({ middle: '<DespatchType>Drone</DespatchType>' }), [403, 5114])
  assert.deepEqual(await getRejection({ middle: '<DespatchType>ClickAndCollect</DespatchType>' }), [403, 5119])
  assert.deepEqual(await getRejection({ middle: '<PickupStoreId>1</PickupStoreId>' }), [403, 5082])
  assert.deepEqual(
    await getRejection({
      contacts: '',
      payments: buildCardPayment(100),
      middle: '<Contacts><Email>a@b.test</Email></Contacts>',
    }),
    [403, 5121],
  )
  assert.equal((await send('Persons/1/Orders', { body: buildOrder({ person: 1 }) })).code, 5008)
  assert.equal(simulator.ledger.effects.length, 0)
})

test('discounts, freight and taxes add up to the amount due', async () => {
  const discount =
    '<Discounts><Discount><DiscountTypeId>1</DiscountTypeId><ReasonId>27101</ReasonId><Value>10</Value></Discount></Discounts>'
  const lines = buildTeeLine(2, discount).replace('<Value>100<', '<Value>90<')
  const freight = '<SelectedFreightOption><Id>1</Id><Name>Road</Name><Value>9.95</Value></SelectedFreightOption>'
  const id = await placeOrder({ lines, freight, payments: buildCardPayment(99.95) })
  const created = (await send(`Persons/${buyer}/Orders/${id}`)).xml
  assert.deepEqual(
    ['TotalQuantity', 'TotalDiscount', 'TotalDue'].map(name => findText(created, name)),
    ['3', '10', '99.95'],
  )
  assert.equal(
    findText(findElements(findElement(created, 'OrderDetails'), 'OrderDetail')[1], 'ProductName'),
    'Freight Charge',
  )
  assert.deepEqual(
    await getRejection({ lines: lines.replace('27101', '1'), payments: buildCardPayment(90) }),
    [400, 5089],
  )
  assert.deepEqual(await getRejection({ lines: lines.replace('<Value>10<', '<Value>-10<') }), [403, 5145])
})

test('an order is shown as posted and in lists as current', async () => {
  const id = await placeOrder()
  simulator.change({ kind: 'despatch-order', id, conNote: 'EM42' })
  const single = await send(`Persons/${buyer}/Orders/${id}`)
  assert.match(single.text, /<Status>Processing</)
  const list = await send(`Persons/${buyer}/Orders?updatedAfter=2026-02-03T16:32`)
  assert.match(list.text, new RegExp(`<Id>${id}</Id>.*<ConNote>EM42</ConNote><Status>Shipped<`))
  const number = findText(single.xml, 'OrderNumber')
  assert.equal((await send(`Persons/${buyer}/RetailTransactions?OrderNumber=${number}`)).xml?.attributes.TotalRows, '1')
  simulator.change({ kind: 'forget-order', id })
  assert.equal((await send(`Persons/${buyer}/Orders/${id}`)).code, 5008)
})

test('payload version 1 omits the additions of version 2', async () => {
  const id = await placeOrder()
  const orderText = (await send(`Persons/${buyer}/Orders/${id}`, { version: '1.0' })).text
  assert.doesNotMatch(orderText, /DespatchType|DeliveryContacts|PricesIncludeTax/)
  assert.match(
    (await send(`Persons/${buyer}/Orders/${id}`)).text,
    /<DespatchType \/>.*<DeliveryContacts>.*<PricesIncludeTax>/,
  )
})

test('the list of all orders needs a person, ID or time', async () => {
  const { status, code } = await send('Orders')
  assert.deepEqual([status, code], [403, 5421])
  const id = await placeOrder()
  assert.match((await send('Orders?updatedAfter=2026-02-03T16:32')).text, new RegExp(`<Id>${id}</Id>`))
})

test('a voucher pays once with its last validation ID', async () => {
  const validated = await send('Voucher/GVValid/6000001?pin=1234&amount=60')
  const validation = findText(validated.xml, 'ValidationId') ?? ''
  const buildVoucherPayment = (amount: number, id = validation) =>
    `<PaymentDetail><Origin>GiftVoucher</Origin><Amount>${amount}</Amount><VoucherNumber>6000001</VoucherNumber><ValidationId>${id}</ValidationId></PaymentDetail>`
  await send(`Voucher/Lock/6000001?ValidationId=${validation}`, { method: 'PUT' })
  assert.deepEqual(await getRejection({ payments: buildVoucherPayment(100, 'wrong') }), [403, 5061])
  assert.deepEqual(await getRejection({ payments: buildVoucherPayment(150), lines: buildTeeLine(3) }), [403, 5062])
  assert.deepEqual(await getRejection({ payments: buildVoucherPayment(50) + buildVoucherPayment(50) }), [403, 5070])
  await placeOrder({ payments: buildVoucherPayment(60) + buildCardPayment(40) })
  assert.equal(findText((await send('Voucher/6000001?pin=1234')).xml, 'AvailableAmount'), '40')
  assert.equal(simulator.ledger.findEffects('voucher drawn', '6000001').length, 1)
  assert.equal((await send('Voucher/GVValid/6000001?pin=1234&amount=1')).status, 200, 'the lock has ended')
  assert.deepEqual(await getRejection({ payments: buildVoucherPayment(50), lines: buildTeeLine(1) }), [403, 5061])
})

const buildGiftLine = (extra: string, quantity = 1) =>
  buildLine(
    `<SkuId>9001</SkuId><Quantity>${quantity}</Quantity><Price>100</Price><Value>${100 * quantity}</Value><SenderName>John</SenderName><ReceiverName>Ann</ReceiverName><ExtraVoucherInformation>${extra}</ExtraVoucherInformation><TaxPercent>0</TaxPercent>`,
  )
const gift = '<VoucherType>GV_EMAIL</VoucherType><EmailSubject>For you</EmailSubject><Email>ann@example.test</Email>'

test('a sold voucher gets its number and PIN only by email', async () => {
  const id = await placeOrder({ lines: buildGiftLine(gift) })
  const { text } = await send(`Persons/${buyer}/Orders/${id}`)
  assert.doesNotMatch(text, /ann@example|VoucherType|Pin/)
  assert.equal(simulator.state.mail.length, 0)
  simulator.clock.advance(31)
  await send('Stores')
  const [mail] = simulator.state.mail
  assert.deepEqual([mail?.to, mail?.subject, mail?.amount], ['ann@example.test', 'For you', 100])
  const { xml } = await send(`Voucher/${mail?.voucher}?pin=${mail?.pin}`)
  assert.equal(findText(xml, 'AvailableAmount'), '100')
  assert.deepEqual(simulator.ledger.findEffects('voucher sold').length, 1)
  assert.deepEqual(simulator.ledger.findEffects('voucher allotted')[0]?.request, null)
})

test('a voucher line has its own rules', async () => {
  const buildLines = (extra: string, quantity = 1) => ({
    lines: buildGiftLine(extra, quantity),
    payments: buildCardPayment(100 * quantity),
  })
  assert.deepEqual(await getRejection(buildLines(gift, 2)), [403, 5077])
  assert.deepEqual(await getRejection({ ...buildLines(gift), delivery: '<City>X</City>' }), [403, 5072])
  assert.deepEqual(
    await getRejection({ ...buildLines(gift), middle: '<DespatchType>DespatchFromStore</DespatchType>' }),
    [403, 5083],
  )
  assert.deepEqual(await getRejection(buildLines('')), [403, 5076])
  assert.deepEqual(await getRejection(buildLines('<VoucherType>NONE</VoucherType>')), [403, 5074])
  assert.deepEqual(await getRejection(buildLines('<VoucherType>GV_STORE</VoucherType>')), [403, 5073])
  assert.deepEqual(
    await getRejection(buildLines('<VoucherType>GV_EMAIL</VoucherType><Email>a@b.test</Email>')),
    [403, 5075],
  )
  assert.deepEqual(
    await getRejection(buildLines('<VoucherType>GV_EMAIL</VoucherType><EmailSubject>s</EmailSubject>')),
    [403, 5069],
  )
  const buildVoucherLines = (number: string) =>
    buildLines(`<VoucherType>GV_CARD</VoucherType><VoucherNumber>${number}</VoucherNumber>`)
  for (const [number, code] of [
    ['6000001', 5128],
    ['6900003', 5127],
    ['1234567', 5056],
    ['x', 5071],
    ['6000006', 5059],
  ] as const)
    assert.deepEqual(await getRejection(buildVoucherLines(number)), [403, code])
  await placeOrder(buildVoucherLines('6900001'))
  simulator.change({ kind: 'allot-vouchers' })
  assert.equal((await send('Voucher/6900001?pin=1001')).status, 200)
})

test('a delivery date delays a voucher from 2022.3 on', async () => {
  await placeOrder({ lines: buildGiftLine(`${gift}<DeliveryDate>2026-02-10</DeliveryDate>`) })
  simulator.clock.advance(86_400)
  await send('Stores')
  assert.equal(simulator.state.mail.length, 0)
  simulator.clock.advance(7 * 86_400)
  await send('Stores')
  assert.equal(simulator.state.mail.length, 1)
})
