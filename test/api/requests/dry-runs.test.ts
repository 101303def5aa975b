import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { createConformanceCheck } from '../../support/conformance.ts'
import { buildOrder, fillShop } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { startTestApi } from '../../support/service.ts'
import { post, put, withKey } from '../../support/write.ts'

const api = await startTestApi({ settings: { currency: 'AUD', writesPerMinute: 'off' } })
after(() => api.stop())
await fillShop(api.db, api.service)

const dryRun = { prefer: 'respond-async, tx=rollback' }

/**
 * Returns everything that a dry run of settings, accounts and mappings could change. The last use of an account is
 * stored later anyway.
 */
const readState = async () => {
  const [settings, accounts, mapping] = [
    await api.get('/settings'),
    await api.get('/accounts'),
    await api.get('/mappings/stores/1001'),
  ]
  const stableAccounts = accounts.json.data.map(({ lastUsedAt: _, ...account }: { lastUsedAt: unknown }) => account)
  return [settings.json.data, stableAccounts, mapping.json.data]
}
const countAuditEntries = async () =>
  (await api.db.row<{ count: number }>(sql`select count(*)::integer as count from audit`))?.count

test('a dry run of settings, roles, passwords and mappings changes nothing', async () => {
  const before = await readState()
  const entryCount = await countAuditEntries()
  const responses = [
    await put(api, '/settings', { inventoryBuffer: 7 }, dryRun),
    await post(api, '/accounts', { username: 'tried', role: 'visitor' }, dryRun),
    await put(api, '/mappings/stores/1001', { ecommerceLocationId: '777' }, dryRun),
    await post(api, `/accounts/${api.username}/rotate`, {}, dryRun),
  ]
  assert.deepEqual(
    responses.map(response => [response.status, response.headers['preference-applied']]),
    [200, 201, 200, 200].map(expected => [expected, 'tx=rollback']),
  )
  const [settings, account, mapping, rotated] = responses.map(({ json }) => json.data)
  assert.deepEqual([settings.inventoryBuffer, mapping.ecommerceLocationId], [7, '777'])
  for (const created of [account, rotated]) assert.deepEqual([created.password, created.apiKey], [null, null])
  assert.deepEqual(await readState(), before)
  assert.equal(await countAuditEntries(), entryCount)
})

test('a dry run neither uses a key nor is replayed', async () => {
  const body = { firstname: 'Ann', surname: 'Lee', contact: { email: 'tried@example.com' } }
  const key = withKey()
  assert.equal((await post(api, '/customers', body, { ...dryRun, ...key })).json.data.id, null)
  const created = await post(api, '/customers', body, key)
  assert.deepEqual([created.status, created.headers['idempotent-replayed']], [201, undefined])
  assertProblem(await post(api, '/customers', body, { ...dryRun, ...key }), 'email_taken', api.baseUrl)
})

test('another preference starts no dry run; a dry run still checks preconditions', async () => {
  const { data } = (await api.get('/settings')).json
  for (const prefer of [
    'tx=commit',
    'ctx=rollback',
    'tx=rollbacks',
    'handling=strict',
    'note="a, tx=rollback"',
    'handling=lenient; tx=rollback',
  ])
    assert.equal(
      (await put(api, '/settings', { inventoryBuffer: 3 }, { prefer })).headers['preference-applied'],
      undefined,
    )
  const rejected = await put(api, '/settings', {}, { ...dryRun, 'if-match': '"old"' })
  assertProblem(rejected, 'precondition_failed', api.baseUrl)
  assert.equal(rejected.headers['preference-applied'], 'tx=rollback')
  assert.equal((await api.get('/settings')).json.data.inventoryBuffer, 3)
  assert.notEqual(data.inventoryBuffer, 3)
})

test('a dry run needs no key, unlike other writes', async () => {
  const strict = await api.createService({ requireIdempotencyKey: true })
  const body = { firstname: 'Ann', surname: 'Lee', contact: { email: 'keyless@example.com' } }
  assertProblem(await post(strict, '/customers', body), 'idempotency_key_invalid', api.baseUrl)
  assert.equal((await post(strict, '/customers', body, dryRun)).status, 201)
})

test('dry runs have the documented shape', async () => {
  const document = (await api.get('/openapi.json')).json
  const check = createConformanceCheck(document)
  const operations: Record<string, string>[] = Object.values(document.paths).flatMap(path =>
    Object.values(path as object),
  )
  const contact = { email: 'shape@example.com' }
  const writes: [method: 'POST' | 'PUT', path: string, body: object][] = [
    ['POST', '/customers', { firstname: 'Ann', surname: 'Shape', contact }],
    ['PUT', '/customers/65432', { firstname: 'Jack' }],
    ['POST', '/orders', buildOrder([{ sku: 'TEE', quantity: 1 }])],
    ['POST', '/reservations', { lines: [{ sku: 'TEE', quantity: 1 }] }],
    ['POST', '/accounts', { username: 'shape', role: 'visitor' }],
    ['POST', `/accounts/${api.username}/rotate`, {}],
    ['PUT', '/settings', { inventoryBuffer: 7 }],
    ['PUT', '/mappings/stores/1001', { ecommerceLocationId: '777' }],
    ['PUT', '/stores/101', { inventoryBuffer: 2 }],
    ['POST', '/webhooks', { url: 'https://93.184.216.34/hook' }],
  ]
  for (const [method, path, body] of writes) {
    const response = await (method === 'POST' ? post : put)(api, path, body, dryRun)
    assert.ok(response.status < 300, `${path}: ${response.text}`)
    assert.equal(response.headers['preference-applied'], 'tx=rollback')
    const { operation, errors } = check(method, path, response)
    // The description names the fields that are null. The introduction excludes `ETag` and `Location`.
    const { description = '' } = operations.find(({ operationId }) => operationId === operation) ?? {}
    const [, nulls = ''] = /Null in a dry run unless sent: ([^.]*)\./.exec(description) ?? []
    const undocumented = errors.filter(error => {
      const [, field] = /^\/data\/(\w+) must be/.exec(error) ?? []
      if (field) return response.json.data[field] !== null || !nulls.includes(`\`${field}\``)
      return !/^(etag|location) is missing$/.test(error)
    })
    assert.deepEqual([path, undocumented], [path, []])
  }
})
