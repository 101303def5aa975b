import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../../src/db.ts'
import type { ErrorCode } from '../../../src/errors.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import {
  changedBeside,
  changed as changedBy,
  created as createdBy,
  freshEmail,
  isRefused as isRefusedBy,
  john,
} from '../../support/customer-bodies.ts'
import { isProblem } from '../../support/problem.ts'
import { type Answer, type Caller, startTestService, type TestService } from '../../support/service.ts'
import { post, put } from '../../support/write.ts'

let shop: TestService

before(async () => {
  shop = await startTestService({
    settings: { timeZone: 'Australia/Melbourne', writesPerMinute: 'off', readsPerMinute: 'off' },
    role: 'maintainer',
  })
})
after(() => shop.stop())

const created = (body: object = john(), caller: Caller = shop) => createdBy(caller, body)
const changed = (id: string, change: object) => changedBy(shop, id, change)
const isRefused = (answer: Answer, code: ErrorCode, ...pointers: string[]) =>
  isRefusedBy(shop, answer, code, ...pointers)

const count = async () =>
  (await shop.db.row<{ n: number }>(sql`select count(*)::integer as n from customer`))?.n as number

test('a name and an e-mail address are enough for a customer', async () => {
  const body = john()
  const answer = await post(shop, '/customers', body)
  assert.equal(answer.status, 201, answer.text)
  const { id, code, startDate, updateTimeStamp, contact, ...rest } = answer.json.data
  assert.deepEqual(rest, {
    title: null,
    firstname: 'John',
    surname: 'Smith',
    dateOfBirth: null,
    privacy: true,
    emailSubscription: false,
    smsSubscription: false,
    address: { addressLine1: null, addressLine2: null, city: null, state: null, postcode: null, country: null },
    references: {},
    loyaltyCode: null,
    loyaltyName: null,
    joinedStoreId: null,
    joinedStoreCode: null,
    ecommerceAdminId: null,
    ecommerceLegacyId: null,
  })
  assert.deepEqual(contact, { email: body.contact.email, phones: { home: null, mobile: null, work: null } })
  assert.match(code, /^SMITJOHN\d\d$/)
  // The same wall clock, that of the service.
  assert.match(startDate, /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/)
  const apart = Temporal.PlainDateTime.from(startDate).until(updateTimeStamp).total('seconds')
  assert.ok(Math.abs(apart) <= 2, `${startDate}, ${updateTimeStamp}`)
  const now = Temporal.Now.plainDateTimeISO('Australia/Melbourne')
  assert.ok(Math.abs(now.until(updateTimeStamp).total('seconds')) < 60)

  assert.equal(answer.headers.location, `/customers/${id}`)
  const read = await shop.get(`/customers/${id}`)
  assert.deepEqual([read.text, read.headers.etag], [answer.text, answer.headers.etag])
  const { json } = await shop.get('/customers/search?updated_after=2020-01-01')
  assert.ok(json.data.some((each: { id: string }) => each.id === id))
})

const everything = {
  title: 'Dr',
  firstname: 'Mary-Jane',
  surname: "O'Neill",
  mobile: '+61 400 123 456',
  dateOfBirth: '1980-02-29',
  privacy: false,
  emailSubscription: false,
  smsSubscription: false,
  address: {
    addressLine1: '111 Collins St',
    addressLine2: 'Level 5',
    city: 'Melbourne',
    state: 'VIC',
    postcode: '3000',
    country: 'Australia',
  },
}
const everyPhone = { home: '(03) 9123-4567', mobile: '+61 400 123 456', work: '03.9123/4568' }

test('all that a customer can be given is there when it is read', async () => {
  const email = freshEmail()
  const { id } = await created({ ...everything, contact: { email, phones: everyPhone } })
  const { data } = (await shop.get(`/customers/${id}`)).json
  const { mobile, ...rest } = everything
  for (const [name, value] of Object.entries(rest)) assert.deepEqual(data[name], value, name)
  assert.deepEqual(data.contact, { email, phones: everyPhone })
  const { data: brief } = (await post(shop, '/customers', john({ mobile }))).json
  assert.deepEqual(brief.contact.phones, { home: null, mobile, work: null })
})

test('null says nothing of a new customer', async () => {
  const nothing = Object.fromEntries(
    ['title', 'dateOfBirth', 'privacy', 'emailSubscription', 'smsSubscription', 'address', 'references'].map(name => [
      name,
      null,
    ]),
  )
  const phones = { home: null, mobile: '0400 123 456', work: null }
  const body = john({ ...nothing, mobile: null })
  const data = await created({ ...body, contact: { ...body.contact, phones } })
  assert.deepEqual([data.title, data.privacy, data.emailSubscription, data.references], [null, true, false, {}])
  assert.deepEqual(data.contact.phones, phones)
})

test('a change keeps what it does not mention, within telephone numbers and the address too', async () => {
  const { id } = await created({ ...everything, contact: { email: freshEmail(), phones: everyPhone } })
  let expected = (await shop.get(`/customers/${id}`)).json.data
  const steps: [object, (customer: typeof expected) => void][] = [
    [{ title: 'Ms' }, c => (c.title = 'Ms')],
    [{ firstname: 'Jane' }, c => (c.firstname = 'Jane')],
    [{ contact: { phones: { home: '99 123' } } }, c => (c.contact.phones.home = '99 123')],
    [{ contact: { phones: { work: null } } }, c => (c.contact.phones.work = null)],
    [{ contact: { email: 'Jane.O@Example.com' } }, c => (c.contact.email = 'Jane.O@Example.com')],
    [{ mobile: '0411 222 333' }, c => (c.contact.phones.mobile = '0411 222 333')],
    [
      { mobile: '0411 222 334', contact: { phones: { mobile: '0411 222 334' } } },
      c => (c.contact.phones.mobile = '0411 222 334'),
    ],
    [{ address: { city: 'Sydney', state: null } }, c => Object.assign(c.address, { city: 'Sydney', state: null })],
    [{ address: {} }, () => {}],
    [{ contact: {} }, () => {}],
  ]
  for (const [change, apply] of steps) {
    const data = await changed(id, change)
    apply(expected)
    expected = { ...expected, updateTimeStamp: data.updateTimeStamp }
    assert.deepEqual(data, expected, JSON.stringify(change))
    assert.deepEqual((await shop.get(`/customers/${id}`)).json.data, expected)
  }
})

test('null clears what is optional, one by one and as a whole', async () => {
  const full = () => created({ ...everything, contact: { email: freshEmail(), phones: everyPhone } })
  const { id } = await full()
  for (const name of ['title', 'dateOfBirth'] as const) assert.equal((await changed(id, { [name]: null }))[name], null)
  assert.equal((await changed(id, { mobile: null })).contact.phones.mobile, null)
  assert.equal((await changed(id, { privacy: null })).privacy, true)
  assert.deepEqual((await changed(id, { address: null })).address, {
    addressLine1: null,
    addressLine2: null,
    city: null,
    state: null,
    postcode: null,
    country: null,
  })
  const cleared = await changed(id, { contact: { phones: null } })
  assert.deepEqual(cleared.contact.phones, { home: null, mobile: null, work: null })
  assert.equal(cleared.firstname, everything.firstname)
  assert.ok(cleared.contact.email)
})

test('a change that changes nothing leaves the time stamp, the tag and the lists alone', async () => {
  const made = await created({ ...everything, contact: { email: freshEmail(), phones: everyPhone } })
  const stamp = async () =>
    (await shop.db.row<{ at: string }>(sql`select changed_at::text as at from customer where id = ${made.id}`))?.at
  const [before, read] = [await stamp(), await shop.get(`/customers/${made.id}`)]
  const { title, firstname, surname, dateOfBirth, privacy, contact, address, references } = made
  for (const same of [
    {},
    { firstname },
    { address: { city: address.city } },
    { title, firstname, surname, dateOfBirth, privacy, contact, address, references, mobile: contact.phones.mobile },
    { emailSubscription: false },
  ]) {
    const answer = await put(shop, `/customers/${made.id}`, same)
    assert.deepEqual([answer.status, answer.json.data], [200, made], answer.text)
    assert.equal(answer.headers.etag, read.headers.etag)
  }
  assert.equal(await stamp(), before)
  await changed(made.id, { firstname: 'Other' })
  assert.notEqual(await stamp(), before)
})

test('one e-mail address is of one customer, however it is written', async () => {
  const { id } = await created(john({ contact: { email: 'José.One@Example.com' } }))
  const forms = ['José.One@Example.com', 'josé.one@example.com', 'JOSÉ.ONE@EXAMPLE.COM', 'Jose\u0301.One@Example.com']
  const other = await created()
  const before = await count()
  for (const email of forms) {
    const create = await post(shop, '/customers', john({ contact: { email } }))
    isRefused(create, 'email_taken', '/contact/email')
    assert.ok(create.json.detail.includes(id), create.json.detail)
    const change = await put(shop, `/customers/${other.id}`, { title: 'Dr', contact: { email } })
    isRefused(change, 'email_taken', '/contact/email')
    const found = await shop.get(`/customers?email=${encodeURIComponent(email)}`)
    assert.deepEqual(
      found.json.data.map((each: { id: string }) => each.id),
      [id],
    )
  }
  assert.equal(await count(), before)
  assert.deepEqual((await shop.get(`/customers/${other.id}`)).json.data, other)
  // Its own is not another's, and it is free again once it is given up.
  assert.equal((await changed(id, { contact: { email: forms[2] } })).contact.email, forms[2])
  await changed(id, { contact: { email: freshEmail() } })
  await changed(other.id, { contact: { email: forms[3] } })
  const elsewhere = await shop.tenant()
  await created(john({ contact: { email: forms[3] } }), elsewhere)
})

test('of twenty who create a customer with one e-mail address at once, one does', async () => {
  for (let round = 0; round < 3; round++) {
    const email = freshEmail()
    const before = await count()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        post(shop, '/customers', john({ contact: { email: i % 2 ? email : email.toUpperCase() } })),
      ),
    )
    const [winner, ...others] = answers.filter(({ status }) => status === 201)
    assert.deepEqual([others.length, await count()], [0, before + 1])
    for (const answer of answers.filter(each => each !== winner)) {
      isRefused(answer, 'email_taken', '/contact/email')
      assert.ok(answer.json.detail.includes(winner?.json.data.id))
    }
  }
})

test('customers who change to each other’s e-mail addresses at once end with one each', async () => {
  for (let round = 0; round < 5; round++) {
    const [a, b] = await Promise.all([created(), created()])
    const answers = await Promise.all([
      put(shop, `/customers/${a.id}`, { contact: { email: b.contact.email } }),
      put(shop, `/customers/${b.id}`, { contact: { email: a.contact.email } }),
    ])
    for (const answer of answers) assert.equal(answer.json.code, 'email_taken', answer.text)
    const wanted = freshEmail()
    const both = await Promise.all(
      [a, b].map(({ id }) => put(shop, `/customers/${id}`, { contact: { email: wanted } })),
    )
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409])
  }
})

test('two changes at once lose no field of each other', async () => {
  const { id } = await created()
  for (let round = 0; round < 40; round++) {
    const said = `round ${round}`
    const number = `${1000 + round}`
    const changes = [
      { firstname: said },
      { surname: said },
      { contact: { phones: { home: number } } },
      { mobile: number },
      { address: { city: said } },
      { address: { addressLine2: said } },
    ].slice(round % 5, (round % 5) + 2)
    const answers = await Promise.all(changes.map(change => put(shop, `/customers/${id}`, change)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    )
    const { data } = (await shop.get(`/customers/${id}`)).json
    for (const { mobile, ...change } of changes as { mobile?: string }[]) {
      if (mobile !== undefined) assert.equal(data.contact.phones.mobile, mobile)
      assert.partialDeepStrictEqual(data, change)
    }
    // The later one saw what the earlier one had done.
    assert.ok(answers.some(({ json }) => JSON.stringify(json.data) === JSON.stringify(data)))
  }
})

test('ten changes of ten fields at once are all there', async () => {
  const { id } = await created()
  const changes = [
    ...['title', 'firstname', 'surname'].map(name => ({ [name]: `new ${name}` })),
    ...['addressLine1', 'addressLine2', 'city', 'state', 'country'].map(name => ({
      address: { [name]: `new ${name}` },
    })),
    ...['home', 'work'].map((name, i) => ({ contact: { phones: { [name]: `555${i}` } } })),
  ]
  const answers = await Promise.all(changes.map(change => put(shop, `/customers/${id}`, change)))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  const { data } = (await shop.get(`/customers/${id}`)).json
  for (const change of changes) assert.partialDeepStrictEqual(data, change)
})

test('an import that meets a change loses none of its fields', async () => {
  const { id } = await created()
  const change = { surname: 'Changed', mobile: '0400 999 999' }
  const data = await changedBeside(shop, id, change, () =>
    upsertCustomers(shop.db, shop.service, [{ id, ecommerceAdminId: 'gid://shop/Customer/1' }]),
  )
  assert.deepEqual(
    [data.surname, data.contact.phones.mobile, data.ecommerceAdminId],
    ['Changed', '0400 999 999', 'gid://shop/Customer/1'],
  )
})

test('a change with `If-Match` is made on the state that it names, or not at all', async () => {
  const { id } = await created()
  const path = `/customers/${id}`
  const { headers } = await shop.get(path)
  const tag = String(headers.etag)
  isRefused(await put(shop, path, { title: 'Dr' }, { 'if-match': '"other"' }), 'precondition_failed')
  const first = await put(shop, path, { title: 'Dr' }, { 'if-match': tag })
  assert.equal(first.status, 200)
  assert.equal(first.headers.etag, (await shop.get(path)).headers.etag)
  isRefused(await put(shop, path, { title: 'Mr' }, { 'if-match': tag }), 'precondition_failed')
  assert.equal((await put(shop, path, { title: 'Mr' }, { 'if-match': `"x", ${first.headers.etag}` })).status, 200)
  assert.equal((await put(shop, path, { title: 'Ms' }, { 'if-match': '*' })).status, 200)
  isProblem(await put(shop, '/customers/none', {}, { 'if-match': tag }), 'not_found', shop.baseUrl, '/customers/none')
})

test('of two changes on the same state at once one is refused', async () => {
  const { id } = await created()
  const path = `/customers/${id}`
  for (let round = 0; round < 10; round++) {
    const match = { 'if-match': String((await shop.get(path)).headers.etag) }
    const answers = await Promise.all([
      put(shop, path, { firstname: `A${round}` }, match),
      put(shop, path, { surname: `B${round}` }, match),
    ])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412])
  }
})

test('a service can want `If-Match` with every change', async () => {
  const strict = await shop.tenant({ requireIfMatch: true })
  const answer = await post(strict, '/customers', john())
  const path = String(answer.headers.location)
  isRefused(await put(strict, path, { title: 'Dr' }), 'precondition_required')
  assert.equal((await put(strict, path, { title: 'Dr' }, { 'if-match': String(answer.headers.etag) })).status, 200)
})

test('a customer of another service is not found, and stays as it is', async () => {
  const mine = await created()
  const other = await shop.tenant()
  const [foreign, unknown] = [
    await put(other, `/customers/${mine.id}`, { firstname: 'Stolen' }),
    await put(other, '/customers/none', { firstname: 'Stolen' }),
  ]
  for (const { status, json } of [foreign, unknown])
    assert.deepEqual([status, json.code, json.detail], [404, 'not_found', 'There is no such customer.'])
  assert.deepEqual((await shop.get(`/customers/${mine.id}`)).json.data, mine)
})

test('who may only read creates and changes nothing', async () => {
  const visitor = await shop.account('visitor')
  const { id } = await created()
  isProblem(await post(visitor, '/customers', john()), 'insufficient_role', shop.baseUrl, '/customers')
  isProblem(await put(visitor, `/customers/${id}`, {}), 'insufficient_role', shop.baseUrl, `/customers/${id}`)
})

test('a repeat with the same key is answered as the first time, and creates nobody', async () => {
  const key = { 'idempotency-key': '"new-customer-1"' }
  const body = john()
  const first = await post(shop, '/customers', body, key)
  const total = await count()
  const reordered = Object.fromEntries(Object.entries(body).reverse())
  for (const again of [body, reordered]) {
    const answer = await post(shop, '/customers', again, key)
    assert.deepEqual([answer.status, answer.text], [201, first.text])
    for (const name of ['etag', 'location']) assert.equal(answer.headers[name], first.headers[name])
    assert.deepEqual([first.headers['idempotent-replayed'], answer.headers['idempotent-replayed']], [undefined, 'true'])
  }
  isRefused(await post(shop, '/customers', { ...body, title: 'Dr' }, key), 'idempotency_key_reused')
  assert.equal(await count(), total)
  const other = await shop.tenant()
  const elsewhere = await post(other, '/customers', body, key)
  assert.equal(elsewhere.status, 201)
  assert.notEqual(elsewhere.json.data.id, first.json.data.id)
})

test('a refused customer does not use up its key', async () => {
  const key = { 'idempotency-key': 'new-customer-2' }
  const taken = await created()
  isRefused(await post(shop, '/customers', john({ contact: taken.contact }), key), 'email_taken', '/contact/email')
  assert.equal((await post(shop, '/customers', john(), key)).status, 201)
})

test('of several with one key at once one creates a customer', async () => {
  const body = john()
  const before = await count()
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => post(shop, '/customers', body, { 'idempotency-key': 'at-once' })),
  )
  const ids = new Set(answers.filter(({ status }) => status === 201).map(({ json }) => json.data.id))
  assert.deepEqual([ids.size, await count()], [1, before + 1])
  for (const { status, json } of answers)
    assert.ok(status === 201 || json.code === 'idempotency_in_progress', JSON.stringify(json))
})

test('each write leaves a line that names the fields and none of their values', async () => {
  const lines = async () =>
    (await shop.db.rows<{ record: string }>(sql`select record from audit order by changed_at`)).map(({ record }) =>
      JSON.parse(record),
    )
  const before = (await lines()).length
  const secret = 'Rumpelstiltskin'
  const data = await created(john({ firstname: secret, address: { city: secret }, mobile: '0400 777 777' }))
  await changed(data.id, { surname: secret, contact: { phones: { home: null } } })
  isRefused(await put(shop, `/customers/${data.id}`, { dateOfBirth: '1066-10-14' }), 'invalid_field', '/dateOfBirth')
  const [create, change, ...more] = (await lines()).slice(before)
  assert.deepEqual(more, [])
  assert.deepEqual([create.operation, change.operation], ['POST /customers', 'PUT /customers/:id'])
  for (const line of [create, change]) {
    assert.deepEqual([line.subject, line.username], [`/customers/${data.id}`, shop.username])
    assert.doesNotMatch(JSON.stringify(line), /Rumpel|777|1066|example\.com/)
  }
  assert.deepEqual(create.fields, ['firstname', 'surname', 'contact.email', 'address.city', 'mobile'])
  assert.deepEqual(change.fields, ['surname', 'contact.phones.home'])
})

test('a code is made of what is Latin in a name', async () => {
  for (const [firstname, surname, start] of [
    ['José', 'Nuñez', 'NUNEJOSE'],
    ['Al', "O'Neill-Brown", 'ONEIAL'],
    ['明', '李', ''],
    ['Zoë', 'شمس', 'ZOE'],
  ] as const)
    assert.match((await created(john({ firstname, surname }))).code, new RegExp(`^${start}\\d\\d$`))
})
