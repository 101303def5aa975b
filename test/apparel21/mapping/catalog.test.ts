import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseProduct, readSkuIds } from '../../../src/backoffice/apparel21/mapping/products.ts'
import { readReferences } from '../../../src/backoffice/apparel21/mapping/references.ts'
import { parseChangedStock, parseFreeStock, readLastChange } from '../../../src/backoffice/apparel21/mapping/stock.ts'
import { parseStore } from '../../../src/backoffice/apparel21/mapping/stores.ts'
import { InvalidRecord } from '../../../src/backoffice/apparel21/xml/invalid-record.ts'
import { parseXmlDocument } from '../../support/xml-document.ts'

test('a store is mapped with or without email and number', async () => {
  const store = `<Store><StoreId>7101</StoreId><Code>S7101</Code><StoreNo>008</StoreNo><Name>DFO Airport </Name><Address1>1 Sample St</Address1><Address2 />
    <City>Sampleton</City><State>VIC</State><Postcode>0800</Postcode><Country>Australia</Country><Email>s@example.test</Email></Store>`
  assert.deepEqual(parseStore(await parseXmlDocument(store)), {
    storeId: '7101',
    storeNumber: '008',
    kind: 'store',
    code: 'S7101',
    name: 'DFO Airport',
    email: 's@example.test',
    addressLine1: '1 Sample St',
    addressLine2: null,
    city: 'Sampleton',
    state: 'VIC',
    postcode: '0800',
    country: 'Australia',
  })
  const bare = parseStore(await parseXmlDocument('<Store><StoreId>7</StoreId><Code>WH</Code><StoreNo /></Store>'))
  assert.deepEqual([bare.storeNumber, bare.name, bare.email], ['WH', 'WH', null])
})

const product = `<Product>
  <Id>5001</Id><RowNumber>1</RowNumber><Code>STY5001</Code><Name>SAMPLE TEE</Name><Description>one&#xD;
two</Description><SizeRange>S-L</SizeRange><RrpText /><UpdateTimeStamp>2024-07-16T10:49:12</UpdateTimeStamp>
  <References Type="Array"><Reference><ReferenceTypeId>257</ReferenceTypeId><Id>1342</Id></Reference>
    <Reference><ReferenceTypeId>1621</ReferenceTypeId><Id /></Reference></References>
  <Clrs Type="Array">
    <Clr><Id>6101</Id><ProductId>5001</ProductId><Sequence>1</Sequence><Code>BLK</Code><Name>Black</Name><MarkdownStatus>TempPermanent</MarkdownStatus>
      <SKUs Type="Array">
        <SKU><Id>12001</Id><ClrId>6101</ClrId><Sequence>1</Sequence><SizeCode>S</SizeCode><OriginalPrice>49.95</OriginalPrice><Price>39.9</Price>
          <RetailPrice>0</RetailPrice><FreeStock>-345</FreeStock><NextAvailable /><Barcode>9300000000001</Barcode></SKU>
        <SKU><Id>12002</Id><Sequence>2</Sequence><SizeCode /><OriginalPrice /><Price>39.9</Price><Barcode /></SKU>
        <SKU><Id>12003</Id><Sequence>3</Sequence><SizeCode>L</SizeCode><OriginalPrice>1</OriginalPrice><Price /></SKU>
      </SKUs></Clr>
    <Clr><Id>6102</Id><Code>BLK</Code><Name>Black</Name><SKUs><SKU><Id>12004</Id><SizeCode>S</SizeCode><Price>1</Price></SKU></SKUs></Clr>
  </Clrs></Product>`

test('a style becomes SKU rows; only one without a price is rejected', async () => {
  const document = await parseXmlDocument(product)
  const typeNames = new Map([['257', 'brand']])
  const { rows, rejected } = parseProduct(document, { typeNames, decimals: 2 })
  assert.deepEqual(rows[0], {
    product: {
      productId: '5001',
      productCode: 'STY5001',
      name: 'SAMPLE TEE',
      description: 'one\ntwo',
      sizeRange: 'S-L',
      referenceValues: { brand: '1342' },
    },
    colour: { productId: '5001', colourId: '6101', code: 'BLK', name: 'Black', markdownStatus: 'clearance' },
    variant: {
      productId: '5001',
      colourId: '6101',
      skuId: '12001',
      sizeCode: 'S',
      sequence: 1,
      originalPrice: '49.95',
      price: '39.90',
      barcode: '9300000000001',
    },
  })
  const unsized = rows[1]?.variant
  assert.deepEqual([unsized?.sizeCode, unsized?.originalPrice, unsized?.barcode], ['-', '39.90', null])
  assert.deepEqual(rows.map(row => [row.colour.colourId, row.variant.skuId]).at(-1), ['6102', '12004'])
  assert.deepEqual([rows.length, rejected.length], [3, 1])
  assert.deepEqual(readSkuIds(document), ['12001', '12002', '12003', '12004'])
  assert.deepEqual(readReferences(document), [['257', '1342']])
})

test('free stock is read at each depth', async () => {
  const store = '<Store Name="Sample" StoreId="7101" StoreNumber="101" FreeStock="4" />'
  const parseStock = async (content: string) => parseFreeStock(await parseXmlDocument(content)).rows
  const at = { storeId: '7101', freeStock: 4 }
  const [productId, colourId, skuId] = ['5001', '6101', '12001']
  const sku = `<Sku Name="S" SkuIdx="12001">${store}</Sku>`
  assert.deepEqual(await parseStock(`<Style Name="T" StyleIdx="5001"><Clr ClrIdx="6101">${sku}</Clr></Style>`), [
    { productId, colourId, skuId, ...at },
  ])
  assert.deepEqual(await parseStock(`<Style StyleIdx="5001"><Clr ClrIdx="6101">${store}</Clr></Style>`), [
    { productId, colourId, ...at },
  ])
  assert.deepEqual(await parseStock(`<Style StyleIdx="5001">${store}</Style>`), [{ productId, ...at }])
  assert.deepEqual(await parseStock(sku), [{ skuId, ...at }])
  await assert.rejects(parseStock('<Sku><Store StoreId="1" FreeStock="1" /></Sku>'), InvalidRecord)
  const invalidStock = await parseXmlDocument(
    `<Style StyleIdx="5001"><Clr><Store StoreId="1" FreeStock="1" /></Clr><Clr ClrIdx="6101">${sku}<Store FreeStock="1" /><Store StoreId="7102" FreeStock="" /></Clr></Style>`,
  )
  assert.deepEqual(parseFreeStock(invalidStock), {
    rows: [{ productId, colourId, skuId, ...at }],
    rejected: [
      'Stock has no identifier of a style, colour or SKU.',
      'A store with stock has no StoreId.',
      'A free stock is not a number.',
    ],
  })
})

test('changed stock is absolute and can be zero or negative', async () => {
  const document = await parseXmlDocument(
    '<store storeid="7101" lastChanged="2024-05-29T14:20:07.76"><sku skuid="12001" freeStock="0" /><sku skuid="12002" freeStock="-15" /><sku skuid="12003" freeStock="x" /><sku skuid="12004" freeStock="2.75" /><sku skuid="12005" freeStock="-0.5" /></store>',
  )
  const buildRow = (skuId: string, freeStock: number) => ({ storeId: '7101', skuId, freeStock })
  assert.deepEqual(parseChangedStock(document), {
    rows: [buildRow('12001', 0), buildRow('12002', -15), buildRow('12004', 2), buildRow('12005', -1)],
    rejected: ['A free stock is not a number.'],
  })
  assert.equal(readLastChange(document, 'Australia/Melbourne'), '2024-05-29T14:20:07')
})
