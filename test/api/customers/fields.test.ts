import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  assertRejected,
  buildCustomer,
  createCustomer,
  startCustomerShop,
  updateCustomer,
} from '../../support/customer-bodies.ts'
import { post, put } from '../../support/write.ts'

const api = await startCustomerShop()
after(() => api.stop())

test('read-only and unknown fields are rejected by name', async () => {
  const { id, ...record } = await createCustomer(api)
  const readOnlyFields = ['startDate', 'code', 'loyaltyCode', 'loyaltyName', 'joinedStoreId', 'joinedStoreCode']
  const unknownFields = ['updateTimeStamp', 'nope', 'contacts', '__proto__', 'constructor']
  for (const name of ['id', ...readOnlyFields, ...unknownFields]) {
    const json = JSON.stringify(
      unknownFields.includes(name) ? (Object.getOwnPropertyDescriptor(record, name)?.value ?? 'x') : 'x',
    )
    const text = name === 'startDate' ? '"2001-01-01 00:00:00"' : json
    const change = await put(api, `/customers/${id}`, `{${JSON.stringify(name)}:${text}}`)
    assertRejected(api, change, 'invalid_body', `/${name}`)
    assert.ok(change.json.detail.includes(`\`${name}\``), change.text)
    const body = `${JSON.stringify(buildCustomer()).slice(0, -1)},${JSON.stringify(name)}:${json}}`
    assertRejected(api, await post(api, '/customers', body), 'invalid_body', `/${name}`)
  }
  const readOnlyChange = { id: '1', code: null, updateTimeStamp: 'x' }
  assertRejected(api, await put(api, `/customers/${id}`, readOnlyChange), 'invalid_body', '/updateTimeStamp')
  assertRejected(api, await put(api, `/customers/${id}`, { id: '1', code: null }), 'invalid_body', '/id', '/code')
  assertRejected(api, await put(api, `/customers/${id}`, { contact: { fax: '1' } }), 'invalid_body', '/contact/fax')
  assertRejected(
    api,
    await put(api, `/customers/${id}`, { address: { street: '1' } }),
    'invalid_body',
    '/address/street',
  )
})

test('all missing fields and wrong types are reported at once', async () => {
  assertRejected(api, await post(api, '/customers', {}), 'invalid_body', '/firstname', '/surname', '/contact')
  assertRejected(api, await post(api, '/customers', buildCustomer({ contact: {} })), 'invalid_body', '/contact/email')
  const wrong = { firstname: null, surname: 5, contact: { email: null, phones: [] }, title: true, privacy: 'false' }
  const pointers = ['/firstname', '/surname', '/contact/email', '/contact/phones', '/title', '/privacy']
  assertRejected(api, await post(api, '/customers', wrong), 'invalid_body', ...pointers)
  const { id } = await createCustomer(api)
  const numbers = { ecommerceAdminId: 1, ecommerceLegacyId: 6477890125896 }
  assertRejected(
    api,
    await put(api, `/customers/${id}`, numbers),
    'invalid_body',
    '/ecommerceAdminId',
    '/ecommerceLegacyId',
  )
  const putPointers = pointers.filter(pointer => !['/firstname', '/contact/email'].includes(pointer))
  assertRejected(api, await put(api, `/customers/${id}`, wrong), 'invalid_body', ...putPointers)
  const cleared = { firstname: null, surname: '', contact: { email: '' } }
  const required = ['/firstname', '/surname', '/contact/email']
  assertRejected(api, await put(api, `/customers/${id}`, cleared), 'invalid_field', ...required)
  assertRejected(api, await put(api, `/customers/${id}`, { contact: null }), 'invalid_body', '/contact')
  for (const references of [{ a: 5 }, { a: [] }, { a: { referenceValueId: 5 } }])
    assert.equal((await put(api, `/customers/${id}`, { references })).json.code, 'invalid_body')
})

test('a length is counted in code points and an excess is rejected', async () => {
  const { id } = await createCustomer(api)
  const limits: [number, (text: string) => object, string][] = [
    [50, firstname => ({ firstname }), '/firstname'],
    [50, surname => ({ surname }), '/surname'],
    [50, title => ({ title }), '/title'],
    [250, ecommerceAdminId => ({ ecommerceAdminId }), '/ecommerceAdminId'],
    [250, ecommerceLegacyId => ({ ecommerceLegacyId }), '/ecommerceLegacyId'],
    ...(['addressLine1', 'addressLine2', 'city', 'state', 'country'] as const).map(
      (name): [number, (text: string) => object, string] => [
        50,
        text => ({ address: { [name]: text } }),
        `/address/${name}`,
      ],
    ),
    [10, postcode => ({ address: { postcode } }), '/address/postcode'],
  ]
  for (const [maxLength, body, pointer] of limits) {
    const data = await updateCustomer(api, id, body('😀'.repeat(maxLength)))
    assert.ok(JSON.stringify(data).includes('😀'.repeat(maxLength)), pointer)
    assertRejected(api, await put(api, `/customers/${id}`, body('😀'.repeat(maxLength + 1))), 'invalid_field', pointer)
  }
  const buildEmail = (length: number) =>
    `${'a'.repeat(60)}@${`${'b'.repeat(59)}.`.repeat(4)}`.slice(0, length - 4).concat('.com')
  assert.equal(buildEmail(250).length, 250)
  await updateCustomer(api, id, { contact: { email: buildEmail(250) } })
  assertRejected(
    api,
    await put(api, `/customers/${id}`, { contact: { email: buildEmail(251) } }),
    'invalid_field',
    '/contact/email',
  )
  const blank = { firstname: ' ', surname: '  ' }
  assertRejected(api, await put(api, `/customers/${id}`, blank), 'invalid_field', '/firstname', '/surname')
})

test('a date of birth must be between 1900 and today', async () => {
  const { id } = await createCustomer(api)
  const today = Temporal.Now.plainDateISO('Australia/Melbourne')
  for (const day of ['1910-08-13', '1900-01-01', '2000-02-29', today.subtract({ days: 1 }).toString()])
    assert.equal((await updateCustomer(api, id, { dateOfBirth: day })).dateOfBirth, day)
  const impossible = ['2023-02-30', '1900-02-29', '0001-01-01', '1899-12-31', '0000-01-01', '13/08/1910', '1910-8-13']
  for (const day of [...impossible, '1910-08-13T00:00:00', today.add({ days: 2 }).toString(), '9999-12-31']) {
    assertRejected(api, await put(api, `/customers/${id}`, { dateOfBirth: day }), 'invalid_field', '/dateOfBirth')
    assertRejected(
      api,
      await post(api, '/customers', buildCustomer({ dateOfBirth: day })),
      'invalid_field',
      '/dateOfBirth',
    )
  }
})

test("a birth date of tomorrow depends on the service's time zone", async () => {
  const east = await api.createService({ timeZone: 'Pacific/Kiritimati' })
  const west = await api.createService({ timeZone: 'Pacific/Niue' })
  // Their clocks are 25 hours apart: it is never the same day.
  const dateOfBirth = Temporal.Now.plainDateISO('Pacific/Kiritimati').toString()
  assert.equal((await createCustomer(east, buildCustomer({ dateOfBirth }))).dateOfBirth, dateOfBirth)
  assertRejected(api, await post(west, '/customers', buildCustomer({ dateOfBirth })), 'invalid_field', '/dateOfBirth')
})

test('a telephone number contains digits and separators only', async () => {
  const { id } = await createCustomer(api)
  for (const number of ['112', '+44 7700 900123', '(03) 9123-4567', '03.9123/4567', '1'.repeat(20)]) {
    const { contact } = await updateCustomer(api, id, {
      contact: { phones: { home: number, mobile: number, work: number } },
    })
    assert.deepEqual(contact.phones, { home: number, mobile: number, work: number })
  }
  const invalidNumbers = [
    '12',
    '---',
    'none',
    '0400 CALL ME',
    '1'.repeat(21),
    '1'.repeat(40),
    `112${' '.repeat(48)}`,
    '٠١٢٣٤',
    '1234#5',
  ]
  for (const number of invalidNumbers) {
    const phones = { home: number, mobile: number, work: number }
    const pointers = ['/contact/phones/home', '/contact/phones/mobile', '/contact/phones/work']
    assertRejected(api, await put(api, `/customers/${id}`, { contact: { phones } }), 'invalid_field', ...pointers)
    assertRejected(api, await post(api, '/customers', buildCustomer({ mobile: number })), 'invalid_field', '/mobile')
  }
})

test('two different mobile numbers in one request are rejected in both fields', async () => {
  const { id } = await createCustomer(api, buildCustomer({ mobile: '0400 000 000' }))
  const bothPointers = ['/mobile', '/contact/phones/mobile']
  const differentNumbers = { mobile: '0400 123 456', contact: { phones: { mobile: '0400 123 457' } } }
  assertRejected(api, await put(api, `/customers/${id}`, differentNumbers), 'invalid_field', ...bothPointers)
  assertRejected(
    api,
    await put(api, `/customers/${id}`, { ...differentNumbers, mobile: null }),
    'invalid_field',
    ...bothPointers,
  )
  const cleared = { mobile: '0400 123 456', contact: { phones: null } }
  assertRejected(api, await put(api, `/customers/${id}`, cleared), 'invalid_field', '/mobile', '/contact/phones')
  const body = buildCustomer()
  const fresh = { ...body, mobile: '111', contact: { ...body.contact, phones: { mobile: '112' } } }
  assertRejected(api, await post(api, '/customers', fresh), 'invalid_field', ...bothPointers)
  assert.equal((await api.get(`/customers/${id}`)).json.data.contact.phones.mobile, '0400 000 000')
  await updateCustomer(api, id, { mobile: null, contact: { phones: null } })
})

test('an email address must be deliverable without quotes', async () => {
  const { id } = await createCustomer(api)
  const local = 'a'.repeat(64)
  const valid = [
    "o'neill+news@example.com",
    'a.b@x.co',
    'jörg@müller.de',
    'δοκιμή@παράδειγμα.ελ',
    `${local}@example.com`,
  ]
  for (const email of [...valid, '用户@例子.广告', 'x!#$%&*/=?^_`{|}~-@example.com']) {
    assert.equal((await updateCustomer(api, id, { contact: { email } })).contact.email, email)
    const response = await api.get(`/customers?email=${encodeURIComponent(email)}`)
    assert.deepEqual(
      response.json.data.map((record: { id: string }) => record.id),
      [id],
    )
  }
  const malformed = [
    '',
    'x',
    '@example.com',
    'a@',
    'a@b',
    'a b@example.com',
    'a@@example.com',
    'a@b@example.com',
    '"a b"@example.com',
  ]
  const invalidParts = [
    '.a@example.com',
    'a.@example.com',
    'a..b@example.com',
    `${local}a@example.com`,
    'a@10.0.0.1',
    'a@[10.0.0.1]',
  ]
  const injections = [
    'a@example..com',
    'a@-example.com',
    'a@example.com\r\nBcc: b@example.com',
    'A <a@example.com>',
    'a@example.com,b@example.com',
  ]
  for (const email of [
    ...malformed,
    ...invalidParts,
    ...injections,
    'a@exa\u0000mple.com',
    'a\ud800@example.com',
    ' a@example.com',
  ]) {
    assertRejected(api, await put(api, `/customers/${id}`, { contact: { email } }), 'invalid_field', '/contact/email')
    assertRejected(
      api,
      await post(api, '/customers', buildCustomer({ contact: { email } })),
      'invalid_field',
      '/contact/email',
    )
  }
})
