import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { buildBareServer, buildDocuments } from '../../../scripts/documents/write.ts'
import { lintOpenApi } from '../../../scripts/lint-openapi.ts'
import { errorCodes } from '../../../src/errors/api-error.ts'
import { tagDescriptions } from '../../../src/http/routing/operation.ts'
import { buildTestBody } from '../../../src/webhooks/delivery.ts'
import { generateSecret, signHeaders } from '../../../src/webhooks/signature.ts'
import { compileSchemas, flattenExtensions, type Node, toPointer } from '../../support/conformance.ts'

let server: FastifyInstance
let text: string
let document: Node

before(async () => {
  server = await buildBareServer()
  await server.ready()
  text = (await buildDocuments())['openapi.json'] ?? ''
  document = JSON.parse(text)
})

after(() => server.close())

test('the linter reports no problem', async () => {
  assert.deepEqual(await lintOpenApi(text), [])
})

const damages: [what: string, damage: (broken: Node) => void][] = [
  [
    'a reference to nothing',
    broken => (broken.paths['/stores'].get.parameters[0].$ref = '#/components/parameters/None'),
  ],
  ['an operation identifier twice', broken => (broken.paths['/stores'].get.operationId = 'listStaff')],
  ['an example that its schema rejects', broken => (broken.components.schemas.Store.properties.name.examples = [5])],
  ['a path parameter that is not described', broken => broken.paths['/staff/{id}'].get.parameters.splice(1, 1)],
  ['a keyword that OpenAPI does not have', broken => (broken.paths['/stores'].get.answers = {})],
]
for (const [label, damage] of damages)
  test(`the linter rejects ${label}`, async () => {
    const broken = JSON.parse(text)
    damage(broken)
    assert.notDeepEqual(await lintOpenApi(JSON.stringify(broken)), [])
  })

/** Returns the served paths from the router's printed tree: one line per node, its depth shown by the indentation. */
function listServedPaths() {
  const parents: string[] = []
  return server
    .printRoutes({ method: 'GET', commonPrefix: false })
    .split('\n')
    .flatMap(line => {
      const [, indent = '', part = '', methods] = /^([│├└─\s]*)(\S+)(?: \((.*)\))?$/.exec(line) ?? []
      const depth = indent.length / 4
      parents[depth] = `${depth > 1 ? parents[depth - 1] : ''}${part}`
      return methods?.split(', ').includes('GET') ? [parents[depth] ?? ''] : []
    })
}

test('every served path is documented, and no other', () => {
  // The pages of the documentation and their assets are not operations, and neither are the console and the endpoints
  // of agents and of the e-commerce platform.
  const served = listServedPaths().filter(
    path => path !== '/' && !/^\/(docs[/*]|errors$|llms|console|mcp|ecommerce\/events)/.test(path),
  )
  const documented = Object.keys(document.paths).map(path => path.replace(/\{(\w+)\}/g, ':$1'))
  assert.deepEqual(served.sort(), documented.sort())
})

test('a path has exactly its documented methods', async () => {
  const httpsHeaders = { 'x-forwarded-proto': 'https' }
  for (const [path, methods] of Object.entries<Node>(document.paths)) {
    const { headers } = await server.inject({
      method: 'PATCH',
      url: path.replace(/\{\w+\}/g, 'not_found'),
      headers: httpsHeaders,
    })
    const allowed = String(headers.allow)
      .split(', ')
      .filter(method => method !== 'HEAD')
    assert.deepEqual(
      allowed.sort(),
      Object.keys(methods)
        .map(method => method.toUpperCase())
        .sort(),
      path,
    )
  }
})

/** Lists the operations of a document. */
const listOperations = (from: Node = document) =>
  Object.entries<Node>(from.paths).flatMap(([path, methods]) =>
    Object.entries<Node>(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )

/** Resolves a reference to a component. */
const resolve = (node: Node): Node =>
  node.$ref
    ? node.$ref
        .slice(2)
        .split('/')
        .reduce((at: Node, step: string) => at[step], document)
    : node

const verbs =
  /^(list|search|find|get|push|read|look|check|explain|create|update|place|quote|issue|validate|lock|map|rotate|revoke|erase|export|stream|delete|test|pause|resume|rewind|run|resolve|import|suspend|unlock|send|resend|reserve|release|receive|refund|mark|exchange|apply|start|undo|cancel|redeem|confirm)[A-Z][A-Za-z]+$/

test('each operation has its own name that starts with a verb', () => {
  const ids: string[] = listOperations().map(({ operation }) => operation.operationId)
  for (const id of ids) assert.match(id, verbs)
  assert.equal(new Set(ids).size, ids.length)
})

test('only orders, search, tables and imports require a query parameter', () => {
  const requiredParameters = listOperations().flatMap(({ path, operation }) =>
    operation.parameters
      .map(resolve)
      .flatMap(({ in: location, name, required }: Node) =>
        location === 'query' && required ? [`${path} ${name}`] : [],
      ),
  )
  assert.deepEqual(requiredParameters, ['/orders order_number', '/search q', '/browse table', '/imports type'])
})

test('every operation has a one-sentence summary and every JSON schema a name', () => {
  for (const { path, method, operation } of listOperations()) {
    assert.match(operation.description, /\.$/, `${method} ${path}`)
    for (const { content = {} } of [...Object.values<Node>(operation.responses), resolve(operation.requestBody ?? {})])
      for (const [type, { schema }] of Object.entries<Node>(content))
        assert.equal(Boolean(schema.$ref), /\bjson$/.test(type), `${method} ${path}: ${type}`)
  }
})

interface Leaf {
  pointer: string
  schema: Node
}

/** Lists the schemas that need an example. An example of an object also covers its properties. */
function listLeaves(schema: Node, pointer: string): Leaf[] {
  const { properties, items, anyOf, additionalProperties, examples, $ref } = schema
  if ($ref) return []
  if (examples) return [{ pointer, schema }]
  if (properties)
    return Object.entries(properties).flatMap(([name, member]) =>
      listLeaves(member, pointer + toPointer('properties', name)),
    )
  if (items) return listLeaves(items, `${pointer}/items`)
  if (anyOf)
    return anyOf.flatMap((choice: Node, i: number) =>
      choice.type === 'null' ? [] : listLeaves(choice, `${pointer}/anyOf/${i}`),
    )
  if (typeof additionalProperties === 'object')
    return listLeaves(additionalProperties, `${pointer}/additionalProperties`)
  return [{ pointer, schema }]
}

/** Yields every pointer of the document at which `key` occurs, with its value. */
function* findKey(node: Node, key: string, pointer = ''): Generator<[string, Node]> {
  if (node === null || typeof node !== 'object') return
  for (const [name, child] of Object.entries(node)) {
    if (name === key) yield [pointer, node]
    // Data can contain the key by chance.
    if (['example', 'examples', 'default', 'enum'].includes(name)) continue
    yield* findKey(child, key, pointer + toPointer(name))
  }
}

const listComponentSchemas = () =>
  Object.entries<Node>(flattenExtensions(document).components.schemas).map(
    ([name, schema]) => [toPointer('components', 'schemas', name), schema] as const,
  )

test('every property has an example that matches its schema', () => {
  const findErrors = compileSchemas(document)
  const leaves = listComponentSchemas().flatMap(([pointer, schema]) => listLeaves(schema, pointer))
  assert.ok(leaves.length > 150, `${leaves.length} were found`)
  for (const { pointer, schema } of leaves) {
    assert.ok(schema.examples?.length, `${pointer} has no example`)
    for (const example of schema.examples) assert.deepEqual(findErrors(pointer, example), [], pointer)
  }
})

/** Tools send every example of an operation together. A cursor is valid only in its list, and these headers change the effect of a write. */
const withoutExample = ['after_cursor', 'Last-Event-ID', 'If-Match', 'Idempotency-Key', 'Prefer']
/** Parameters without an example because they exclude another parameter. */
const excludingExamples = ['updated_after', 'name']

test('every parameter, header and file has one example that matches its schema', () => {
  const findErrors = compileSchemas(document)
  const schemas = [...findKey(document, 'schema')].filter(
    ([pointer, { schema }]) => !schema.$ref && !/x-ndjson$/.test(pointer),
  )
  assert.ok(schemas.length > 80, `${schemas.length} were found`)
  for (const [pointer, { name, schema, example, examples }] of schemas) {
    const values: unknown[] = examples ? Object.values<Node>(examples).map(({ value }) => value) : [example]
    const [first] = values
    if (withoutExample.includes(name)) assert.equal(first, undefined, pointer)
    else if (!excludingExamples.includes(name)) assert.notEqual(first ?? schema.examples?.[0], undefined, pointer)
    assert.ok(first === undefined || !schema.examples, `${pointer} has two examples`)
    for (const value of values)
      if (value !== undefined) assert.deepEqual(findErrors(`${pointer}/schema`, value), [], pointer)
  }
})

test('an empty string matches no query parameter', () => {
  const findErrors = compileSchemas(document)
  const parameters = [...findKey(document, 'in')].filter(([, node]) => node.in === 'query')
  assert.ok(parameters.length > 60, `${parameters.length} were found`)
  for (const [pointer, { name }] of parameters) assert.notDeepEqual(findErrors(`${pointer}/schema`, ''), [], name)
})

test('only requests and errors have examples of whole objects', () => {
  const findErrors = compileSchemas(document)
  for (const [pointer, { example, schema }] of findKey(document, 'schema')) {
    if (!schema.$ref || !/\/content\//.test(pointer)) continue
    const mustHave = /^\/(paths.*\/requestBody|components\/requestBodies)\//.test(pointer)
    const canHave = mustHave || /\/application~1problem\+json$/.test(pointer)
    assert.ok(example === undefined ? !mustHave : canHave, pointer)
    if (example !== undefined) assert.deepEqual(findErrors(`${pointer}/schema`, example), [], pointer)
  }
})

test('every parameter, header and response has a description', () => {
  for (const [pointer, node] of [...findKey(document, 'schema'), ...findKey(document, 'content')])
    if (!/\/content\/|\/requestBody$|^\/components\/requestBodies|^\/x-response-headers/.test(pointer))
      assert.ok(node.description, pointer)
})

test('exactly the operations with credentials require X-Service-Name', () => {
  for (const { path, method, operation } of listOperations()) {
    const requiresServiceName = operation.parameters.some(
      (parameter: Node) => parameter.$ref === '#/components/parameters/ServiceName',
    )
    assert.equal(requiresServiceName, operation.security === undefined, `${method} ${path}`)
  }
})

test('an error example has its own status and matches the real response', async () => {
  const withSamples = JSON.parse(await getPart('?samples=true'))
  let count = 0
  for (const { path, method, operation } of listOperations(withSamples))
    for (const [status, response] of Object.entries<Node>(operation.responses)) {
      const { example } = resolve(response).content?.['application/problem+json'] ?? {}
      if (!example) continue
      if (!response.$ref) count++
      const expected = errorCodes[example.code as keyof typeof errorCodes]
      assert.deepEqual([example.status, example.title], [expected.status, expected.title], `${method} ${path}`)
      if (status !== 'default') assert.equal(String(example.status), status, `${method} ${path}`)
      if (!response.$ref) assert.match(example.instance, new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`))
    }
  assert.ok(count >= 40, `${count} examples`)
})

test('every possible error of an operation is documented and explained', () => {
  const documentedCodes = new Set<string>()
  for (const { path, method, operation } of listOperations()) {
    const responses = Object.values<Node>(operation.responses).map(resolve)
    const explained = responses.map(({ description }) => description).join()
    const codes: string[] = [
      ...(operation['x-error-codes'] ?? []),
      ...responses.flatMap(response => response['x-error-codes'] ?? []),
    ]
    for (const code of codes) {
      documentedCodes.add(code)
      const { status, title } = errorCodes[code as keyof typeof errorCodes]
      assert.ok(operation.responses[status] ?? operation.responses.default, `${method} ${path}: ${code}`)
      const isShared = Object.values<Node>(document.components.responses).some(({ description }) =>
        description.includes(`\`${code}\``),
      )
      assert.ok(isShared || explained.includes(`\`${code}\` | ${title}`), `${method} ${path}: ${code}`)
    }
  }
  // No documented operation returns these codes. They belong to other methods and to the sign-in to the console.
  const missing = Object.keys(errorCodes).filter(code => !documentedCodes.has(code))
  assert.deepEqual(missing, ['sign_in_failed', 'method_not_allowed', 'identity_provider_unavailable'])
})

test('every tag is described and every description has a tag', () => {
  assert.deepEqual(document.tags.map((tag: Node) => tag.name).sort(), Object.keys(tagDescriptions).sort())
})

test('the document contains only standard OpenAPI fields', () => {
  for (const key of ['$id', '~kind', '~optional']) assert.deepEqual([...findKey(document, key)], [], key)
  for (const [pointer, { default: value }] of findKey(document, 'default'))
    assert.ok(!Array.isArray(value), `${pointer} has an array as its default, which generators warn about`)
  const formats = new Set([...findKey(document, 'format')].map(([, schema]) => schema.format))
  const standard = ['binary', 'date', 'date-time', 'email', 'ipv4', 'ipv6', 'uri']
  const customFormats = ['local-time', 'money', 'single-line', 'unit-price']
  assert.deepEqual([...formats].sort(), [...standard, ...customFormats].sort())
  for (const format of customFormats) assert.match(document.info.description, new RegExp(`\\| \`${format}\` \\|`))
})

test('the document names its version and its address', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8'))
  assert.match(document.openapi, /^3\.1\.\d$/)
  assert.equal(document.info.version, version)
  assert.deepEqual(document.servers, [{ url: 'https://localhost:8443' }])
})

const getPart = async (query: string) => {
  const { statusCode, body } = await server.inject({
    url: `/openapi.json${query}`,
    headers: { 'x-forwarded-proto': 'https' },
  })
  assert.equal(statusCode, 200, query)
  return body
}
const listOperationIds = (part: Node) =>
  Object.values<Node>(part.paths).flatMap(methods => Object.values<Node>(methods).map(method => method.operationId))

test('the document and its views stay below their sizes', async () => {
  const sizes = await Promise.all(['', '?view=shop', '?view=admin'].map(async query => (await getPart(query)).length))
  for (const [index, maxBytes] of [400_000, 220_000, 250_000].entries())
    assert.ok((sizes[index] ?? 0) <= maxBytes, sizes.join())
})

test('the shop and admin views divide the operations', async () => {
  const parts = await Promise.all(['shop', 'admin'].map(async view => JSON.parse(await getPart(`?view=${view}`))))
  assert.deepEqual(parts.flatMap(listOperationIds).sort(), listOperationIds(document).sort())
  for (const part of parts) assert.deepEqual(await lintOpenApi(JSON.stringify(part)), [])
  assert.ok(listOperationIds(parts[0]).includes('placeOrder'))
  assert.ok(listOperationIds(parts[1]).includes('createAccount'))
})

test('the view for Postman is valid and has every operation', async () => {
  const part = await getPart('?view=postman')
  assert.deepEqual(await lintOpenApi(part), [])
  assert.deepEqual(listOperationIds(JSON.parse(part)), listOperationIds(document))
})

test('each tag has a valid slice of at most 8,000 tokens', async () => {
  for (const { name } of document.tags) {
    const slice = await getPart(`?tag=${encodeURIComponent(name)}`)
    const tokens = countTokens(slice)
    assert.ok(tokens <= 8_000, `${name}: ${tokens} tokens`)
    assert.deepEqual(await lintOpenApi(slice, true), [], name)
    const part = JSON.parse(slice)
    assert.deepEqual(
      part.tags.map((tag: Node) => tag.name),
      [name],
    )
    for (const methods of Object.values<Node>(part.paths))
      for (const operation of Object.values<Node>(methods)) assert.deepEqual(operation.tags, [name])
  }
})

test('a slice names the tag that has the fields of other records', async () => {
  const { schemas } = JSON.parse(await getPart('?tag=Changes')).components
  assert.deepEqual(schemas.Customer, { type: 'object', description: 'Its fields are in `?tag=Customers`.' })
  const customer = JSON.parse(await getPart('?tag=Customers')).components.schemas.Customer
  assert.deepEqual(Object.keys(customer.properties), Object.keys(document.components.schemas.Customer.properties))
})

test('the slice of a tag with samples is complete', async () => {
  const slice = await getPart('?tag=Changes&samples=true')
  assert.deepEqual(await lintOpenApi(slice), [])
  assert.deepEqual(JSON.parse(slice).components.schemas.Customer, document.components.schemas.Customer)
})

test('an unknown view, tag or parameter is rejected', async () => {
  for (const query of ['view=shops', 'tag=shops', 'tags=Stores']) {
    const response = await server.inject({ url: `/openapi.json?${query}`, headers: { 'x-forwarded-proto': 'https' } })
    assert.equal(response.json().code, 'invalid_parameter', query)
  }
})

test('the document is compressed and has an ETag for each encoding', async () => {
  const get = (headers: Record<string, string>) =>
    server.inject({ url: '/openapi.json', headers: { 'x-forwarded-proto': 'https', ...headers } })
  const plain = await get({})
  const tags = new Set([plain.headers.etag])
  for (const [encoding, decode] of [
    ['gzip', gunzipSync],
    ['zstd', zstdDecompressSync],
  ] as const) {
    const response = await get({ 'accept-encoding': encoding })
    assert.deepEqual([response.headers['content-encoding'], response.headers.vary], [encoding, 'accept-encoding'])
    assert.equal(decode(response.rawPayload).toString(), plain.body)
    assert.ok(response.rawPayload.length < 70_000)
    tags.add(response.headers.etag)
    const again = await get({ 'accept-encoding': encoding, 'if-none-match': String(response.headers.etag) })
    assert.deepEqual([again.statusCode, again.body], [304, ''])
  }
  assert.equal(tags.size, 3)
})

test('code samples are the files that the tests run', async () => {
  const withSamples = await getPart('?samples=true')
  assert.deepEqual(await lintOpenApi(withSamples), [])
  const samples = listOperations(JSON.parse(withSamples)).flatMap(({ operation }) => operation['x-codeSamples'] ?? [])
  const files = globSync('examples/shop/*/*')
  const texts = new Set(await Promise.all(files.map(file => readFile(file, 'utf8'))))
  assert.ok(samples.filter(({ source }) => texts.has(source)).length >= 28)
})

test('each operation of the shop view has samples in four languages', async () => {
  for (const { path, method, operation } of listOperations(JSON.parse(await getPart('?view=shop&samples=true')))) {
    if (operation.security) continue
    const labels = operation['x-codeSamples'].map(({ label }: Node) => label)
    assert.deepEqual(labels, ['curl', 'TypeScript', 'Python', 'PHP'], `${method} ${path}`)
  }
})

test('the webhooks section describes the sent headers and bodies', () => {
  const { parameters, requestBody } = document.webhooks['records.changed'].post
  const sentHeaders = signHeaders([generateSecret()], { id: 'msg_1', timestamp: 1, body: '{}' })
  assert.deepEqual(
    parameters.map((parameter: Node) => parameter.name),
    Object.keys(sentHeaders),
  )
  const findErrors = compileSchemas(document)
  const pointer = requestBody.content['application/json'].schema.$ref.slice(1)
  assert.deepEqual(findErrors(pointer, JSON.parse(buildTestBody('luma', '2026-11-21T09:31:28.120Z'))), [])
  assert.notDeepEqual(findErrors(pointer, { type: 'records.lost' }), [])
})
