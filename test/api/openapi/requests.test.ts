import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { upsertStaff } from '../../../src/store/catalog/staff.ts'
import { compileSchemas, type Node, toPointer } from '../../support/conformance.ts'
import { startTestApi, type TestResponse } from '../../support/service.ts'
import { clearFailures, voucherSettings } from '../../support/voucher-shop.ts'
import { post } from '../../support/write.ts'

const api = await startTestApi({ settings: voucherSettings })
after(() => api.stop())
const document: Node = (await api.sendRaw('/openapi.json')).json
const faultsOf = compileSchemas(document)

/** Resolves a reference to a component of the document. */
const resolved = (node: Node): Node => {
  const [kind, name] = node.$ref?.split('/').slice(-2) ?? []
  return kind ? document.components[kind][name] : node
}

/** Returns a parameter and the pointer to it. */
function findParameter(path: string, method: string, name: string) {
  const { parameters } = document.paths[path][method]
  const index = parameters.findIndex((parameter: Node) => resolved(parameter).name === name)
  const { $ref } = parameters[index]
  const pointer = $ref?.slice(1) ?? toPointer('paths', path, method, 'parameters', index)
  return { parameter: resolved(parameters[index]), pointer }
}

/** True if the document allows the value for a parameter of GET. */
const isDocumented = (path: string, name: string, value: string) =>
  faultsOf(`${findParameter(path, 'get', name).pointer}/schema`, value).length === 0

interface Validators {
  documented(value: string): boolean
  ask(value: string): Promise<TestResponse>
}

/** The document and the service say the same of each value. */
async function agree(values: readonly string[], { documented, ask }: Validators) {
  const seen = new Set<boolean>()
  for (const value of values) {
    const { status } = await ask(value)
    assert.equal(documented(value), ![400, 422].includes(status), JSON.stringify(value))
    seen.add(documented(value))
  }
  assert.equal(seen.size, 2, 'some are accepted and some are rejected')
}

const search = (path: string, parameter: string): Validators => ({
  documented: value => isDocumented(path, parameter, value),
  ask: value => api.get(`${path}?${parameter}=${encodeURIComponent(value)}`),
})

/** Opens no voucher, whatever else of the request is right. */
async function lookUp(body: object, headers: Record<string, string> = {}) {
  await clearFailures(api)
  return post(api, '/vouchers/validate', { number: '1', pin: '1', amount: '1.00', ...body }, headers)
}

test('the document allows exactly the times that the service accepts', () =>
  agree(
    [
      ...['2024-05-10', '2024-05-10 09:30:00', '2024-05-10T09:30', '2024-05-10T09:30:00Z', '2024-05-10t09:30:00z'],
      ...['2024-05-10T09:30:00.123456789+11:00', '2024-02-29', '2024-02-29 00:00:00', '0001-01-02', '9999-12-30'],
      ...['', 'yesterday', '2024-05-10T09', '2024-05-10 09:30:00Z', '2023-02-29', '2024-04-31 00:00:00', '2024-13-01'],
      ...['2024-05-10T24:00:00', '2024-05-10T23:59:60Z', '2024-05-10T09:30:00.1234567890Z', '0000-01-01', '20240510'],
    ],
    search('/customers/search', 'updated_after'),
  ))

test('the document allows exactly the strings that a query accepts', () =>
  agree(
    ['a', 'ä b', 'x'.repeat(250), '\u0085', '', 'x'.repeat(251), 'a\u0007', '\u007f', 'a\nb', '\0'],
    search('/staff', 'code'),
  ))

test('the document allows the ETag of an unchanged record and poll', async () => {
  const pattern = new RegExp(document.components.headers.ETag.schema.pattern, 'u')
  for (const path of ['/settings', '/products?updated_after=2024-01-01T00:00:00Z']) {
    const { headers } = await api.get(path)
    const unchanged = await api.get(path, { 'if-none-match': headers.etag ?? '' })
    assert.equal(unchanged.status, 304)
    assert.match(unchanged.headers.etag ?? '', pattern)
  }
})

test('the document describes cursors exactly', async () => {
  await upsertStaff(api.db, api.service, [{ id: '77', code: 'JSMITH', surname: 'Smith' }])
  assert.ok(isDocumented('/staff', 'after_cursor', (await api.get('/staff?limit=1')).json.meta.endCursor))
  for (const value of ['mM3Zr0Zb…', 'a b', 'short', `${'x'.repeat(30)}=`]) {
    assert.equal(isDocumented('/staff', 'after_cursor', value), false)
    assert.equal((await search('/staff', 'after_cursor').ask(value)).json.code, 'invalid_cursor')
  }
})

test('the document allows exactly the accepted Idempotency-Keys', () =>
  agree(
    [
      ...['a', '"a"', '" "', 'a b', 'a'.repeat(255), `"${'a'.repeat(255)}"`],
      ...['""', '"a', 'a"b', 'é', 'a'.repeat(256), `"${'a'.repeat(256)}"`],
    ],
    {
      documented: value =>
        faultsOf(toPointer('components', 'parameters', 'IdempotencyKey', 'schema'), value).length === 0,
      ask: value => lookUp({}, { 'idempotency-key': value }),
    },
  ))

let created = 0
const newCustomer = (more: object) => ({
  firstname: 'Ann',
  surname: 'Lee',
  contact: { email: `ann${++created}@example.com` },
  ...more,
})

test('the document allows exactly the strings that a body accepts', async () => {
  const allowed = (body: object) => faultsOf(toPointer('components', 'schemas', 'CustomerInput'), body).length === 0
  const seen = new Set<boolean>()
  for (const more of [
    ...['Ann', 'Ánn  Lee', ' ', '', 'A\0', 'A\nB', 'A\u0085', 'A\u2028', '\u202eA', 'A\u2066'].map(firstname => ({
      firstname,
    })),
    ...['', null, '+61 400 123 456', '1', 'call me'].map(mobile => ({ mobile })),
    ...['', null, '1980-02-29', '1981-02-29', '29.2.1980'].map(dateOfBirth => ({ dateOfBirth })),
    ...['', null, 'Level 5', 'Level\t5', 'x'.repeat(51)].map(addressLine1 => ({ address: { addressLine1 } })),
    ...['', null, 'Dr', 'D\u0000r'].map(title => ({ title })),
  ]) {
    const body = newCustomer(more)
    const { status, text } = await post(api, '/customers', body)
    assert.equal(allowed(body), status === 201, `${JSON.stringify(more)}: ${text}`)
    seen.add(allowed(body))
  }
  assert.equal(seen.size, 2)
})

test("the document allows exactly the amounts accepted in the service's currency", () =>
  agree(
    ['10.00', '0.01', '999999999.00', '010.00', '-1.00', '+1.00', '1e3', '1,00', '1234567890.00', '', ' 1.00', '.50'],
    {
      documented: amount =>
        !faultsOf(toPointer('components', 'schemas', 'VoucherValidation'), { number: '1', pin: '1', amount }).length,
      ask: amount => lookUp({ amount }),
    },
  ))

test('the document allows locking by validation or by PIN, like the service', async () => {
  const [validationId, pin, amount] = ['v', '1', '1.00']
  for (const body of [
    { validationId },
    { pin },
    { pin, amount },
    {},
    { validationId, pin },
    { validationId, amount },
  ]) {
    await clearFailures(api)
    const { status } = await post(api, '/vouchers/1/lock', body)
    const errors = faultsOf(toPointer('components', 'schemas', 'VoucherLock'), body)
    assert.equal(errors.length === 0, status === 403, JSON.stringify(body))
  }
})

test("a shopper's address is optional and must be an IP address", () => {
  for (const [path, method] of [
    ['/vouchers/{number}', 'get'],
    ['/vouchers/lookup', 'post'],
    ['/vouchers/validate', 'post'],
    ['/vouchers/{number}/lock', 'put'],
    ['/vouchers/{number}/lock', 'post'],
  ] as const) {
    const { parameter, pointer } = findParameter(path, method, 'X-Shopper-IP')
    assert.ok(!parameter.required)
    const allows = (value: string) => faultsOf(`${pointer}/schema`, value).length === 0
    assert.deepEqual(['203.0.113.7', '2001:db8::1', 'localhost', '203.0.113.7:80'].map(allows), [
      true,
      true,
      false,
      false,
    ])
  }
})

for (const [path, methods] of Object.entries<Node>(document.paths))
  for (const [method, operation] of Object.entries<Node>(methods))
    test(`the examples of ${method.toUpperCase()} ${path} form a valid request`, async () => {
      const parameters: Node[] = operation.parameters.map(resolved)
      const exampleOf = ({ example, examples }: Node) => example ?? Object.values<Node>(examples ?? {})[0]?.value
      // A stream has no end.
      const isStream = 'text/event-stream' in (resolved(operation.responses['200'] ?? {}).content ?? {})
      const input = (place: string) =>
        parameters
          .filter(parameter => parameter.in === place && parameter.name !== 'X-Service-Name')
          .flatMap(parameter =>
            exampleOf(parameter) === undefined ? [] : [[parameter.name, String(exampleOf(parameter))] as const],
          )
      const query = String(new URLSearchParams(input('query').map(pair => [...pair])))
      const inPath = Object.fromEntries(input('path'))
      const url = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(inPath[name] ?? ''))
      const body = operation.requestBody && resolved(operation.requestBody).content['application/json']?.example
      const { status, text } = await api.request(query ? `${url}?${query}` : url, {
        method: isStream ? 'HEAD' : method.toUpperCase(),
        headers: { ...Object.fromEntries(input('header')), ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
      assert.notEqual(status, 400, text)
    })

test('the document forbids unknown fields in every JSON body', () => {
  const open: string[] = []
  for (const [path, operations] of Object.entries<Node>(document.paths))
    for (const [method, { requestBody }] of Object.entries<Node>(operations)) {
      const { schema } = (requestBody && resolved(requestBody).content['application/json']) ?? {}
      if (schema && resolved(schema).additionalProperties !== false) open.push(`${method} ${path}`)
    }
  assert.deepEqual(open, [])
})
