import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { get } from '../../../src/http/routing/route-definitions.ts'
import { Type } from '../../../src/schemas/schemas.ts'
import { waitUntil } from '../../support/processes.ts'
import { type Caller, startTestApi } from '../../support/service.ts'

const deprecated = { since: '2026-11-01', sunset: '2027-06-01', replacement: '`GET /stores`' }
const Nothing = Type.Object({}, { $id: 'Nothing', additionalProperties: false })
const common = { tag: 'Stores', summary: 'A test', description: 'A test.', response: Nothing } as const
const furtherRoutes = [
  get('/locations', { ...common, operationId: 'listLocations', deprecated }, async () => ({ data: {} })),
  get(
    '/locations/:id',
    {
      ...common,
      operationId: 'getLocation',
      params: { id: { description: 'The ID.', example: '1' } },
      deprecated: { since: '2026-11-01', replacement: 'the console' },
    },
    async () => ({ data: {} }),
  ),
]
const api = await startTestApi({ furtherRoutes })
after(() => api.stop())

const getUses = async (caller: Caller) => (await caller.get('/me/deprecations')).json.data

test('a deprecated operation has the headers Deprecation and Sunset', async () => {
  const { status, headers } = await api.get('/locations')
  assert.equal(status, 200)
  assert.deepEqual(
    [headers.deprecation, headers.sunset, headers.link],
    ['@1793491200', 'Tue, 01 Jun 2027 00:00:00 GMT', '</changelog>; rel="deprecation"'],
  )
  const withoutCredentials = await api.get('/locations/1', { authorization: undefined })
  assert.deepEqual([withoutCredentials.status, withoutCredentials.headers.deprecation], [401, '@1793491200'])
  assert.equal(withoutCredentials.headers.sunset, undefined)
  assert.equal((await api.get('/stores')).headers.deprecation, undefined)
})

test('the document marks a deprecated operation', async () => {
  const { paths } = (await api.sendRaw('/openapi.json')).json
  assert.equal(paths['/locations'].get.deprecated, true)
  assert.match(
    paths['/locations'].get.description,
    /^Deprecated since 2026-11-01: use `GET \/stores`\. It can be removed/,
  )
  assert.equal(paths['/stores'].get.deprecated, undefined)
})

test('an account sees which deprecated operations it used, how often and when', async () => {
  const [first, second, unused] = (await Promise.all([1, 2, 3].map(() => api.createAccount('visitor')))) as [
    Caller,
    Caller,
    Caller,
  ]
  const before = Math.floor(Date.now() / 1_000) * 1_000
  for (const caller of [first, first, second]) await caller.get('/locations')
  await first.request('/locations', { method: 'HEAD' })
  await waitUntil(async () => (await getUses(first))[0]?.requests === 3, 'the requests are counted', 20_000)

  const [{ lastUsedAt, ...use }, ...otherUses] = await getUses(first)
  assert.deepEqual(
    [use, otherUses],
    [
      {
        operation: 'GET /locations',
        replacement: '`GET /stores`',
        deprecatedOn: '2026-11-01',
        sunsetOn: '2027-06-01',
        requests: 3,
      },
      [],
    ],
  )
  assert.ok(Date.parse(lastUsedAt) >= before, lastUsedAt)
  assert.deepEqual(
    (await getUses(second)).map(({ requests }: { requests: number }) => requests),
    [1],
  )
  assert.deepEqual(await getUses(unused), [])
})

test('the use of another service is not listed', async () => {
  const other = await api.createService()
  await other.get('/locations/1')
  await waitUntil(async () => (await getUses(other)).length === 1, 'the request is counted', 20_000)
  const [use] = await getUses(other)
  assert.deepEqual([use.operation, use.sunsetOn], ['GET /locations/{id}', null])
  const operations = (await getUses(api)).map(({ operation }: { operation: string }) => operation)
  assert.ok(!operations.includes('GET /locations/{id}'))
})
