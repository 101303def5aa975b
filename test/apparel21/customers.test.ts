import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, test } from 'node:test'
import { changedPerson, newPerson } from '../../src/backoffice/apparel21/records/person-write.ts'
import type { Xml } from '../../src/backoffice/apparel21/xml/xml.ts'
import { sql } from '../../src/db.ts'
import { Customer } from '../../src/domain/customers/customers.ts'
import { faultsOf } from '../../src/http/shape.ts'
import { created, freshEmail, isRefused, john } from '../support/customer-bodies.ts'
import { isProblem } from '../support/problem.ts'
import { post, put } from '../support/write.ts'
import { documentOf } from '../support/xml-document.ts'
import { count, hostile, openShop, type Shop } from './shop.ts'

let shop: Shop
let api: Shop['api']
let simulator: Shop['simulator']
before(async () => {
  shop = await openShop({
    subscriptionMapping: { email: { type: 'eMailOptIn', yes: '4421', no: '4422' } },
  })
  ;({ api, simulator } = shop)
})
after(() => shop.stop())
afterEach(() => shop.settle())

const personOf = (id: string) => simulator.state.persons.get(Number(id)) ?? assert.fail(`no person ${id}`)
const withEmail = (email: string) => [...simulator.state.persons.values()].filter(person => person.email === email)
const calls = () => simulator.ledger.calls.map(({ method, path }) => `${method} ${path.split('?')[0]}`)
const made = () => simulator.ledger.effectsOf('person created').length
const keyed = () => ({ 'idempotency-key': randomUUID() })
const consentOf = (id: string) =>
  api.db.rows<{ channel: string; old: boolean | null; new: boolean }>(sql`
    select channel, old_value as old, new_value as new from consent_change
     where service_id = ${api.service.id} and customer_id = ${id} order by change`)

/** A person of the back office with something in every field. */
function fullPerson() {
  const person = [...simulator.state.persons.values()].find(({ email }) => email !== '') ?? assert.fail()
  simulator.change({
    kind: 'edit-person',
    id: person.id,
    fields: {
      title: 'Dr',
      initials: 'JQ',
      sex: 'F',
      dateOfBirth: '1980-02-29',
      jobTitle: 'Botanist',
      isAgent: true,
      home: '0399990000',
      mobile: '0400000000',
      work: '0388880000',
      privacy: false,
      billing: {
        contactName: 'Dr J',
        companyName: 'Ferns & Co',
        line1: '1 Swan St',
        line2: 'Unit 2',
        city: 'RICHMOND',
        state: 'VIC',
        postcode: '3121',
        country: 'AUSTRALIA',
      },
      delivery: {
        contactName: 'Reception',
        companyName: 'Moss Ltd',
        line1: '2 Bay St',
        line2: 'Level 9',
        city: 'PERTH',
        state: 'WA',
        postcode: '6000',
        country: 'AUSTRALIA',
      },
      references: { 1321: 4411, 27: 2702, 1322: 4422 },
    },
  })
  person.customData.set('Web', new Map([['AccountId', ['A-1']]]))
  person.loyalties = [
    {
      id: 900_001,
      typeId: 8561,
      cardNumber: 'LM900001',
      expiry: '',
      balance: '',
      creditStatus: '',
      message: '',
      joinDate: '2024-01-01',
      statusId: '43701',
      active: true,
    },
  ]
  return person
}

const names = ({ children }: Xml) => children.map(({ name }) => name)

test('a person is written in the order of the guide, with what was read where the change says nothing', async () => {
  const person = await documentOf(`<Person><Future>1</Future><UpdateTimeStamp>6/05/2024 4:32:15 PM</UpdateTimeStamp>
    <Contacts><Phones><Work>3</Work><Home>1</Home><Mobile /></Phones><Email>jo@example.test</Email></Contacts><Surname>Sample </Surname>
    <Firstname>Jo</Firstname><Addresses><Delivery><City>PERTH</City></Delivery><Billing><Country>AUSTRALIA</Country><AddressLine1>1 Bay St</AddressLine1></Billing></Addresses>
    <Code>SAMPJO00</Code><Id>3001</Id><JobTitle>Botanist</JobTitle><Privacy>False</Privacy><IsAgent>true</IsAgent><Loyalties><Loyalty><Id>1</Id></Loyalty></Loyalties>
    <References><Reference><Id>4411</Id><ReferenceTypeId>1321</ReferenceTypeId></Reference><Reference><Id /><ReferenceTypeId>27</ReferenceTypeId></Reference></References></Person>`)
  const change = { title: 'Ms', mobile: '0400 1', address: { addressLine1: null, city: 'Melbourne' } }
  const text = changedPerson(person, change, {
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

test('a new person has no code and no stamp, and an address that is none carries the name', async () => {
  const input = { firstname: 'Jo', surname: 'Sample', contact: { email: 'jo@example.test' } }
  const person = await documentOf(newPerson(input, { privacy: true, references: new Map() }, '2026-02-03'))
  assert.deepEqual(names(person), ['Firstname', 'Surname', 'StartDate', 'Privacy', 'Addresses', 'Contacts'])
  assert.deepEqual(
    person.children[4]?.children[0]?.children.map(({ name, text }) => `${name} ${text}`),
    ['ContactName Jo Sample'],
  )
})

test('a customer is made in the back office, and answered and stored as it has it then', async () => {
  const body = john({
    title: 'Mr',
    mobile: '0400 123 456',
    dateOfBirth: '1980-02-29',
    privacy: false,
    emailSubscription: true,
    address: {
      addressLine1: '111 Collins St',
      city: 'Melbourne',
      state: 'VIC',
      postcode: '3000',
      country: 'Australia',
    },
    references: { shopsFor: '4412' },
  })
  const answer = await post(api, '/customers', body)
  assert.equal(answer.status, 201, answer.text)
  const record = answer.json.data
  assert.deepEqual(faultsOf(Customer, { ...record, references: {} }, { currency: 'AUD' }), [])
  assert.equal(answer.headers.location, `/customers/${record.id}`)
  assert.equal(answer.json.meta, undefined)
  const person = personOf(record.id)
  assert.deepEqual(
    [person.firstname, person.surname, person.title, person.email, person.mobile, person.dateOfBirth, person.privacy],
    ['John', 'Smith', 'Mr', body.contact.email, '0400 123 456', '1980-02-29', false],
  )
  assert.deepEqual(
    [...person.references],
    [
      [1321, 4412],
      [1322, 4421],
    ],
  )
  assert.equal(person.billing.line1, '111 Collins St')
  assert.equal(record.code, person.code)
  assert.equal(record.startDate, `${person.startDate} 00:00:00`)
  assert.deepEqual(record.references.shopsFor, { code: 'M', name: 'Men', referenceValueId: '4412' })
  assert.deepEqual([record.privacy, record.emailSubscription, record.smsSubscription], [false, true, false])
  assert.deepEqual((await api.get(`/customers/${record.id}`)).json.data, record)
  assert.deepEqual(await consentOf(record.id), [
    { channel: 'marketing', old: null, new: true },
    { channel: 'email', old: null, new: true },
    { channel: 'sms', old: null, new: false },
  ])
  assert.equal(made(), 1)
  assert.deepEqual(
    calls().filter(call => !/Reference/.test(call)),
    ['GET /Persons', 'POST /Persons', `GET /Persons/${record.id}`],
  )
})

test('a customer of whom little is said can be changed all the same', async () => {
  const { id } = await created(api)
  assert.equal(personOf(id).billing.contactName, 'John Smith')
  const answer = await put(api, `/customers/${id}`, { title: 'Mr' })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.json.data.title, 'Mr')
  assert.equal(answer.json.data.address.addressLine1, null)
})

test('texts that mean something to XML arrive as they are', async () => {
  for (const text of hostile) {
    const address = { addressLine1: text, addressLine2: `${text}${text}`.slice(0, 50), city: text }
    const body = john({ surname: text.slice(0, 20), address })
    const record = await created(api, body)
    const person = personOf(record.id)
    assert.deepEqual([person.surname, person.billing.line1, person.billing.city], [body.surname, text, text])
    assert.deepEqual([record.surname, record.address.addressLine1], [body.surname, text])
    assert.notEqual(person.code, 'X1')
  }
})

test('what the back office has no room for is refused by its place, before anybody is asked', async () => {
  const long = 'x'.repeat(21)
  const body = john({ firstname: long, surname: long, title: 'x'.repeat(11), address: { country: long } })
  isRefused(
    api,
    await post(api, '/customers', body),
    'invalid_field',
    ...['/title', '/firstname', '/surname', '/address/country'],
  )
  assert.deepEqual(calls(), [])
})

test('an e-mail address that somebody has is taken, here or in the back office only', async () => {
  const { id, contact } = await created(api)
  simulator.ledger.clear()
  const again = await post(api, '/customers', john({ contact: { email: contact.email.toUpperCase() } }))
  isRefused(api, again, 'email_taken', '/contact/email')
  assert.match(again.json.errors[0].detail, new RegExp(`Customer ${id} `))
  assert.deepEqual(calls(), [], 'nobody is asked about a customer that was made here')

  const someone = fullPerson()
  simulator.change({ kind: 'edit-person', id: someone.id, fields: { email: 'elsewhere@example.test' } })
  const other = await post(api, '/customers', john({ contact: { email: 'Elsewhere@example.test' } }))
  isRefused(api, other, 'email_taken', '/contact/email')
  assert.match(other.json.errors[0].detail, new RegExp(`Customer ${someone.id} `))
  const mine = await put(api, `/customers/${id}`, { contact: { email: 'elsewhere@example.test' } })
  isRefused(api, mine, 'email_taken', '/contact/email')
  assert.equal(made(), 0)
})

test('an e-mail address that its owner gave up at the head office is free', async () => {
  const someone = fullPerson()
  await shop.sync('customers')
  const email = someone.email
  simulator.change({ kind: 'edit-person', id: someone.id, fields: { email: freshEmail() } })
  const { id } = await created(api, john({ contact: { email } }))
  assert.notEqual(id, String(someone.id))
  assert.equal((await api.get(`/customers/${someone.id}`)).json.data.contact.email, someone.email)
})

test('of twenty creates with one e-mail address one makes a customer', async () => {
  const body = john()
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(api, '/customers', body)))
  const [first, ...more] = answers.filter(({ status }) => status === 201)
  assert.ok(first)
  assert.deepEqual(more, [])
  for (const answer of answers.filter(({ status }) => status !== 201)) {
    isProblem(answer, 'email_taken', api.baseUrl)
    assert.match(answer.json.detail, new RegExp(`Customer ${first.json.data.id} `))
  }
  assert.equal(made(), 1)
})

test('nothing that a change does not mention is cleared', async () => {
  const person = fullPerson()
  const { updated: _, password: __, ...was } = structuredClone(person)
  const answer = await put(api, `/customers/${person.id}`, { firstname: 'Joan', mobile: '0411 111 111' })
  assert.equal(answer.status, 200, answer.text)
  const { updated: ___, password: ____, ...is } = structuredClone(person)
  assert.deepEqual(is, { ...was, firstname: 'Joan', mobile: '0411 111 111' })
  assert.deepEqual(
    calls().filter(call => !/Reference/.test(call)),
    [`GET /Persons/${person.id}`, `PUT /Persons/${person.id}`, `GET /Persons/${person.id}`],
  )
  assert.equal(answer.json.data.loyaltyCode, 'VIP')
})

test('answers in another order, with blanks and unknown elements, do not harm what is written back', async () => {
  const person = fullPerson()
  const { updated: _, password: __, ...was } = structuredClone(person)
  for (const kind of ['reordered', 'extra-elements', 'trailing-blanks', 'carriage-returns'] as const) {
    simulator.faults.add({ kind, method: 'GET', path: '/Persons/*' })
    const answer = await put(api, `/customers/${person.id}`, { work: undefined, title: was.title })
    assert.equal(answer.status, 200, `${kind} ${answer.text}`)
    simulator.faults.clear()
    const { updated: ___, password: ____, ...is } = structuredClone(person)
    assert.deepEqual(is, was, kind)
  }
})

test('null clears, and leaves what is beside it', async () => {
  const person = fullPerson()
  const change = {
    title: null,
    dateOfBirth: null,
    address: { addressLine2: null },
    references: { shopsFor: null },
    contact: { phones: { home: null } },
  }
  const answer = await put(api, `/customers/${person.id}`, change)
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual([person.title, person.dateOfBirth, person.billing.line2, person.home], ['', '', '', ''])
  assert.deepEqual([person.billing.line1, person.mobile], ['1 Swan St', '0400000000'])
  assert.deepEqual([...person.references.keys()].sort(), [1322, 27])
  assert.equal((await put(api, `/customers/${person.id}`, { address: null })).status, 200)
  assert.deepEqual([person.billing.line1, person.billing.companyName], ['', 'Ferns & Co'])
})

test('a subscription changes its reference and the privacy of the person; each change of consent is recorded', async () => {
  const person = fullPerson()
  simulator.change({ kind: 'edit-person', id: person.id, fields: { privacy: true } })
  await shop.sync('customers')
  const before = (await consentOf(String(person.id))).length
  const yes = await put(api, `/customers/${person.id}`, {
    emailSubscription: true,
    smsSubscription: true,
    privacy: true,
  })
  assert.equal(yes.status, 200, yes.text)
  assert.deepEqual([person.privacy, person.references.get(1322)], [false, 4421])
  const { privacy, emailSubscription, smsSubscription } = yes.json.data
  assert.deepEqual([privacy, emailSubscription, smsSubscription], [false, true, true])
  assert.deepEqual(
    yes.json.meta.warnings.map((warning: { code: string }) => warning.code),
    ['subscription_not_mapped', 'privacy_overridden'],
  )
  assert.deepEqual((await consentOf(String(person.id))).slice(before), [
    { channel: 'marketing', old: false, new: true },
    { channel: 'email', old: false, new: true },
    { channel: 'sms', old: false, new: true },
  ])
  await put(api, `/customers/${person.id}`, { emailSubscription: false })
  assert.deepEqual([person.privacy, person.references.get(1322)], [false, 4422])
  assert.equal((await api.get(`/customers/${person.id}`)).json.data.smsSubscription, true)
})

test('what the head office changes between our reading and writing is kept', async () => {
  const person = fullPerson()
  const change = { kind: 'edit-person', fields: { jobTitle: 'Gardener', work: '0377770000' } }
  simulator.faults.add({ kind: 'meanwhile', method: 'PUT', path: '/Persons/*', times: 1, change })
  const answer = await put(api, `/customers/${person.id}`, { firstname: 'Jane' })
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual([person.firstname, person.jobTitle, person.work], ['Jane', 'Gardener', '0377770000'])
  assert.equal(answer.json.data.contact.phones.work, '0377770000')
  assert.deepEqual(
    simulator.ledger.callsTo({ method: 'PUT' }).map(({ errorCode }) => errorCode),
    [5010, null],
  )
})

test('after three such changes it is given up, and nothing is written', async () => {
  const person = fullPerson()
  await shop.sync('customers')
  const shown = (await api.get(`/customers/${person.id}`)).json.data
  const change = { kind: 'edit-person', fields: { jobTitle: 'Gardener' } }
  simulator.faults.add({ kind: 'meanwhile', method: 'PUT', path: '/Persons/*', change })
  const answer = await put(api, `/customers/${person.id}`, { firstname: 'Nobody' })
  isProblem(answer, 'concurrent_update', api.baseUrl, `/customers/${person.id}`)
  assert.equal(simulator.ledger.callsTo({ method: 'PUT' }).length, 3)
  assert.notEqual(person.firstname, 'Nobody')
  assert.deepEqual((await api.get(`/customers/${person.id}`)).json.data, shown)
})

test('two changes at once of one customer lose nothing', async () => {
  const { id } = await created(api)
  const answers = await Promise.all([
    put(api, `/customers/${id}`, { title: 'Dr' }),
    put(api, `/customers/${id}`, { mobile: '0400 222 222' }),
    put(api, `/customers/${id}`, { address: { city: 'Perth' } }),
  ])
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  )
  const person = personOf(id)
  assert.deepEqual([person.title, person.mobile, person.billing.city], ['Dr', '0400 222 222', 'Perth'])
  assert.equal((await api.get(`/customers/${id}`)).json.data.title, 'Dr')
})

test('If-Match sees what the head office has changed since', async () => {
  const { id } = await created(api)
  const { headers } = await api.get(`/customers/${id}`)
  const same = await put(api, `/customers/${id}`, { title: 'Mr' }, { 'if-match': headers.etag })
  assert.equal(same.status, 200, same.text)
  simulator.change({ kind: 'edit-person', id: Number(id), fields: { mobile: '0400 333 333' } })
  simulator.ledger.clear()
  const stale = await put(api, `/customers/${id}`, { title: 'Dr' }, { 'if-match': same.headers.etag })
  isProblem(stale, 'precondition_failed', api.baseUrl)
  assert.equal(simulator.ledger.callsTo({ method: 'PUT' }).length, 0)
})

test('a customer that only the back office knows yet can be changed; one that it does not have is not found', async () => {
  const person = fullPerson()
  await api.db.run(sql`delete from customer where service_id = ${api.service.id} and id = ${String(person.id)}`)
  const answer = await put(api, `/customers/${person.id}`, { firstname: 'Late' })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.json.data.firstname, 'Late')
  for (const id of ['99999', '0', '-1', 'x', `0${person.id}`, '../Stores'])
    isProblem(await put(api, `/customers/${encodeURIComponent(id)}`, { firstname: 'Late' }), 'not_found', api.baseUrl)
})

test('a type of reference that the back office lacks, and a value of another type, are refused', async () => {
  await api.db.run(
    sql`insert into reference (service_id, type, reference_value_id, code, name) values (${api.service.id}, 'favouriteColour', '1', 'R', 'Red')`,
  )
  const unknown = await post(api, '/customers', john({ references: { favouriteColour: '1' } }))
  isRefused(api, unknown, 'invalid_field', '/references/favouriteColour')
  const ofProducts = await post(api, '/customers', john({ references: { season: '1342' } }))
  isRefused(api, ofProducts, 'invalid_field', '/references')
  assert.equal(made(), 0)
})

test('a create whose answer is lost is an unknown outcome, and its repeat finds the person', async () => {
  const [body, key] = [john({ title: 'Mr', references: { shopsFor: '4413' } }), keyed()]
  const before = await count(api, api, 'customer')
  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons', times: 1 })
  isProblem(await post(api, '/customers', body, key), 'outcome_unknown', api.baseUrl, '/customers')
  assert.equal(await count(api, api, 'customer'), before)
  assert.equal(made(), 1)
  const repeat = await post(api, '/customers', body, key)
  assert.equal(repeat.status, 201, repeat.text)
  assert.equal(made(), 1)
  assert.equal(withEmail(body.contact.email).length, 1)
  assert.equal(await count(api, api, 'customer'), before + 1)
  assert.equal((await consentOf(repeat.json.data.id)).length, 3)
  const third = await post(api, '/customers', body, key)
  assert.equal(third.headers['idempotent-replayed'], 'true')
})

test('the repeat finds the person also where a feed was faster', async () => {
  const [body, key] = [john(), keyed()]
  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons', times: 1 })
  isProblem(await post(api, '/customers', body, key), 'outcome_unknown', api.baseUrl)
  await shop.sync('customers')
  const rows = await count(api, api, 'customer')
  assert.equal((await post(api, '/customers', body, key)).status, 201)
  assert.equal(await count(api, api, 'customer'), rows)
  assert.equal(made(), 1)
  isProblem(await post(api, '/customers', body, keyed()), 'email_taken', api.baseUrl)
})

test('a person with the address but another name is not taken for an earlier attempt', async () => {
  const [body, key] = [john(), keyed()]
  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons', times: 1 })
  isProblem(await post(api, '/customers', body, key), 'outcome_unknown', api.baseUrl)
  const other = await post(api, '/customers', { ...body, surname: 'Other' }, keyed())
  isRefused(api, other, 'email_taken', '/contact/email')
  const [person] = withEmail(body.contact.email)
  simulator.change({ kind: 'edit-person', id: person?.id ?? 0, fields: { startDate: '2020-01-01' } })
  isRefused(api, await post(api, '/customers', body, key), 'email_taken', '/contact/email')
})

test('what is undone here after the back office has done it is finished by the repeat', async () => {
  const [body, key] = [john(), keyed()]
  const before = await count(api, api, 'customer')
  shop.undo(1)
  isProblem(await post(api, '/customers', body, key), 'internal_error', api.baseUrl)
  assert.deepEqual([made(), await count(api, api, 'customer')], [1, before])
  const { status, json } = await post(api, '/customers', body, key)
  assert.equal(status, 201)
  assert.deepEqual([made(), await count(api, api, 'customer')], [1, before + 1])

  shop.undo(1)
  const change = { title: 'Dr' }
  isProblem(await put(api, `/customers/${json.data.id}`, change), 'internal_error', api.baseUrl)
  assert.equal((await api.get(`/customers/${json.data.id}`)).json.data.title, null)
  assert.equal((await put(api, `/customers/${json.data.id}`, change)).json.data.title, 'Dr')
})

test('a person that was made but cannot be read back is an unknown outcome', async () => {
  const [body, key] = [john(), keyed()]
  simulator.faults.add({ kind: 'html', method: 'GET', path: '/Persons/*', times: 1 })
  isProblem(await post(api, '/customers', body, key), 'outcome_unknown', api.baseUrl)
  assert.equal((await post(api, '/customers', body, key)).status, 201)
  assert.equal(made(), 1)
})

test('a change whose answer is lost is an unknown outcome; repeated, it is done', async () => {
  const { id } = await created(api)
  simulator.faults.add({ kind: 'lost-answer', method: 'PUT', path: '/Persons/*', times: 1 })
  isProblem(await put(api, `/customers/${id}`, { title: 'Dr' }), 'outcome_unknown', api.baseUrl)
  assert.equal((await api.get(`/customers/${id}`)).json.data.title, null)
  const answer = await put(api, `/customers/${id}`, { title: 'Dr' })
  assert.equal(answer.status, 200)
  assert.deepEqual([answer.json.data.title, personOf(id).title], ['Dr', 'Dr'])
})

test('a back office that is away is 503 with Retry-After, and nothing is written', async () => {
  const { id } = await created(api)
  const rows = await count(api, api, 'customer')
  await simulator.refuse()
  for (const answer of [
    await post(api, '/customers', john(), keyed()),
    await put(api, `/customers/${id}`, { title: 'Dr' }),
  ]) {
    isProblem(answer, 'back_office_unavailable', api.baseUrl)
    assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/)
  }
  assert.equal(await count(api, api, 'customer'), rows)
})

test('a page instead of an answer is 502 where something is read, and an unknown outcome where it was to be written', async () => {
  const body = john()
  simulator.faults.add({ kind: 'html', path: '/Persons' })
  isProblem(await post(api, '/customers', body), 'back_office_error', api.baseUrl)
  simulator.faults.clear()
  simulator.faults.add({ kind: 'html', method: 'POST', path: '/Persons' })
  const unknown = await post(api, '/customers', body)
  isProblem(unknown, 'outcome_unknown', api.baseUrl)
  assert.doesNotMatch(unknown.text, /html/i)
  assert.equal(made(), 0)
})

test('a silent back office is an unknown outcome at its deadline, also with a key', async () => {
  simulator.faults.add({ kind: 'hang', method: 'POST', path: '/Persons', times: 1 })
  const began = performance.now()
  isProblem(await post(api, '/customers', john(), keyed()), 'outcome_unknown', api.baseUrl)
  assert.ok(performance.now() - began < 5_000)
  assert.equal(simulator.ledger.callsTo({ method: 'POST' }).length, 1)
})
