import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ErrorCode } from '../../../src/errors/api-error.ts'
import { assertCreatesNoCustomer, buildCustomer } from '../../support/customer-bodies.ts'
import { assertProblem } from '../../support/problem.ts'
import { startTestApi, type TestResponse } from '../../support/service.ts'
import { post } from '../../support/write.ts'

const api = await startTestApi({ settings: { writesPerMinute: 'off' } })
after(() => api.stop())

const assertRejected = (response: TestResponse, code: ErrorCode) =>
  assertProblem(response, code, api.baseUrl, '/customers')

const invalidBodies: [label: string, body: string | Buffer][] = [
  ['nothing', ''],
  ['spaces', ' \r\n\t '],
  ['half an object', '{"firstname":"Ann"'],
  ['half a string', '{"firstname":"Ann'],
  ['half an escape', '{"firstname":"\\u00'],
  ['a trailing comma', '{"firstname":"Ann",}'],
  ['a trailing comma in a list', '[1,]'],
  ['a leading comma', '{,"firstname":"Ann"}'],
  ['two commas', '{"firstname":"Ann",,"surname":"Lee"}'],
  ['no comma', '{"firstname":"Ann" "surname":"Lee"}'],
  ['single quotes', "{'firstname':'Ann'}"],
  ['no quotes', '{firstname:"Ann"}'],
  ['a comment', '{"firstname":"Ann"/* she */}'],
  ['a line comment', '{"firstname":"Ann"} // she'],
  ['NaN', '{"firstname":NaN}'],
  ['Infinity', '{"firstname":Infinity}'],
  ['undefined', '{"firstname":undefined}'],
  ['True', '{"privacy":True}'],
  ['a leading zero', '{"firstname":01}'],
  ['a leading plus', '{"firstname":+1}'],
  ['a hexadecimal number', '{"firstname":0x1}'],
  ['a point without digits', '{"firstname":1.}'],
  ['a point first', '{"firstname":.5}'],
  ['an exponent without digits', '{"firstname":1e}'],
  ['a lone minus', '{"firstname":-}'],
  ['a line break in a string', '{"firstname":"A\nnn"}'],
  ['a tab in a string', '{"firstname":"A\tnn"}'],
  ['NUL in a string', '{"firstname":"A\0nn"}'],
  ['an unknown escape', '{"firstname":"\\x41"}'],
  ['two values', '{"firstname":"Ann"}{"firstname":"Ann"}'],
  ['a value and more', '{"firstname":"Ann"}]'],
  ['a wrong bracket', '{"firstname":"Ann"]'],
  ['a number as a name', '{1:"Ann"}'],
  ['no value', '{"firstname":}'],
  ['no name', '{:"Ann"}'],
  ['a no-break space', '{\u00a0"firstname":"Ann"}'],
  ['XML', '<firstname>Ann</firstname>'],
  ['a form', 'firstname=Ann'],
  ['invalid UTF-8', Buffer.from('{"firstname":"\xff\xfe"}', 'latin1')],
  ['Latin-1', Buffer.from('{"firstname":"Andr\xe9"}', 'latin1')],
  ['an overlong slash', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
  ['half a surrogate pair as bytes', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['UTF-16', Buffer.from('\ufeff{"firstname":"Ann"}', 'utf16le')],
  ['a name twice', '{"firstname":"Ann","surname":"Lee","firstname":"Bea"}'],
  ['a name twice with the same value', '{"privacy":true,"privacy":true}'],
  ['a name twice within', '{"contact":{"email":"a@example.com","phones":{},"email":"b@example.com"}}'],
  ['a name twice in a list', '[[{"a":1},{"a":1,"b":{"c":1,"c":2}}]]'],
  ['a name twice, once escaped', '{"a":1,"\\u0061":2}'],
  ['a name twice, escaped in two ways', '{"\\u00e9":1,"\\u00E9":2}'],
  ['an escaped quote in a name twice', '{"\\"":1,"\\u0022":2}'],
  ['the empty name twice', '{"":1,"":2}'],
  ['__proto__ twice', '{"__proto__":1,"__proto__":2}'],
  ['33 levels', `${'['.repeat(33)}${']'.repeat(33)}`],
  ['33 levels of objects', `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`],
  ['100,000 levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ['100,000 open brackets', '['.repeat(100_000)],
  ['a number above the maximum', '{"a":1e400}'],
  ['a number below the minimum', '{"a":-1e400}'],
  ['a number that would be rounded', '{"a":9007199254740993}'],
  ['a number beyond the exact integers', '{"a":-9007199254740992}'],
  ['minus zero', '{"a":-0}'],
  ['minus zero with decimals', '{"a":-0.00}'],
  ['a fraction that would be rounded away', '{"a":1.00000000000000000001}'],
  ['a fraction that would be rounded', '{"a":0.30000000000000001}'],
  ['an exponent', '{"a":1E2}'],
  ['a small exponent', '[[1e-7]]'],
]

for (const [label, body] of invalidBodies)
  test(`${label} is not accepted as JSON`, () =>
    assertCreatesNoCustomer(api, async () => {
      const startedAt = performance.now()
      assertRejected(await post(api, '/customers', body), 'malformed_json')
      assert.ok(performance.now() - startedAt < 2_000)
    }))

test('unusual but valid JSON is accepted', async () => {
  const { firstname, surname, contact } = buildCustomer()
  const email = JSON.stringify(contact.email)
  const bodies = [
    `\ufeff${JSON.stringify(buildCustomer())}`,
    ` \t\r\n${JSON.stringify(buildCustomer(), null, 4)}\r\n`,
    `{"\\u0066irstname":"\\u0041nn","surname":"${surname}","contact":{"email":${email}}}`,
    JSON.stringify({ ...buildCustomer(), firstname: `${firstname} "}{][,:\\` }),
    JSON.stringify({ ...buildCustomer(), firstname: '\u{1f600} \u0421\u043e\u043d\u044f' }),
    `{"firstname":"\\ud83d\\ude00","surname":"Lee","contact":{"email":"${buildCustomer().contact.email}"}}`,
  ]
  for (const body of bodies) {
    const { status, text } = await post(api, '/customers', body)
    assert.equal(status, 201, text)
  }
})

test('32 levels are parsed and rejected by schema', async () => {
  for (const body of [`${'['.repeat(32)}${']'.repeat(32)}`, `${'{"a":'.repeat(32)}1${'}'.repeat(32)}`])
    assertRejected(await post(api, '/customers', body), 'invalid_body')
})

test('thousands of names and values are validated quickly', async () => {
  for (const body of [
    `{${Array.from({ length: 20_000 }, (_, i) => `"n${i}":1`).join()}}`,
    `[${'1,'.repeat(120_000)}1]`,
    JSON.stringify({ ...buildCustomer(), contact: Array.from({ length: 100_000 }, () => 1) }),
  ]) {
    const startedAt = performance.now()
    const response = await post(api, '/customers', body)
    assertRejected(response, 'invalid_body')
    assert.ok(performance.now() - startedAt < 2_000)
    assert.ok(response.json.errors.length <= 100)
    assert.ok(response.text.length < 100_000, `${response.text.length} characters of errors`)
  }
})

/** Returns the pointers of a response's field errors, with their codes. */
const listErrors = ({ json }: TestResponse) =>
  json.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${code} ${pointer}`)

test('a body that is not an object is rejected by schema', async () => {
  for (const body of ['null', '5', '1.5', 'true', '"text"', '[]', '[{}]']) {
    const response = await post(api, '/customers', body)
    assertRejected(response, 'invalid_body')
    assert.deepEqual(listErrors(response), ['invalid_body '])
  }
})

test('a value is never coerced and a field is never dropped', () =>
  assertCreatesNoCustomer(api, async () => {
    const cases: [field: string, value: string][] = [
      ['/firstname', 'null'],
      ['/firstname', '5'],
      ['/firstname', '["Ann"]'],
      ['/firstname', '{}'],
      ['/privacy', '"true"'],
      ['/privacy', '1'],
      ['/contact', '[]'],
      ['/contact', '"a@example.com"'],
      ['/__proto__', '{"firstname":"Eve"}'],
      ['/constructor', '{"prototype":{}}'],
      ['/prototype', '1'],
      ['/toString', '1'],
      ['/hasOwnProperty', '1'],
      ['/id', '"1"'],
      ['/tenantId', '"1"'],
      ['/role', '"admin"'],
      ['/updateTimeStamp', '"2024-05-10 09:30:00"'],
      ['/', '1'],
    ]
    for (const [pointer, value] of cases) {
      const { firstname: _, contact: __, ...customer } = buildCustomer()
      const own = {
        firstname: '"Ann"',
        contact: '{"email":"odd@example.com"}',
        surname: JSON.stringify(customer.surname),
      }
      const fields = Object.entries({ ...own, [`x${pointer}`]: value })
        .filter(([name]) => name !== pointer.slice(1))
        .map(([name, text]) => `${JSON.stringify(name.replace('x/', ''))}:${text}`)
      const response = await post(api, '/customers', `{${fields.join()}}`)
      assertRejected(response, 'invalid_body')
      assert.deepEqual(listErrors(response), [`invalid_body ${pointer}`], value)
    }
    assert.equal(({} as { firstname?: string }).firstname, undefined)
  }))

test('an unreadable or unstorable string is rejected with its pointer', () =>
  assertCreatesNoCustomer(api, async () => {
    for (const text of [
      '\\u0000',
      'A\\u0000nn',
      '\\ud800',
      'A\\udc00nn',
      '\\ud800\\u0041',
      '\\u0007',
      '\\u202eAnn',
      '\\u0085',
    ]) {
      const body = `{"firstname":"${text}","surname":"Lee","contact":{"email":"nul@example.com"}}`
      const response = await post(api, '/customers', body)
      assertRejected(response, 'invalid_field')
      assert.deepEqual(listErrors(response), ['invalid_field /firstname'], text)
    }
    const response = await post(api, '/customers', { ...buildCustomer(), 'na\u0000me\ud800': 1 })
    assertRejected(response, 'invalid_body')
    assert.match(response.json.detail, /^`na\?me\?` is not a known field/)
  }))

test('all errors are reported at once, schema errors first', () =>
  assertCreatesNoCustomer(api, async () => {
    const response = await post(api, '/customers', {
      firstname: 'x'.repeat(51),
      contact: { email: 'no e-mail', phones: { mobile: 5 }, fax: '1' },
      dateOfBirth: '2023-02-30',
      privacy: 'false',
      colour: 'red',
      'a/b~c': 1,
    })
    assertRejected(response, 'invalid_body')
    assert.deepEqual(listErrors(response).sort(), [
      'invalid_body /a~1b~0c',
      'invalid_body /colour',
      'invalid_body /contact/fax',
      'invalid_body /contact/phones/mobile',
      'invalid_body /privacy',
      'invalid_body /surname',
      'invalid_field /contact/email',
      'invalid_field /dateOfBirth',
      'invalid_field /firstname',
    ])
    const codes = response.json.errors.map(({ code }: { code: string }) => code)
    assert.deepEqual(codes, codes.toSorted(), 'invalid_body first')
    const rules = await post(api, '/customers', { ...buildCustomer(), firstname: '', dateOfBirth: '2023-02-30' })
    assertRejected(rules, 'invalid_field')
    assert.deepEqual(listErrors(rules), ['invalid_field /firstname', 'invalid_field /dateOfBirth'])
  }))

test('an error in a list entry names the list', async () => {
  const { json } = await post(api, '/webhooks', { url: 'https://shop.example', kinds: ['voucher', 'store', 5] })
  assert.deepEqual(
    json.errors.map(({ pointer, detail }: { pointer: string; detail: string }) => [pointer, detail.slice(0, 36)]),
    [
      ['/kinds/2', 'An entry of `kinds` must be a string'],
      ['/kinds/0', 'An entry of `kinds` must be one of `'],
    ],
  )
})
