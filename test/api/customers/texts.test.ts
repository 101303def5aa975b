import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import {
  assertRejected,
  buildCustomer,
  createCustomer,
  startCustomerShop,
  updateCustomer,
} from '../../support/customer-bodies.ts'
import { getErrorDetails } from '../../support/problem.ts'
import { post, put } from '../../support/write.ts'

const api = await startCustomerShop()
after(() => api.stop())

/** Returns a change that sets every free-text field to this string. */
const toAllFields = (text: string) => ({
  title: text,
  firstname: text,
  surname: text,
  address: { addressLine1: text, addressLine2: text, city: text, state: text, country: text },
})

const pointers = [
  ...['/title', '/firstname', '/surname'],
  ...['addressLine1', 'addressLine2', 'city', 'state', 'country'].map(name => `/address/${name}`),
]

/** Names of people and places in many scripts. */
const names = [
  'محمد عبد الرحمن الهاشمي',
  'فاطمة الزهراء',
  'שרה כהן־לוי',
  'יִצְחָק',
  'สมชาย ใจดี',
  'นภัสวรรณ ศิริวัฒน์',
  'Nguyễn Thị Minh Khai',
  'Björk Guðmundsdóttir',
  'Łukasz Żółć',
  'İbrahim Işık',
  'Ιωάννης Παπαδόπουλος',
  'Ольга Щукина',
  '山田 太郎',
  '𠮷野家',
  '김하늘',
  'प्रियंका शर्मा',
  'தமிழ்ச்செல்வி',
  'Zoë Krüger-Çelik',
  'D’Angelo',
  'Null',
  'Undefined',
  'NaN',
  'True',
]

/** Strings that have broken other software. */
const unusualStrings = [
  '👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽',
  '🇦🇺🇳🇿',
  'e\u0301 and \u00e9',
  '\u212b \u00c5 A\u030a',
  `Z${'\u0351'.repeat(40)}`,
  'ﬃ ǆ ß ẞ',
  'אבג abc \u200f123\u200e',
  'zero\u200bwidth\u200djoiner\ufeff',
  '\u00a0non breaking\u00a0',
  ' blanks around ',
  "Robert'); drop table customer; --",
  "' or 1=1 --",
  '$\u007b7*7} {{7*7}} #{7*7} <%= 7*7 %>',
  '$(touch /tmp/x) `id` | & ;',
  '*)(uid=*))(|(uid=*',
  "' or '1'='1' or ''='",
  ']]><!ENTITY x "y">&x;&amp;',
  '<script>alert(1)</script>',
  '=cmd|/c calc!A1',
  '+1-1@SUM(1)',
  '\\ \\n \\u0000 \\x00 %00 %s %n',
  '../../etc/passwd',
  '{"a":1}',
  '"quoted" \\"twice\\"',
  '-0',
  '1e400',
  '1;2,3\u00a04',
  'constructor',
  '__proto__',
  '\u{10ffff}\u{e000}\ufffd',
  '\uffff',
]

test('names of people and places are stored byte for byte', async () => {
  const { id } = await createCustomer(api)
  for (const text of [...names, ...unusualStrings]) {
    const change = toAllFields(text)
    assert.partialDeepStrictEqual(await updateCustomer(api, id, change), change, text)
    const read = await api.get(`/customers/${id}`)
    assert.partialDeepStrictEqual(read.json.data, change, text)
    const { data } = (await api.get(`/customers?email=${encodeURIComponent(read.json.data.contact.email)}`)).json
    assert.partialDeepStrictEqual(data[0], change, text)
    // A body with Unicode escapes stores the same string.
    const escaped = JSON.stringify(change).replace(
      /[\u007f-\uffff]/g,
      unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
    assert.deepEqual((await put(api, `/customers/${id}`, escaped)).json.data, read.json.data, text)
  }
  assert.ok(await createCustomer(api), 'the customer table must still exist')
})

test('composed and decomposed characters stay distinct', async () => {
  const [composed, decomposed] = ['Zo\u00eb', 'Zoe\u0308']
  const { id } = await createCustomer(api, buildCustomer({ firstname: composed }))
  const { firstname } = await updateCustomer(api, id, { firstname: decomposed })
  assert.deepEqual(Buffer.from(firstname), Buffer.from(decomposed))
  assert.deepEqual(
    Buffer.from((await updateCustomer(api, id, { firstname: composed })).firstname),
    Buffer.from(composed),
  )
})

test('control characters, lone surrogates and bidi marks are rejected in every field', async () => {
  const { id, ...before } = await createCustomer(api)
  const invalidStrings = [
    'a\u0000b',
    'a\r\nX-Injected: 1',
    'a\nb',
    'a\tb',
    '\u001b[31m',
    '\u007f',
    '\u0085',
    'a\u2028b',
    'a\u202eb',
    '\u2066a',
  ]
  for (const text of [...invalidStrings, '\ud800', 'a\udfff', '\udc00\ud800']) {
    const change = { ...toAllFields(text), address: { ...toAllFields(text).address, postcode: text } }
    assertRejected(api, await put(api, `/customers/${id}`, change), 'invalid_field', ...pointers, '/address/postcode')
    const response = await post(api, '/customers', buildCustomer(change))
    assertRejected(
      api,
      response,
      'invalid_field',
      '/firstname',
      '/surname',
      '/title',
      ...pointers.slice(3),
      '/address/postcode',
    )
  }
  assert.deepEqual((await api.get(`/customers/${id}`)).json.data, { id, ...before })
})

test('the error names the forbidden character and its place', async () => {
  const { id } = await createCustomer(api)
  const getDetails = async (change: object) => getErrorDetails(await put(api, `/customers/${id}`, change))
  for (const [text, character] of [
    ['Ann\nMarie', 'a line break (character 4)'],
    ['\r\n', 'a line break (character 1)'],
    ['👩‍👩‍👧\u2028', 'a line break (character 6)'],
    ['Ann\tMarie', 'a tab (character 4)'],
    ['é\u0007', 'the control character U+0007 (character 2)'],
    ['a\u202eb', 'the character U+202E, which changes the direction of writing (character 2)'],
    ['ab\ud800', 'an incomplete character (a lone surrogate) (character 3)'],
  ] as const)
    assert.deepEqual(await getDetails({ firstname: text }), [`\`firstname\` can't contain ${character}.`], text)
  const address = { addressLine1: '1 Main St\nLevel 2', postcode: '30\t00' }
  assertRejected(
    api,
    await put(api, `/customers/${id}`, { address }),
    'invalid_field',
    '/address/addressLine1',
    '/address/postcode',
  )
  assert.deepEqual(await getDetails({ address }), [
    "`addressLine1` can't contain a line break (character 10).",
    "`postcode` can't contain a tab (character 3).",
  ] as const)
  for (const [mobile, character] of [
    ['0400 123x456', 'the character `x` (character 9)'],
    ['+61 400\u200b123456', 'the character U+200B, which is invisible (character 8)'],
    ['٠٤٠٠', 'the character `٠` (character 1)'],
  ] as const)
    assert.deepEqual(await getDetails({ mobile }), [`\`mobile\` can't contain ${character}.`], mobile)
  assert.match(
    String(await getDetails({ mobile: '12' })),
    /^`mobile` must be a telephone number of 3 to 20 digits; it has 2/,
  )
  for (const [email, character] of [
    ['ann shop@example.com', 'a space (character 4)'],
    ['ann@example.com,bob@example.com', 'the character `,` (character 16)'],
    ['ann\u00a0@example.com', 'the whitespace character U+00A0 (character 4)'],
    ['an\u200bn@example.com', 'the character U+200B, which is invisible (character 3)'],
    ['ann\ufe0f@example.com', 'the character U+FE0F, which is invisible (character 4)'],
    ['"ann\u3164"@example.com', 'the character U+3164, which is invisible (character 5)'],
    ['ａnn@example.com', 'the character `ａ` (character 1)'],
    ['ann@ex\ufb01.example', 'the character `\ufb01` (character 7)'],
  ] as const)
    assert.deepEqual(await getDetails({ contact: { email } }), [`\`email\` can't contain ${character}.`], email)
})

test('names and addresses have visible characters, post codes no invisible ones', async () => {
  const { id } = await createCustomer(api)
  for (const invisible of ['\u200b', '\u00ad\u00a0', '\u3164', '\u2800', '\u{e0041}'])
    assertRejected(api, await put(api, `/customers/${id}`, { surname: invisible }), 'invalid_field', '/surname')
  const response = await put(api, `/customers/${id}`, { address: { postcode: '30\u200b00' } })
  assertRejected(api, response, 'invalid_field', '/address/postcode')
  for (const surname of ['می\u200cخواهم', '👩\u200d🚀', '\u200eLee'])
    assert.equal((await updateCustomer(api, id, { surname })).surname, surname)
})

test('typographic spaces and hyphens in telephone numbers and post codes become plain', async () => {
  const { id } = await createCustomer(api)
  for (const space of ['\u00a0', '\u2009', '\u202f', '\u2007', '\u3000', '\ufeff'])
    for (const hyphen of ['\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2212', '\uff0d']) {
      const number = `+61${space}400${hyphen}123${hyphen}456`
      const data = await updateCustomer(api, id, {
        contact: { phones: { home: number, mobile: number, work: number } },
        address: { postcode: `SW1${space}${hyphen}1A` },
      })
      const plain = '+61 400-123-456'
      assert.deepEqual(data.contact.phones, { home: plain, mobile: plain, work: plain })
      assert.equal(data.address.postcode, 'SW1 -1A')
    }
  assert.equal(
    (await updateCustomer(api, id, { mobile: '0400\u00a0123\u2011456' })).contact.phones.mobile,
    '0400 123-456',
  )
})

test('a body with invalid UTF-8 or invalid JSON creates no customer', async () => {
  const body = JSON.stringify(buildCustomer({ title: 'XX' }))
  const broken = Buffer.from(body)
  broken.set([0xc3, 0x28], broken.indexOf('XX'))
  for (const bytes of [
    broken,
    body.slice(0, -1),
    `${body}}`,
    body.replace('"title"', '"firstname"'),
    '',
    '[]'.repeat(2),
    'null x',
  ])
    assertRejected(api, await post(api, '/customers', bytes), 'malformed_json')
  for (const value of ['null', '[]', '"x"', '5', 'true'])
    assertRejected(api, await post(api, '/customers', value), 'invalid_body', '')
  // A byte order mark is accepted if it is encoded in UTF-8.
  assert.equal((await post(api, '/customers', `\ufeff${body}`)).status, 201)
})

test('random strings in every field are stored unchanged or rejected', async () => {
  const { id } = await createCustomer(api)
  const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ unit: 'grapheme', maxLength: 60 }))
  await fc.assert(
    fc.asyncProperty(text, async value => {
      const response = await put(api, `/customers/${id}`, {
        ...toAllFields(value),
        contact: { phones: { home: value } },
      })
      assert.ok(response.status === 200 || response.status === 422, response.text)
      const change = toAllFields(value)
      const again = await put(api, `/customers/${id}`, change)
      assert.ok(again.status === 200 || again.status === 422, again.text)
      if (again.status === 200) assert.partialDeepStrictEqual((await api.get(`/customers/${id}`)).json.data, change)
    }),
    { numRuns: 120 },
  )
})
