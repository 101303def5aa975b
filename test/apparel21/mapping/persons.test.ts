import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  accountRefreshes,
  changedAt,
  customerFrom,
  historyRefresh,
  type PersonReading,
} from '../../../src/backoffice/apparel21/mapping/person-from-xml.ts'
import { camelCase, referenceFrom, typeNames } from '../../../src/backoffice/apparel21/mapping/references.ts'
import { translated, Untranslatable } from '../../../src/backoffice/apparel21/xml/untranslatable.ts'
import { documentOf } from '../../support/xml-document.ts'

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
  assert.deepEqual(historyRefresh(found), { id: '3001', stamp: '6/05/2024 4:32:15 PM' })
  assert.deepEqual(accountRefreshes(found), [{ id: '1', stamp: '6/05/2024 4:32:15 PM' }])
})

test('an older answer, without loyalties, accounts and references, is a customer as well', async () => {
  const found = await documentOf(
    '<Person><Id>1</Id><Surname>B</Surname><Privacy>True</Privacy><References Type="Array" /></Person>',
  )
  const { loyaltyCode, loyaltyName, referenceValues, email } = customerFrom(found, reading)
  assert.deepEqual([loyaltyCode, loyaltyName, referenceValues, email], [null, null, {}, null])
  assert.deepEqual(accountRefreshes(found), [])
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

test('a person without an identifier, or with a reference of an unknown type, is rejected and the others are not', async () => {
  const persons = [
    await documentOf('<Person><Surname>A</Surname></Person>'),
    await documentOf(person),
    await documentOf(person.replace('<ReferenceTypeId>1321', '<ReferenceTypeId>1322')),
  ]
  const { rows, rejected } = translated(persons, one => customerFrom(one, reading))
  assert.deepEqual([rows.map(row => row.id), rejected.length], [['3001'], 2])
  assert.ok(rejected.every(reason => !/Sample|Jo/.test(reason)))
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
