import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Writable } from 'node:stream'
import { after, before, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { sql } from '../../../src/db.ts'
import type { ErrorCode } from '../../../src/errors.ts'
import { isProblem } from '../../support/problem.ts'
import { credentials, speak, tlsTo, untilClosed } from '../../support/servers.ts'
import { type Answer, startTestService, type TestService } from '../../support/service.ts'
import { post, put } from '../../support/write.ts'

let logged = ''
const log = pino(
  { level: 'error' },
  new Writable({
    write(chunk, _, done) {
      logged += chunk
      done()
    },
  }),
)

let service: TestService
/** Sockets that send their body too slowly; begun first, judged last. */
let slow: { socket: TLSSocket; ended: Promise<string>; begun: number }[]

before(async () => {
  service = await startTestService({ settings: { writesPerMinute: 'off' }, log })
  slow = await Promise.all(Array.from({ length: 10 }, sendSlowly))
})
after(async () => {
  for (const { socket } of slow ?? []) socket.destroy()
  await service.stop()
})

let made = 0
const customer = () => ({ firstname: 'Ann', surname: 'Lee', contact: { email: `ann${++made}@example.com` } })

/** How many customers there are: what was refused has made none. */
const count = async () =>
  (await service.db.row<{ count: number }>(sql`select count(*)::integer as count from customer`))?.count

const refused = (answer: Answer, code: ErrorCode) => isProblem(answer, code, service.baseUrl, '/customers')

async function makesNone(work: () => Promise<void>) {
  const before = await count()
  await work()
  assert.equal(await count(), before)
}

/** The head of a request, with what it announces. */
const head = (...lines: string[]) => {
  const { authorization, 'x-service-name': name } = credentials(service)
  const own = ['Host: localhost', `Authorization: ${authorization}`, `X-Service-Name: ${name}`]
  return `POST /customers HTTP/1.1\r\n${[...own, ...lines].join('\r\n')}\r\n\r\n`
}

async function sendSlowly() {
  const begun = performance.now()
  const socket = await tlsTo(service)
  const ended = untilClosed(socket)
  socket.write(head('Content-Type: application/json', 'Content-Length: 1000'))
  const drip = setInterval(() => socket.writable && socket.write(' '), 500)
  return { socket, ended: ended.finally(() => clearInterval(drip)), begun }
}

test('only plain JSON is taken, whatever the body', () =>
  makesNone(async () => {
    const types = [
      undefined,
      'text/xml',
      'application/xml',
      'text/plain',
      'text/json',
      'application/jsonp',
      'application/json-patch+json',
      'application/problem+json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json; charset=utf-7',
      'application/json; charset=utf-16',
      'application/json; charset="iso-8859-1"',
      'application/json; charset=',
      'application/json; charset=utf-7; charset=utf-8',
      'application/json; charset=utf-8; charset=utf-7',
      'application/json, application/json',
      'nonsense',
    ]
    for (const type of types)
      for (const body of [customer(), '{"bad', ''])
        refused(await post(service, '/customers', body, { 'content-type': type }), 'unsupported_media_type')
    const headers = { 'content-type': ['application/json', 'text/plain'] }
    refused(
      await service.request('/customers', { method: 'POST', headers, body: JSON.stringify(customer()) }),
      'duplicate_header',
    )
  }))

test('a compressed body is refused, and not unpacked', () =>
  makesNone(async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, ' '))
    assert.ok(bomb.length < 100_000)
    for (const [encoding, body] of [
      ['gzip', gzipSync(JSON.stringify(customer()))],
      ['gzip', bomb],
      ['identity, gzip', gzipSync(JSON.stringify(customer()))],
      ['br', JSON.stringify(customer())],
      ['deflate', JSON.stringify(customer())],
    ] as const)
      refused(await post(service, '/customers', body, { 'content-encoding': encoding }), 'unsupported_media_type')
    for (const coding of ['gzip, chunked', 'deflate, chunked'])
      refused(await post(service, '/customers', customer(), { 'transfer-encoding': coding }), 'unsupported_media_type')
  }))

test('the content type is taken in any spelling', async () => {
  for (const headers of [
    { 'content-type': 'application/json' },
    { 'content-type': 'Application/JSON;Charset="UTF-8"' },
    { 'content-type': 'application/json ; charset=utf-8' },
    { 'content-encoding': 'identity' },
  ])
    assert.equal((await post(service, '/customers', customer(), headers)).status, 201, JSON.stringify(headers))
})

const largest = 256 * 1024
const padded = (size: number) => JSON.stringify(customer()).padEnd(size)

test('a body of 256 KiB is taken, one byte more is not, with and without a length', async () => {
  assert.equal((await post(service, '/customers', padded(largest))).status, 201)
  assert.equal((await post(service, '/customers', padded(largest), chunked)).status, 201)
  await makesNone(async () => {
    for (const size of [largest + 1, 2_000_000])
      for (const headers of [{}, chunked]) {
        const answer = await post(service, '/customers', padded(size), headers)
        refused(answer, 'body_too_large')
      }
  })
})

const chunked = { 'transfer-encoding': 'chunked' }

test('a body that is announced too long, or never ends, is refused early and its connection closed', async () => {
  const announced = await tlsTo(service)
  const told = untilClosed(announced)
  announced.write(`${head('Content-Type: application/json', 'Content-Length: 100000000')}{`)
  const endless = await tlsTo(service)
  const heard = untilClosed(endless)
  let sent = 0
  endless.write(head('Content-Type: application/json', 'Transfer-Encoding: chunked'))
  const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`
  while (endless.writable && sent < 100_000_000) {
    sent += 65_536
    if (!endless.write(chunk)) await Promise.race([once(endless, 'drain'), once(endless, 'close')]).catch(() => {})
  }
  for (const answer of await Promise.all([told, heard]))
    assert.match(answer, /^HTTP\/1.1 413 [\s\S]*"code":"body_too_large"/)
  assert.ok(sent < 20_000_000, `${sent} bytes were taken`)
})

test('a body shorter than its length makes nothing', () =>
  makesNone(async () => {
    const socket = await tlsTo(service)
    const body = JSON.stringify(customer())
    socket.write(head('Content-Type: application/json', `Content-Length: ${body.length + 1}`) + body)
    const ended = untilClosed(socket)
    socket.end()
    assert.doesNotMatch(await ended, /HTTP\/1.1 2/)
  }))

test('a body that breaks off is no fault of ours, and not logged as one', () =>
  makesNone(async () => {
    for (const rest of ['-1\r\n', '9\r\n{"first', '']) {
      const socket = await tlsTo(service)
      const closed = once(socket, 'close')
      socket.write(`${head('Content-Type: application/json', 'Transfer-Encoding: chunked', 'Expect: 100-continue')}`)
      await once(socket, 'data')
      socket.write(rest, () => socket.destroy())
      await closed
      // By the time that a later connection is answered, the end of this one has been seen.
      await speak(service, 'GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    }
    assert.deepEqual(
      logged.split('\n').filter(line => line.includes('"level":50')),
      [],
    )
  }))

const bad: [what: string, body: string | Buffer][] = [
  ['nothing', ''],
  ['spaces', ' \r\n\t '],
  ['half an object', '{"firstname":"Ann"'],
  ['half a text', '{"firstname":"Ann'],
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
  ['a line break in a text', '{"firstname":"A\nnn"}'],
  ['a tab in a text', '{"firstname":"A\tnn"}'],
  ['NUL in a text', '{"firstname":"A\0nn"}'],
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
  ['bytes that are no UTF-8', Buffer.from('{"firstname":"\xff\xfe"}', 'latin1')],
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
  ['a number beyond all', '{"a":1e400}'],
  ['a number below all', '{"a":-1e400}'],
  ['a number that would be rounded', '{"a":9007199254740993}'],
  ['a number beyond the exact ones', '{"a":-9007199254740992}'],
  ['minus zero', '{"a":-0}'],
  ['minus zero with decimals', '{"a":-0.00}'],
  ['a fraction that would be rounded away', '{"a":1.00000000000000000001}'],
  ['a fraction that would be rounded', '{"a":0.30000000000000001}'],
  ['an exponent', '{"a":1E2}'],
  ['a small exponent', '[[1e-7]]'],
]

for (const [what, body] of bad)
  test(`${what} is no JSON that can be taken`, () =>
    makesNone(async () => {
      const begun = performance.now()
      refused(await post(service, '/customers', body), 'malformed_json')
      assert.ok(performance.now() - begun < 2_000)
    }))

test('what looks odd and is JSON is taken', async () => {
  const { firstname, surname, contact } = customer()
  const email = JSON.stringify(contact.email)
  const bodies = [
    `\ufeff${JSON.stringify(customer())}`,
    ` \t\r\n${JSON.stringify(customer(), null, 4)}\r\n`,
    `{"\\u0066irstname":"\\u0041nn","surname":"${surname}","contact":{"email":${email}}}`,
    JSON.stringify({ ...customer(), firstname: `${firstname} "}{][,:\\` }),
    JSON.stringify({ ...customer(), firstname: '\u{1f600} \u0421\u043e\u043d\u044f' }),
    `{"firstname":"\\ud83d\\ude00","surname":"Lee","contact":{"email":"${customer().contact.email}"}}`,
  ]
  for (const body of bodies) {
    const { status, text } = await post(service, '/customers', body)
    assert.equal(status, 201, text)
  }
})

test('32 levels are read, and then refused by the shape', async () => {
  for (const body of [`${'['.repeat(32)}${']'.repeat(32)}`, `${'{"a":'.repeat(32)}1${'}'.repeat(32)}`])
    refused(await post(service, '/customers', body), 'invalid_body')
})

test('many names and many values are judged at once', async () => {
  for (const body of [
    `{${Array.from({ length: 20_000 }, (_, i) => `"n${i}":1`).join()}}`,
    `[${'1,'.repeat(120_000)}1]`,
    JSON.stringify({ ...customer(), contact: Array.from({ length: 100_000 }, () => 1) }),
  ]) {
    const begun = performance.now()
    const answer = await post(service, '/customers', body)
    refused(answer, 'invalid_body')
    assert.ok(performance.now() - begun < 2_000)
    assert.ok(answer.json.errors.length <= 100)
    assert.ok(answer.text.length < 100_000, `${answer.text.length} characters of faults`)
  }
})

/** Where the faults of an answer are, with their codes. */
const faultsOf = ({ json }: Answer) =>
  json.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${code} ${pointer}`)

test('a body that is no object is refused by its shape', async () => {
  for (const body of ['null', '5', '1.5', 'true', '"text"', '[]', '[{}]']) {
    const answer = await post(service, '/customers', body)
    refused(answer, 'invalid_body')
    assert.deepEqual(faultsOf(answer), ['invalid_body '])
  }
})

test('nothing is taken for what it looks like, and no field is dropped', () =>
  makesNone(async () => {
    const odd: [field: string, value: string][] = [
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
    for (const [pointer, value] of odd) {
      const { firstname: _, contact: __, ...rest } = customer()
      const own = { firstname: '"Ann"', contact: '{"email":"odd@example.com"}', surname: JSON.stringify(rest.surname) }
      const fields = Object.entries({ ...own, [`x${pointer}`]: value })
        .filter(([name]) => name !== pointer.slice(1))
        .map(([name, text]) => `${JSON.stringify(name.replace('x/', ''))}:${text}`)
      const answer = await post(service, '/customers', `{${fields.join()}}`)
      refused(answer, 'invalid_body')
      assert.deepEqual(faultsOf(answer), [`invalid_body ${pointer}`], value)
    }
    assert.equal(({} as { firstname?: string }).firstname, undefined)
  }))

test('a text that nobody can read or store is refused where it stands', () =>
  makesNone(async () => {
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
      const answer = await post(service, '/customers', body)
      refused(answer, 'invalid_field')
      assert.deepEqual(faultsOf(answer), ['invalid_field /firstname'], text)
    }
    const answer = await post(service, '/customers', { ...customer(), 'na\u0000me\ud800': 1 })
    refused(answer, 'invalid_body')
    assert.match(answer.json.detail, /^There is no field `na\?me\?`/)
  }))

test('every fault is told at once, those of the shape before those of the rules', () =>
  makesNone(async () => {
    const answer = await post(service, '/customers', {
      firstname: 'x'.repeat(51),
      contact: { email: 'no e-mail', phones: { mobile: 5 }, fax: '1' },
      dateOfBirth: '2023-02-30',
      privacy: 'false',
      colour: 'red',
      'a/b~c': 1,
    })
    refused(answer, 'invalid_body')
    assert.deepEqual(faultsOf(answer).sort(), [
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
    const codes = answer.json.errors.map(({ code }: { code: string }) => code)
    assert.deepEqual(codes, codes.toSorted(), 'invalid_body first')
    const rules = await post(service, '/customers', { ...customer(), firstname: '', dateOfBirth: '2023-02-30' })
    refused(rules, 'invalid_field')
    assert.deepEqual(faultsOf(rules), ['invalid_field /firstname', 'invalid_field /dateOfBirth'])
  }))

test('a write takes no query, and says so before it looks at the body', () =>
  makesNone(async () => {
    for (const query of ['pin=381940', 'limit=5', 'firstname=Ann&firstname=Bea', '=']) {
      const answer = await post(service, `/customers?${query}`, '{"bad')
      refused(answer, 'invalid_parameter')
      assert.equal(answer.text.includes('381940'), false)
    }
    isProblem(await put(service, '/customers/1?dry=true', {}), 'invalid_parameter', service.baseUrl, '/customers/1')
  }))

/** What comes back for a head alone, while the body that it announces never comes. */
async function answerToHead(request: string) {
  const socket = await tlsTo(service)
  const data = once(socket.setEncoding('utf8'), 'data')
  socket.write(request)
  const [answer] = await data
  socket.destroy()
  return String(answer)
}

test('who may not write, and what is not there, is told before the body comes', async () => {
  const visitor = await service.account('visitor')
  const announced = ['Content-Type: application/json', 'Content-Length: 5000']
  const asVisitor = head(...announced).replace(
    /Authorization: .*/,
    `Authorization: ${credentials(visitor).authorization}`,
  )
  assert.match(await answerToHead(asVisitor), /^HTTP\/1.1 403 [\s\S]*"code":"insufficient_role"/)
  const stranger = head(...announced).replace(/Authorization: .*/, 'Authorization: Basic eDp5')
  assert.match(await answerToHead(stranger), /^HTTP\/1.1 401 /)
  assert.match(await answerToHead(head(...announced).replace('/customers', '/nowhere')), /^HTTP\/1.1 404 /)
  assert.match(await answerToHead(head(...announced).replace('/customers', '/stores')), /^HTTP\/1.1 405 /)
})

test('a body that comes too slowly is let go within 35 s, and has made nothing', () =>
  makesNone(async () => {
    for (const { ended, begun } of slow) {
      const answer = await ended
      assert.match(answer, /^HTTP\/1.1 408 [\s\S]*"code":"request_timeout"/)
      const seconds = (performance.now() - begun) / 1_000
      assert.ok(seconds < 35, `${seconds} s`)
    }
  }))
