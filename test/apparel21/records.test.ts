import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  accountVisits,
  changedAt,
  customerFrom,
  historyVisit,
  type PersonReading,
} from '../../src/backoffice/apparel21/records/persons.ts'
import { productRowsFrom, skuIdsOf } from '../../src/backoffice/apparel21/records/products.ts'
import { camelCase, carried, referenceFrom, typeNames } from '../../src/backoffice/apparel21/records/references.ts'
import { accountFrom, giftRowsFrom, lotsFrom, tierRowsFrom } from '../../src/backoffice/apparel21/records/rewards.ts'
import { changedStockFrom, freeStockFrom, lastChangeOf } from '../../src/backoffice/apparel21/records/stock.ts'
import { storeFrom } from '../../src/backoffice/apparel21/records/stores.ts'
import { transactionRowsFrom } from '../../src/backoffice/apparel21/records/transactions.ts'
import { translated, Untranslatable } from '../../src/backoffice/apparel21/xml/untranslatable.ts'
import { documentOf } from '../support/xml-document.ts'

const person = `<Person>
  <Id>3001</Id><Code>SAMPJO00</Code><Title /><Initials /><Firstname>Jo </Firstname><Surname>Sample</Surname><Sex />
  <DateOfBirth /><StartDate>2021-03-25</StartDate><JobTitle /><Privacy>False</Privacy>
  <UpdateTimeStamp>6/05/2024 4:32:15 PM</UpdateTimeStamp>
  <References Type="Array"><Reference><ReferenceTypeId>1321</ReferenceTypeId><Id>4411</Id></Reference>
    <Reference><ReferenceTypeId>27</ReferenceTypeId><Id /></Reference></References>
  <IsAgent>false</IsAgent>
  <Addresses><Billing><ContactName /><CompanyName /><AddressLine1>1 Sample St</AddressLine1><AddressLine2 /><City>SAMPLETON</City>
    <State>VIC</State><Postcode>3000</Postcode><Country>AUSTRALIA</Country></Billing></Addresses>
  <Contacts><Email>jo@example.test</Email><Phones><Home>0400000000</Home><Mobile /><Work /></Phones></Contacts>
  <Currency><Code>AUD</Code><Format>#,##0.00 'Aud'</Format></Currency>
  <Loyalties Type="Array">
    <Loyalty><Id>1300</Id><LoyaltyTypeId>8560</LoyaltyTypeId><LoyaltyType>Staff</LoyaltyType><JoinDate>2019-01-01</JoinDate></Loyalty>
    <Loyalty><Id>1261</Id><LoyaltyTypeId>8561</LoyaltyTypeId><LoyaltyType>VIP</LoyaltyType><CardNo>LM000123</CardNo>
    <Expiry /><Balance /><CreditStatus /><Message /><JoinDate>2021-03-25</JoinDate><StatusId /></Loyalty></Loyalties>
  <RewardsAccounts><Account><Id>1</Id><ProgramId>1</ProgramId><ProgramName>Rewards</ProgramName><TierId>1</TierId><TierName>Bronze</TierName></Account></RewardsAccounts>
</Person>`

const reading: PersonReading = {
  typeNames: new Map([
    ['1321', 'favouriteStore'],
    ['27', 'salesRep'],
  ]),
  loyaltyCodes: new Map([['8561', '99']]),
  subscriptionMapping: {},
}

test('a person is a customer', async () => {
  const found = await documentOf(person)
  assert.deepEqual(customerFrom(found, reading), {
    id: '3001',
    code: 'SAMPJO00',
    title: null,
    firstname: 'Jo',
    surname: 'Sample',
    dateOfBirth: null,
    startDate: '2021-03-25 00:00:00',
    email: 'jo@example.test',
    phoneHome: '0400000000',
    phoneMobile: null,
    phoneWork: null,
    addressLine1: '1 Sample St',
    addressLine2: null,
    city: 'SAMPLETON',
    state: 'VIC',
    postcode: '3000',
    country: 'AUSTRALIA',
    referenceValues: { favouriteStore: '4411' },
    privacy: false,
    loyaltyCode: '99',
    loyaltyName: 'VIP',
  })
  assert.equal(changedAt(found), '2024-05-06T16:32:15')
  assert.deepEqual(historyVisit(found), { id: '3001', stamp: '6/05/2024 4:32:15 PM' })
  assert.deepEqual(accountVisits(found), [{ id: '1', stamp: '6/05/2024 4:32:15 PM' }])
})

test('an older answer, without loyalties, accounts and references, is a customer as well', async () => {
  const found = await documentOf(
    '<Person><Id>1</Id><Surname>B</Surname><Privacy>True</Privacy><References Type="Array" /></Person>',
  )
  const { loyaltyCode, loyaltyName, referenceValues, email } = customerFrom(found, reading)
  assert.deepEqual([loyaltyCode, loyaltyName, referenceValues, email], [null, null, {}, null])
  assert.deepEqual(accountVisits(found), [])
})

test('privacy at the head office takes subscriptions back; without it the mapped references count', async () => {
  const subscriptionMapping = {
    email: { type: 'newsletter', yes: '1', no: '2' },
    sms: { type: 'texts', yes: '5', no: '6' },
  }
  const typeNames = new Map([
    ['10', 'newsletter'],
    ['11', 'texts'],
  ])
  const consent = async (privacy: string, value: string, mapping: PersonReading['subscriptionMapping']) => {
    const references = `<References><Reference><ReferenceTypeId>10</ReferenceTypeId><Id>${value}</Id></Reference></References>`
    const found = await documentOf(`<Person><Id>1</Id>${privacy}${references}</Person>`)
    const row = customerFrom(found, { ...reading, typeNames, subscriptionMapping: mapping })
    return [row.privacy, row.emailSubscription, row.smsSubscription]
  }
  assert.deepEqual(await consent('<Privacy>True</Privacy>', '1', subscriptionMapping), [true, false, false])
  assert.deepEqual(await consent('', '1', subscriptionMapping), [true, false, false])
  assert.deepEqual(await consent('<Privacy>false</Privacy>', '1', subscriptionMapping), [false, true, false])
  assert.deepEqual(await consent('<Privacy>false</Privacy>', '2', subscriptionMapping), [false, false, false])
  assert.deepEqual(await consent('<Privacy>false</Privacy>', '1', {}), [false, undefined, undefined])
})

test('a person without an identifier, or with a reference of an unknown type, is refused and the others are not', async () => {
  const persons = [
    await documentOf('<Person><Surname>A</Surname></Person>'),
    await documentOf(person),
    await documentOf(person.replace('<ReferenceTypeId>1321', '<ReferenceTypeId>1322')),
  ]
  const { rows, refused } = translated(persons, one => customerFrom(one, reading))
  assert.deepEqual([rows.map(row => row.id), refused.length], [['3001'], 2])
  assert.ok(refused.every(reason => !/Sample|Jo/.test(reason)))
})

test('types of references go by their names in camelCase, each by its own', () => {
  assert.deepEqual(
    ['Favourite Store', 'FAVOURITE STORE', 'SalesRep', 'Kids’ Sizes', 'Größe/Länge', '1st Choice', '好み', ''].map(
      camelCase,
    ),
    ['favouriteStore', 'favouriteStore', 'salesRep', 'kidsSizes', 'groELange', undefined, undefined, undefined],
  )
  const names = typeNames([
    { id: '1621', code: 'BR2', name: 'Brand' },
    { id: '257', code: 'BRAND', name: 'Brand' },
    { id: '9', code: 'SIZ', name: null },
    { id: '10', code: null, name: '好み' },
    { id: '257', code: 'BRAND', name: 'Brand' },
  ])
  assert.deepEqual([...names].sort(), [
    ['10', 'reference10'],
    ['1621', 'brand1621'],
    ['257', 'brand'],
    ['9', 'siz'],
  ])
})

test('a reference without a name goes by its code', async () => {
  const found = await documentOf(
    '<Reference><ReferenceTypeId>1</ReferenceTypeId><Id>7</Id><Code>X</Code><Name /></Reference>',
  )
  assert.deepEqual(referenceFrom(found, 'interest'), { type: 'interest', referenceValueId: '7', code: 'X', name: 'X' })
  assert.throws(() => referenceFrom({ ...found, children: [] }, 'interest'), Untranslatable)
})

test('a store is a store, with or without an e-mail address and a number', async () => {
  const store = `<Store><StoreId>7101</StoreId><Code>S7101</Code><StoreNo>008</StoreNo><Name>DFO Airport </Name><Address1>1 Sample St</Address1><Address2 />
    <City>Sampleton</City><State>VIC</State><Postcode>0800</Postcode><Country>Australia</Country><Email>s@example.test</Email></Store>`
  assert.deepEqual(storeFrom(await documentOf(store)), {
    storeId: '7101',
    storeNumber: '008',
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
  const bare = storeFrom(await documentOf('<Store><StoreId>7</StoreId><Code>WH</Code><StoreNo /></Store>'))
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

test('a style is a product, one row a SKU; a SKU without a price is refused alone', async () => {
  const found = await documentOf(product)
  const typeNames = new Map([['257', 'brand']])
  const { rows, refused } = productRowsFrom(found, { typeNames, decimals: 2 })
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
  assert.deepEqual([rows.length, refused.length], [3, 1])
  assert.deepEqual(skuIdsOf(found), ['12001', '12002', '12003', '12004'])
  assert.deepEqual(carried(found), [['257', '1342']])
})

test('free stock is read at each depth', async () => {
  const store = '<Store Name="Sample" StoreId="7101" StoreNumber="101" FreeStock="4" />'
  const stock = async (content: string) => freeStockFrom(await documentOf(content))
  const at = { storeId: '7101', freeStock: 4 }
  const [productId, colourId, skuId] = ['5001', '6101', '12001']
  const sku = `<Sku Name="S" SkuIdx="12001">${store}</Sku>`
  assert.deepEqual(await stock(`<Style Name="T" StyleIdx="5001"><Clr ClrIdx="6101">${sku}</Clr></Style>`), [
    { productId, colourId, skuId, ...at },
  ])
  assert.deepEqual(await stock(`<Style StyleIdx="5001"><Clr ClrIdx="6101">${store}</Clr></Style>`), [
    { productId, colourId, ...at },
  ])
  assert.deepEqual(await stock(`<Style StyleIdx="5001">${store}</Style>`), [{ productId, ...at }])
  assert.deepEqual(await stock(sku), [{ skuId, ...at }])
  await assert.rejects(stock('<Sku SkuIdx="1"><Store StoreId="1" FreeStock="" /></Sku>'), Untranslatable)
})

test('changed stock is absolute, and may be nothing or less', async () => {
  const found = await documentOf(
    '<store storeid="7101" lastChanged="2024-05-29T14:20:07.76"><sku skuid="12001" freeStock="0" /><sku skuid="12002" freeStock="-15" /></store>',
  )
  assert.deepEqual(changedStockFrom(found), [
    { storeId: '7101', skuId: '12001', freeStock: 0 },
    { storeId: '7101', skuId: '12002', freeStock: -15 },
  ])
  assert.equal(lastChangeOf(found), '2024-05-29T14:20:07')
})

const transaction = `<Transaction>
  <RowNumber>1</RowNumber><Id>13748</Id><Number>W10100000130</Number><OrderNumber>W0000123</OrderNumber><Type>Special Order Update</Type>
  <SaleDate>2024-05-26T00:00:00</SaleDate><StoreCode>101</StoreCode><StoreName>Sample Store</StoreName>
  <Currency><Code>AUD</Code><Format>#,##0.00 'AUD'</Format></Currency>
  <Details Type="Array" TotalRows="2">
    <Detail><Id>15882</Id><Sequence>0</Sequence><ProductCode>STY5001</ProductCode><ProductName>SAMPLE TEE</ProductName><ColourCode>BLK</ColourCode>
      <ColourName>Black</ColourName><SizeCode>S</SizeCode><Quantity>1</Quantity><Price>29.99</Price><Value>25.99</Value><TaxPercentage>10</TaxPercentage>
      <Discounts Type="Array" TotalRows="1"><Discount><Id>15883</Id><Sequence>1</Sequence><Type>Loyalty</Type><Reason>POS Loyalty 1</Reason><Amount>4</Amount><Percentage>13.34</Percentage></Discount></Discounts></Detail>
    <Detail><Id>15884</Id><Sequence>1</Sequence><ProductCode>-</ProductCode><Quantity>-1</Quantity><Price>10</Price><Value>-10</Value><TaxPercentage xsi:nil="true" /><Discounts /></Detail>
  </Details></Transaction>`

test('a transaction is one row a line; a return is negative', async () => {
  const [first, second] = transactionRowsFrom(await documentOf(transaction), '3001', 'USD')
  assert.deepEqual(first?.header, {
    id: '13748',
    number: 'W10100000130',
    orderNumber: 'W0000123',
    channel: 'web',
    type: 'specialOrderUpdate',
    saleDate: '2024-05-26 00:00:00',
    customerId: '3001',
    storeNumber: '101',
    storeName: 'Sample Store',
    currency: 'AUD',
  })
  assert.deepEqual(first?.line, {
    id: '15882',
    sequence: 0,
    productCode: 'STY5001',
    productName: 'SAMPLE TEE',
    colourCode: 'BLK',
    colourName: 'Black',
    sizeCode: 'S',
    quantity: 1,
    price: '29.99',
    value: '25.99',
    taxPercent: '10',
    discounts: [{ type: 'loyalty', reason: 'POS Loyalty 1', amount: '4.00', percentage: '13.34' }],
  })
  assert.deepEqual(
    [second?.line.quantity, second?.line.value, second?.line.taxPercent, second?.line.discounts],
    [-1, '-10.00', null, []],
  )
})

test('the first letter of a number tells the channel, and an unknown type is a sale', async () => {
  const header = async (number: string, type: string) => {
    const content = transaction.replace('W10100000130', number).replace('Special Order Update', type)
    const { channel, type: of } = transactionRowsFrom(await documentOf(content), '1', 'AUD')[0]?.header ?? {}
    return [channel, of]
  }
  assert.deepEqual(await header('D10', 'Sale'), ['store', 'sale'])
  assert.deepEqual(await header('H10', 'Layby  Update'), ['headOffice', 'laybyUpdate'])
  assert.deepEqual(await header('10', 'Exchange'), ['store', 'sale'])
})

const program = `<Program><Id>1</Id><Name>Rewards</Name><Description /><Currency>AUD</Currency>
  <Tiers Type="Array"><Tier><Id>1</Id><Name>Bronze</Name><Sequence>1</Sequence><AccrualSpend>1</AccrualSpend><AccrualPoints>1</AccrualPoints>
    <AutoRewardPointThreshold>0</AutoRewardPointThreshold><AutoRewardValue>10</AutoRewardValue>
    <DefaultPointsExpiry><Months>12</Months><Days>0</Days></DefaultPointsExpiry><DefaultRewardExpiry><Months/><Days/></DefaultRewardExpiry>
    <QualifySpend>500</QualifySpend><QualifyPeriod><Months/><Days/></QualifyPeriod></Tier></Tiers>
  <Gifts Type="Array"><Gift><Id>1</Id><Name/><Description>Socks</Description><GiftStyles Type="Array"><Style><Id>6861</Id><Code>MH01</Code></Style></GiftStyles></Gift></Gifts>
</Program>`

test('a rewards programme is one row a tier, and one a gift', async () => {
  const found = await documentOf(program)
  assert.deepEqual(tierRowsFrom(found, 2), [
    {
      program: { programId: '1', name: 'Rewards', description: null },
      tier: {
        programId: '1',
        tierId: '1',
        name: 'Bronze',
        sequence: 1,
        accrualSpend: '1.00',
        accrualPoints: 1,
        autoRewardPointThreshold: null,
        autoRewardValue: '10.00',
        qualifySpend: '500.00',
        qualifyMonths: null,
        qualifyDays: null,
        pointsExpiryMonths: 12,
        pointsExpiryDays: 0,
        rewardExpiryMonths: null,
        rewardExpiryDays: null,
      },
    },
  ])
  assert.deepEqual(giftRowsFrom(found), [{ programId: '1', giftId: '1', name: 'Socks', styles: ['MH01'] }])
})

const account = `<RewardAccount><Id>1</Id><ProgramId>1</ProgramId><TierId>1</TierId><PersonId>3001</PersonId>
  <TierLockedUntilDate>2026-09-19</TierLockedUntilDate><AvailablePoints>100</AvailablePoints><JoinDate>2024-09-11</JoinDate>
  <NextTierId>41</NextTierId><SpendToNextTier>386</SpendToNextTier>
  <PointsList Type="Array"><Accrual><AccrualId>42181</AccrualId><CreatedDateTime>2025-08-22T15:19:10</CreatedDateTime><Description/><Total>100</Total><Redeemed>20</Redeemed>
    <PendingRedemption>0</PendingRedemption><Available>80</Available><ExpiryDate>2026-08-22</ExpiryDate></Accrual></PointsList>
  <RewardsList Type="Array"><Reward><IssueId>163421</IssueId><CreatedDateTime>2025-08-22T15:19:10</CreatedDateTime><Description>Birthday Reward</Description><Total>25</Total><ExpiryDate /></Reward></RewardsList>
  <GiftList Type="Array"><Gift><IssueId>301</IssueId><CreatedDateTime>2025-08-22T15:19:10</CreatedDateTime><GiftId>21</GiftId><GiftName>March Gift</GiftName><Available>false</Available></Gift></GiftList>
</RewardAccount>`

test('a reward account has its lots, whichever name their identifiers go by', async () => {
  const found = await documentOf(account)
  const qualifying = new Map([['1', new Map([['41', 50_000n]])]])
  assert.deepEqual(accountFrom(found, 2, qualifying), {
    id: '1',
    customerId: '3001',
    programId: '1',
    tierId: '1',
    tierLockedUntilDate: '2026-09-19',
    joinDate: '2024-09-11',
    qualifyingSpend: '114.00',
  })
  assert.equal('qualifyingSpend' in accountFrom(found, 2, new Map()), false)
  const createdAt = '2025-08-22 15:19:10'
  assert.deepEqual(lotsFrom(found, 2), {
    accountId: '1',
    lots: [
      {
        accountId: '1',
        kind: 'points',
        lotId: '42181',
        createdAt,
        description: null,
        total: '100',
        redeemed: '20',
        pending: '0',
        expiryDate: '2026-08-22',
      },
      {
        accountId: '1',
        kind: 'reward',
        lotId: '163421',
        createdAt,
        description: 'Birthday Reward',
        total: '25.00',
        redeemed: '0',
        pending: '0',
        expiryDate: null,
      },
      {
        accountId: '1',
        kind: 'gift',
        lotId: '301',
        createdAt,
        description: 'March Gift',
        total: '1',
        redeemed: '1',
        pending: '0',
        giftId: '21',
        expiryDate: null,
      },
    ],
  })
})
