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
const findErrors = compileSchemas(document)

/** Resolves a reference to a component of the document. */
const resolve = (node: Node): Node => {
  const [kind, name] = node.$ref?.split('/').slice(-2) ?? []
  return kind ? document.components[kind][name] : node
}

/** Returns a parameter and the pointer to it. */
function findParameter(path: string, method: string, name: string) {
  const { parameters } = document.paths[path][method]
  const index = parameters.findIndex((parameter: Node) => resolve(parameter).name === name)
  const { $ref } = parameters[index]
  const pointer = $ref?.slice(1) ?? toPointer('paths', path, method, 'parameters', index)
  return { parameter: resolve(parameters[index]), pointer }
}

/** True if the document allows the value for a parameter of GET. */
const isDocumented = (path: string, name: string, value: string) =>
  findErrors(`${findParameter(path, 'get', name).pointer}/schema`, value).length === 0

interface Validators {
  isAllowed(value: string): boolean
  send(value: string): Promise<TestResponse>
}

/** Asserts that the document and Tillbridge accept the same values. */
async function assertAgreement(values: readonly string[], { isAllowed, send }: Validators) {
  const results = new Set<boolean>()
  for (const value of values) {
    const { status } = await send(value)
    assert.equal(isAllowed(value), ![400, 422].includes(status), JSON.stringify(value))
    results.add(isAllowed(value))
  }
  assert.equal(results.size, 2, 'some are accepted and some are rejected')
}

const buildParameterCheck = (path: string, parameter: string): Validators => ({
  isAllowed: value => isDocumented(path, parameter, value),
  send: value => api.get(`${path}?${parameter}=${encodeURIComponent(value)}`),
})

/** Validates a voucher that doesn't exist. */
async function lookUp(body: object, headers: Record<string, string> = {}) {
  await clearFailures(api)
  return post(api, '/vouchers/validate', { number: '1', pin: '1', amount: '1.00', ...body }, headers)
}

test('the document allows exactly the times that the service accepts', () =>
  assertAgreement(
    [
      ...['2024-05-10', '2024-05-10 09:30:00', '2024-05-10T09:30', '2024-05-10T09:30:00Z', '2024-05-10t09:30:00z'],
      ...['2024-05-10T09:30:00.123456789+11:00', '2024-02-29', '2024-02-29 00:00:00', '0001-01-02', '9999-12-30'],
      ...['', 'yesterday', '2024-05-10T09', '2024-05-10 09:30:00Z', '2023-02-29', '2024-04-31 00:00:00', '2024-13-01'],
      ...['2024-05-10T24:00:00', '2024-05-10T23:59:60Z', '2024-05-10T09:30:00.1234567890Z', '0000-01-01', '20240510'],
    ],
    buildParameterCheck('/customers/search', 'updated_after'),
  ))

test('the document allows exactly the strings that a query accepts', () =>
  assertAgreement(
    ['a', 'ä b', 'x'.repeat(250), '\u0085', '', 'x'.repeat(251), 'a\u0007', '\u007f', 'a\nb', '\0'],
    buildParameterCheck('/staff', 'code'),
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
    assert.equal((await buildParameterCheck('/staff', 'after_cursor').send(value)).json.code, 'invalid_cursor')
  }
})

test('the document allows exactly the accepted Idempotency-Keys', () =>
  assertAgreement(
    [
      ...['a', '"a"', '" "', 'a b', 'a'.repeat(255), `"${'a'.repeat(255)}"`],
      ...['""', '"a', 'a"b', 'é', 'a'.repeat(256), `"${'a'.repeat(256)}"`],
    ],
    {
      isAllowed: value =>
        findErrors(toPointer('components', 'parameters', 'IdempotencyKey', 'schema'), value).length === 0,
      send: value => lookUp({}, { 'idempotency-key': value }),
    },
  ))

let created = 0
const buildCustomer = (more: object) => ({
  firstname: 'Ann',
  surname: 'Lee',
  contact: { email: `ann${++created}@example.com` },
  ...more,
})

test('the document allows exactly the strings that a body accepts', async () => {
  const isBodyAllowed = (body: object) =>
    findErrors(toPointer('components', 'schemas', 'CustomerInput'), body).length === 0
  const results = new Set<boolean>()
  for (const more of [
    ...['Ann', 'Ánn  Lee', ' ', '', 'A\0', 'A\nB', 'A\u0085', 'A\u2028', '\u202eA', 'A\u2066'].map(firstname => ({
      firstname,
    })),
    ...['', null, '+61 400 123 456', '1', 'call me'].map(mobile => ({ mobile })),
    ...['', null, '1980-02-29', '1981-02-29', '29.2.1980'].map(dateOfBirth => ({ dateOfBirth })),
    ...['', null, 'Level 5', 'Level\t5', 'x'.repeat(51)].map(addressLine1 => ({ address: { addressLine1 } })),
    ...['', null, 'Dr', 'D\u0000r'].map(title => ({ title })),
  ]) {
    const body = buildCustomer(more)
    const { status, text } = await post(api, '/customers', body)
    assert.equal(isBodyAllowed(body), status === 201, `${JSON.stringify(more)}: ${text}`)
    results.add(isBodyAllowed(body))
  }
  assert.equal(results.size, 2)
})

test("the document allows exactly the amounts accepted in the service's currency", () =>
  assertAgreement(
    ['10.00', '0.01', '999999999.00', '010.00', '-1.00', '+1.00', '1e3', '1,00', '1234567890.00', '', ' 1.00', '.50'],
    {
      isAllowed: amount =>
        !findErrors(toPointer('components', 'schemas', 'VoucherValidation'), { number: '1', pin: '1', amount }).length,
      send: amount => lookUp({ amount }),
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
    const errors = findErrors(toPointer('components', 'schemas', 'VoucherLock'), body)
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
    const allows = (value: string) => findErrors(`${pointer}/schema`, value).length === 0
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
      const parameters: Node[] = operation.parameters.map(resolve)
      const getExample = ({ example, examples }: Node) => example ?? Object.values<Node>(examples ?? {})[0]?.value
      // A stream never ends, so only its headers are requested.
      const isStream = 'text/event-stream' in (resolve(operation.responses['200'] ?? {}).content ?? {})
      const getExamples = (place: string) =>
        parameters
          .filter(parameter => parameter.in === place && parameter.name !== 'X-Service-Name')
          .flatMap(parameter =>
            getExample(parameter) === undefined ? [] : [[parameter.name, String(getExample(parameter))] as const],
          )
      const query = String(new URLSearchParams(getExamples('query').map(pair => [...pair])))
      const pathExamples = Object.fromEntries(getExamples('path'))
      const url = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(pathExamples[name] ?? ''))
      const body = operation.requestBody && resolve(operation.requestBody).content['application/json']?.example
      const { status, text } = await api.request(query ? `${url}?${query}` : url, {
        method: isStream ? 'HEAD' : method.toUpperCase(),
        headers: { ...Object.fromEntries(getExamples('header')), ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
      assert.notEqual(status, 400, text)
    })

test('the document forbids unknown fields in every JSON body', () => {
  const openBodies: string[] = []
  for (const [path, operations] of Object.entries<Node>(document.paths))
    for (const [method, { requestBody }] of Object.entries<Node>(operations)) {
      const { schema } = (requestBody && resolve(requestBody).content['application/json']) ?? {}
      if (schema && resolve(schema).additionalProperties !== false) openBodies.push(`${method} ${path}`)
    }
  assert.deepEqual(openBodies, [])
})
