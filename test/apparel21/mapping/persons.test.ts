import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  buildAccountRefreshes,
  buildHistoryRefresh,
  type PersonContext,
  parseCustomer,
  readPersonChangedAt,
} from '../../../src/backoffice/apparel21/mapping/person-from-xml.ts'
import { buildTypeNames, parseReference, toCamelCase } from '../../../src/backoffice/apparel21/mapping/references.ts'
import { convertRecords, InvalidRecord } from '../../../src/backoffice/apparel21/xml/invalid-record.ts'
import { parseXmlDocument } from '../../support/xml-document.ts'

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

const personContext: PersonContext = {
  typeNames: new Map([
    ['1321', 'favouriteStore'],
    ['27', 'salesRep'],
  ]),
  loyaltyCodes: new Map([['8561', '99']]),
  subscriptionMapping: {},
}

test('a person becomes a customer', async () => {
  const document = await parseXmlDocument(person)
  assert.deepEqual(parseCustomer(document, personContext), {
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
  assert.equal(readPersonChangedAt(document, 'Australia/Melbourne'), '2024-05-06T16:32:15')
  assert.deepEqual(buildHistoryRefresh(document), { id: '3001', version: '6/05/2024 4:32:15 PM' })
  assert.deepEqual(buildAccountRefreshes(document), [{ id: '1', version: '6/05/2024 4:32:15 PM' }])
})

test('an older response without loyalties, accounts and references becomes a customer', async () => {
  const document = await parseXmlDocument(
    '<Person><Id>1</Id><Surname>B</Surname><Privacy>True</Privacy><References Type="Array" /></Person>',
  )
  const { loyaltyCode, loyaltyName, referenceValues, email } = parseCustomer(document, personContext)
  assert.deepEqual([loyaltyCode, loyaltyName, referenceValues, email], [null, null, {}, null])
  assert.deepEqual(buildAccountRefreshes(document), [])
})

test('back office privacy ends subscriptions; otherwise the mapped references apply', async () => {
  const subscriptionMapping = {
    email: { type: 'newsletter', yes: '1', no: '2' },
    sms: { type: 'texts', yes: '5', no: '6' },
  }
  const typeNames = new Map([
    ['10', 'newsletter'],
    ['11', 'texts'],
  ])
  const parseConsent = async (privacy: string, value: string, mapping: PersonContext['subscriptionMapping']) => {
    const references = `<References><Reference><ReferenceTypeId>10</ReferenceTypeId><Id>${value}</Id></Reference></References>`
    const document = await parseXmlDocument(`<Person><Id>1</Id>${privacy}${references}</Person>`)
    const row = parseCustomer(document, { ...personContext, typeNames, subscriptionMapping: mapping })
    return [row.privacy, row.emailSubscription, row.smsSubscription]
  }
  assert.deepEqual(await parseConsent('<Privacy>True</Privacy>', '1', subscriptionMapping), [true, false, false])
  assert.deepEqual(await parseConsent('', '1', subscriptionMapping), [true, false, false])
  assert.deepEqual(await parseConsent('<Privacy>false</Privacy>', '1', subscriptionMapping), [false, true, false])
  assert.deepEqual(await parseConsent('<Privacy>false</Privacy>', '2', subscriptionMapping), [false, false, false])
  assert.deepEqual(await parseConsent('<Privacy>false</Privacy>', '1', {}), [false, undefined, undefined])
})

test('an invalid person is rejected without affecting others', async () => {
  const persons = [
    await parseXmlDocument('<Person><Surname>A</Surname></Person>'),
    await parseXmlDocument(person),
    await parseXmlDocument(person.replace('<ReferenceTypeId>1321', '<ReferenceTypeId>1322')),
  ]
  const { rows, rejected } = convertRecords(persons, record => parseCustomer(record, personContext))
  assert.deepEqual([rows.map(row => row.id), rejected.length], [['3001'], 2])
  assert.ok(rejected.every(reason => !/Sample|Jo/.test(reason)))
})

test('reference types get unique camelCase names', () => {
  assert.deepEqual(
    ['Favourite Store', 'FAVOURITE STORE', 'SalesRep', 'Kids’ Sizes', 'Größe/Länge', '1st Choice', '好み', ''].map(
      toCamelCase,
    ),
    ['favouriteStore', 'favouriteStore', 'salesRep', 'kidsSizes', 'groELange', undefined, undefined, undefined],
  )
  const names = buildTypeNames([
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

test('a reference without a name uses its code', async () => {
  const document = await parseXmlDocument(
    '<Reference><ReferenceTypeId>1</ReferenceTypeId><Id>7</Id><Code>X</Code><Name /></Reference>',
  )
  assert.deepEqual(parseReference(document, 'interest'), {
    type: 'interest',
    referenceValueId: '7',
    code: 'X',
    name: 'X',
  })
  assert.throws(() => parseReference({ ...document, children: [] }, 'interest'), InvalidRecord)
})
