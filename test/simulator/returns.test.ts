import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { createSender } from '../../simulator/send.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { findText } from '../../simulator/xml/payload.ts'

const simulator = await startSimulator()
after(() => simulator.close())
beforeEach(() => simulator.reset())
const send = createSender(() => simulator.url)

const soldOrder = [...simulator.state.orders.values()].find(
  ({ lines }) => new Set(lines.map(line => line.skuId)).size === lines.length,
)
assert.ok(soldOrder?.lines[0])
const buyer = soldOrder.personId
const soldSku = soldOrder.lines[0].skuId
const { price } = soldOrder.lines[0]

const buildReturn = (content: string) => `<ReturnOrder>${content}</ReturnOrder>`
const buildReturnLine = (elements = '<Quantity>-1</Quantity><ReturnReasonId>10365</ReturnReasonId>', sku = soldSku) =>
  `<OrderDetails><OrderDetail><SkuId>${sku}</SkuId>${elements}</OrderDetail></OrderDetails>`
const person = `<PersonId>${buyer}</PersonId>`
const original = `<OrigOrderNum>${soldOrder.number}</OrigOrderNum>`

test('a return has a number, negative lines and zero tax', async () => {
  const { id } = soldOrder
  const created = await send(`Persons/${buyer}/Orders/${id}/Returns`, {
    body: buildReturn(`<OrderNumber>R-1</OrderNumber>${original}${person}${buildReturnLine()}`),
  })
  assert.equal(created.status, 201)
  const path = new URL(String(created.headers.get('location'))).pathname.replace(/^.*RetailAPI\//, '')
  const { xml, text } = await send(path)
  assert.deepEqual(
    [xml?.name, findText(xml, 'OrigOrderNum'), findText(xml, 'TotalDue')],
    ['ReturnOrder', soldOrder.number, String(-price)],
  )
  assert.match(findText(xml, 'ReturnAuthorisationNumber') ?? '', /^X\d{7}$/)
  assert.match(text, /<TaxPercent xsi:nil="true" \/>/)
  const again = await send(`Persons/${buyer}/Orders/${id}/Returns`, {
    body: buildReturn(`<OrderNumber>R-1</OrderNumber>${original}${person}${buildReturnLine()}`),
  })
  assert.equal(again.code, 5052)
  const returnId = Number(/(\d+)$/.exec(path)?.[1])
  simulator.change({ kind: 'receive-return', id: returnId })
  assert.match((await send(`Persons/${buyer}/Orders`)).text, /<Status>Returned</)
  assert.equal((await send(`Returns/${returnId}`, { method: 'DELETE' })).code, 5008)
})

test('each invalid return has its code and no effect', async () => {
  const { id } = soldOrder
  const cases: [string, number][] = [
    [`${original}${buildReturnLine()}`, 5135],
    [`${original}<PersonId>1</PersonId>${buildReturnLine()}`, 5136],
    [`${person}${buildReturnLine()}`, 5138],
    [`<OrigOrderNum>W1</OrigOrderNum>${person}${buildReturnLine()}`, 5133],
    [`${original}${person}<StockUpdate>perhaps</StockUpdate>${buildReturnLine()}`, 5211],
    [`${original}${person}${buildReturnLine(undefined, 9101)}`, 5139],
    [`${original}${person}${buildReturnLine('<Quantity>1</Quantity>')}`, 5140],
    [`${original}${person}${buildReturnLine('<Quantity>0</Quantity>')}`, 5143],
    [`${original}${person}${buildReturnLine('<Quantity>-1</Quantity>')}`, 5084],
    [`${original}${person}${buildReturnLine('<Quantity>-1</Quantity><ReturnReasonId>1</ReturnReasonId>')}`, 5085],
    [
      `${original}${person}${buildReturnLine('<Quantity>-1</Quantity><ReturnReasonId>10365</ReturnReasonId><Carrier>Thirteen char</Carrier>')}`,
      5142,
    ],
    [`${person}${original}${buildReturnLine()}`, 5121],
  ]
  for (const [content, expected] of cases) {
    const { status, code } = await send(`Persons/${buyer}/Orders/${id}/Returns`, { body: buildReturn(content) })
    assert.deepEqual([status, code], [403, expected])
  }
  assert.equal(
    (
      await send(`Persons/${[...simulator.state.persons.keys()].find(other => other !== buyer)}/Orders/${id}/Returns`, {
        body: buildReturn(''),
      })
    ).code,
    5008,
  )
  assert.equal(simulator.ledger.findEffects('return created').length, 0)
})
