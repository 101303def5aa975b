import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { raw, sql } from '../../../src/database/db.ts'
import { withoutRequestData } from '../../support/problem.ts'
import { type Caller, startTestApi, type TestResponse } from '../../support/service.ts'
import { clearFailures, voucherSettings } from '../../support/voucher-shop.ts'
import { callOperation, findStringFields, listOperations, type Operation, type RequestChanges } from './documented.ts'
import { createNamedShop } from './named-shop.ts'

// Tests the roles and the separation of services for every operation of the OpenAPI document that requires credentials, so
// new operations are tested automatically.

const api = await startTestApi({ settings: voucherSettings, environment: { WEBHOOK_NETWORKS: '127.0.0.0/8' } })
after(() => api.stop())
const operations = listOperations((await api.sendRaw('/openapi.json')).json)
assert.ok(operations.length >= 60, `${operations.length}`)

test('each operation is rejected for exactly the documented roles', async () => {
  const [visitor, maintainer, admin] = [await api.createAccount('visitor'), await api.createAccount('maintainer'), api]
  const requiredRoles = new Map<string, number>()
  for (const operation of operations) {
    await clearFailures(api)
    const getRequiredRole = async (caller: Caller) => {
      const { json } = await callOperation(caller, operation)
      return json?.code === 'insufficient_role' ? /`(\w+)`/.exec(json.detail)?.[1] : undefined
    }
    const role = await getRequiredRole(visitor)
    requiredRoles.set(role ?? 'visitor', (requiredRoles.get(role ?? 'visitor') ?? 0) + 1)
    assert.equal(role ?? 'visitor', operation.role, operation.id)
    assert.equal(await getRequiredRole(maintainer), role === 'admin' ? role : undefined, operation.id)
    assert.equal(await getRequiredRole(admin), undefined, operation.id)
  }
  for (const role of ['visitor', 'maintainer', 'admin']) assert.ok((requiredRoles.get(role) ?? 0) > 5, role)
})

test('an operation without a service name returns nothing and changes nothing', async () => {
  const own = await api.createService({ ...voucherSettings, requestLogRetentionDays: 0 })
  const before = await readServiceRows(own)
  for (const operation of operations)
    for (const name of [undefined, '', ' ']) {
      const callerWithoutService: Caller = {
        ...own,
        request: (path, options = {}) =>
          own.request(path, { ...options, headers: { ...options.headers, 'x-service-name': name } }),
      }
      const { status, text } = await callOperation(callerWithoutService, operation)
      assert.equal(status, 400, `${operation.id} ${JSON.stringify(name)}`)
      if (operation.method !== 'HEAD') assert.match(text, /"code":"service_name_required"/, operation.id)
    }
  assert.deepEqual(await readServiceRows(own), before)
})

test('a webhook delivery sent to the API is unauthenticated and changes nothing', async () => {
  const own = await api.createService({ ...voucherSettings, requestLogRetentionDays: 0 })
  const before = await readServiceRows(own)
  const headers = {
    'content-type': 'application/json',
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
    'webhook-signature': 'v1,c2lnbmVk',
    'x-service-name': own.service.name,
  }
  for (const { id, path } of operations) {
    const body = JSON.stringify({ type: 'changes', data: [] })
    const { status } = await api.sendRaw(path.replace(/\{\w+\}/, 'any'), { method: 'POST', headers, body })
    assert.ok(status === 401 || status === 405, `${id}: ${status}`)
  }
  assert.deepEqual(await readServiceRows(own), before)
})

/** Returns an ID of the same form that no record has. */
const toUnknownName = (name: string) =>
  name.replace(/[a-z\d]/i, first => (/[9z]/i.test(first) ? '7' : String.fromCharCode(first.charCodeAt(0) + 1)))

/**
 * Returns the visible part of a response without the requested name. Records created here have their own identifiers.
 */
const withoutName = (response: TestResponse, name: string) =>
  response.status < 300
    ? { status: response.status }
    : JSON.parse(
        JSON.stringify(withoutRequestData(response))
          .replaceAll(JSON.stringify(name).slice(1, -1), 'NAME')
          // A telephone number can't be a name: the error quotes the first character of what was sent.
          .replaceAll(/the character `.`/gu, 'a character'),
      )

/** Returns all rows of a service by table. Leaves out the last uses of accounts, which are stored up to a second later. */
async function readServiceRows({ service }: Caller) {
  const tables = await api.db.rows<{ name: string }>(
    sql`select table_name as name from information_schema.columns where column_name = 'service_id' and table_schema = 'public' and table_name <> 'account_use'`,
  )
  const rows = await Promise.all(
    tables.map(({ name }) =>
      api.db.rows<{ row: string }>(
        sql`select t::text as row from ${raw(name)} t where service_id = ${service.id} order by 1`,
      ),
    ),
  )
  return Object.fromEntries(tables.map(({ name }, i) => [name, rows[i]?.map(({ row }) => row)]))
}

/** True for addresses, which a shopper enters and which identify no record. */
const isFreeText = (name: string) => /Address$/.test(name)

// Settings identify no record, and change all later responses. Usernames belong to the installation, not to a service.
const excluded = ['updateSettings', 'createAccount']

test("another service's identifier gets the same response as an unknown identifier", async () => {
  // The matrix's own requests would appear in the request log a second late, among those of other accounts.
  const { shop, names: namesByType } = await createNamedShop(api, { requestLogRetentionDays: 0 })
  const names = Object.values<string>(namesByType)
  // These names also occur in queries and bodies. The other names occur only in paths.
  const { customer, email, storeNumber, sku, orderNumber, voucher, validation } = namesByType
  const sentNames = [customer, email, storeNumber, sku, orderNumber, voucher, validation]
  const own = await api.createService(voucherSettings)
  const before = await readServiceRows(shop)
  let requestCount = 0
  const assertSameResponse = async (operation: Operation, name: string, withName: (name: string) => RequestChanges) => {
    const [foreign, unknown] = [
      await callOperation(own, operation, withName(name)),
      await callOperation(own, operation, withName(toUnknownName(name))),
    ]
    requestCount++
    assert.doesNotMatch(foreign.text, /canary/i, operation.id)
    assert.deepEqual(withoutName(foreign, name), withoutName(unknown, toUnknownName(name)), `${operation.id} ${name}`)
  }
  for (const operation of operations.filter(({ id }) => !excluded.includes(id))) {
    for (const name of names) {
      await clearFailures(api)
      assert.ok(!names.includes(toUnknownName(name)), name)
      if (operation.path.includes('{')) await assertSameResponse(operation, name, identifier => ({ identifier }))
      if (!sentNames.includes(name)) continue
      for (const parameter of Object.keys(operation.query))
        await assertSameResponse(operation, name, text => ({ query: { [parameter]: text } }))
      for (const replaceField of Object.values(findStringFields(operation.body, isFreeText)))
        await assertSameResponse(operation, name, text => ({ body: replaceField(text) as object }))
    }
  }
  assert.ok(requestCount > 1_000, `${requestCount}`)
  assert.deepEqual(await readServiceRows(shop), before)
})
