import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { recheckIntervalMs } from '../../../src/auth/sign-in.ts'
import { sql } from '../../../src/database/db.ts'
import { authCacheTtlMs } from '../../../src/domain/accounts.ts'
import { addPassword, revoke } from '../../../src/store/accounts/accounts.ts'
import { assertProblem } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import {
  buildAuthorization,
  buildBasicAuth,
  buildCredentials,
  captureLog,
  sendBytes,
  startSecondServer,
} from '../../support/servers.ts'
import { startTestApi, type TestApi } from '../../support/service.ts'
import { clearFailures } from '../../support/voucher-shop.ts'

let api: TestApi
let other: Awaited<ReturnType<typeof startSecondServer>>
before(async () => {
  api = await startTestApi({ settings: { readsPerMinute: 'off' } })
  other = await startSecondServer(api)
})
after(async () => {
  await other.stop()
  await api.stop()
})

async function assertUnauthorized(authorization: string | undefined) {
  const response = await api.get('/stores', { authorization })
  assertProblem(response, 'invalid_credentials', api.baseUrl, '/stores')
  assert.equal(response.headers['www-authenticate'], 'Basic realm="Tillbridge", charset="UTF-8"')
  return response
}

test('a request with missing or malformed credentials gets a sign-in challenge', async () => {
  const { username, password } = api
  const right = Buffer.from(`${username}:${password}`).toString('base64')
  const invalidHeaders = [
    undefined,
    '',
    'Basic',
    'Basic ',
    'basic',
    'Bearer x',
    `Bearer ${right}`,
    right,
    `Digest ${right}`,
    'Basic !!!',
    'Basic :',
    'Basic ====',
    `Basic ${right}!`,
    `Basic ${right.slice(0, 4)} ${right.slice(4)}`,
    `Basic ${right.slice(0, 4)}*${right.slice(4)}`,
    `Basic ${right}==junk`,
    `Basic ${right}, Basic ${right}`,
    `Basic "${right}"`,
    `Basic ${encodeURIComponent(right)}%`,
    `Basic\t${right}`,
    buildBasicAuth(username),
    buildBasicAuth(''),
    buildBasicAuth(':'),
    buildBasicAuth(`:${password}`),
    buildBasicAuth(`${username}:`),
    buildBasicAuth(`${username} :${password}`),
    buildBasicAuth(`${username}:${password} `),
    buildBasicAuth(`${username.toUpperCase()}:${password}`),
    buildBasicAuth(`${username}:${password}:`),
    buildBasicAuth(`\0${username}:${password}`),
    buildBasicAuth(`${username}:${password}\0`),
    buildBasicAuth(`${username}:${password}\n`),
    buildBasicAuth(`${username}:\u007f${password}`),
    buildBasicAuth(Buffer.from(`${username}:\xff`, 'latin1')),
    `Basic ${'A'.repeat(8_000)}`,
  ]
  for (const authorization of invalidHeaders) await assertUnauthorized(authorization)
  await clearFailures(api)
})

test('the authentication scheme is case-insensitive', async () => {
  for (const scheme of ['Basic', 'basic', 'BASIC', 'bAsIc', 'Basic '])
    assert.equal(
      (
        await api.get('/stores', {
          authorization: buildBasicAuth(`${api.username}:${api.password}`).replace('Basic', scheme),
        })
      ).status,
      200,
    )
})

test('the first colon ends the username; the password is compared as UTF-8', async () => {
  for (const password of ['a:b', ':', 'pässwörd', 'пароль', '\u{1F511}', 'e\u0301']) {
    await assertUnauthorized(buildAuthorization(api, password))
    await assertUnauthorized(buildBasicAuth(Buffer.from(`${api.username}:${password}`, 'latin1')))
  }
  await clearFailures(api)
})

test('a repeated single-value header is rejected, even with the same value', async () => {
  const { authorization, 'x-service-name': name } = buildCredentials(api)
  const lines = {
    host: 'Host: a',
    authorization: `Authorization: ${authorization}`,
    'x-service-name': `X-Service-Name: ${name}`,
  }
  for (const [header, line] of Object.entries(lines))
    for (const second of [line, line.replace(/: .*/, ': other'), line.toLowerCase().replace(/:.*/, ':')]) {
      const all = [...Object.values(lines), second, 'Connection: close'].join('\r\n')
      const response = await sendBytes(api, `GET /stores HTTP/1.1\r\n${all}\r\n\r\n`)
      assert.match(response, /^HTTP\/1.1 400 /)
      assert.match(response, /"code":"duplicate_header"/)
      assert.ok(response.includes(`The header \`${header}\` can't be sent twice.`))
    }
})

test('an unknown username and a wrong password get the same response', async () => {
  const withoutVariableData = ({ status, headers, json }: Awaited<ReturnType<typeof assertUnauthorized>>) => {
    const { date: _, 'x-request-id': __, 'content-length': length, ...otherHeaders } = headers
    return { status, headers: otherHeaders, length, json: { ...json, requestId: '' } }
  }
  const wrong = withoutVariableData(await assertUnauthorized(buildAuthorization(api, 'wrong')))
  const unknown = withoutVariableData(await assertUnauthorized(buildBasicAuth('nobody:wrong')))
  assert.deepEqual(unknown, wrong)
})

test('a second password is valid immediately; a third ends the first soon', async () => {
  const colleague = await api.createAccount('visitor')
  const toStatusRequests = (password: string) => [
    async () => (await api.get('/stores', { authorization: buildAuthorization(colleague, password) })).status,
    async () =>
      (
        await other.sendRequest('/stores', {
          headers: { ...buildCredentials(colleague), authorization: buildAuthorization(colleague, password) },
        })
      ).status,
  ]
  for (const getStatus of toStatusRequests(colleague.password)) assert.equal(await getStatus(), 200)
  const second = await addPassword(api.db, api.keys, colleague.username)
  for (const getStatus of [...toStatusRequests(second), ...toStatusRequests(colleague.password)])
    assert.equal(await getStatus(), 200)
  const third = await addPassword(api.db, api.keys, colleague.username)
  for (const getStatus of [...toStatusRequests(third), ...toStatusRequests(second)])
    assert.equal(await getStatus(), 200)
  for (const getStatus of toStatusRequests(colleague.password)) await waitForStatus(401, getStatus)

  await revoke(api.db, colleague.username, { all: true })
  for (const getStatus of [...toStatusRequests(second), ...toStatusRequests(third)]) await waitForStatus(401, getStatus)
  await clearFailures(api)
})

test('a long response checks the account again and ends within 5 s', () => {
  assert.ok(recheckIntervalMs > authCacheTtlMs)
  assert.ok(authCacheTtlMs + recheckIntervalMs < 5_000)
})

const waitForStatus = (expected: number, getStatus: () => Promise<number>) =>
  waitUntil(async () => (await getStatus()) === expected, `status ${expected}`, 5_000)

test('a rejection for a low role names the required role', async () => {
  for (const [role, status] of [
    ['visitor', 403],
    ['maintainer', 403],
    ['admin', 200],
  ] as const) {
    const caller = await api.createAccount(role)
    assert.equal((await caller.get('/stores')).status, 200)
    const response = await caller.get('/settings')
    assert.equal(response.status, status)
    if (status === 403) {
      assertProblem(response, 'insufficient_role', api.baseUrl, '/settings')
      assert.equal(response.json.detail, 'This requires the role `admin`.')
    }
  }
})

test('passwords, queries and header values never appear in logs', async () => {
  const captured = captureLog('trace')
  const logged = await startSecondServer(api, { log: captured.log })
  const { authorization, 'x-service-name': name } = buildCredentials(api)
  const secretHeaders = {
    authorization,
    'x-service-name': name,
    'x-voucher-pin': 'canary-pin',
    cookie: 'canary-cookie',
  }
  try {
    for (const path of [
      '/stores',
      '/customers?email=canary%40example.com',
      '/customers?email=canary%0A',
      '/nowhere?canary=1',
      '/%zz?canary',
      '/settings',
      '/vouchers/1',
    ])
      await logged.sendRequest(path, { headers: secretHeaders })
    await logged.sendRequest('/stores', {
      headers: { ...secretHeaders, authorization: buildBasicAuth(`${api.username}:canary-password`) },
    })
    await logged.sendRequest('/stores', {
      headers: { ...secretHeaders, authorization: 'Bearer canary-token', 'x-request-id': 'canary id' },
    })
    await api.db.run(sql`alter table staff rename to staff_away`)
    assert.equal(
      (await logged.sendRequest('/staff?email=canary%40example.com', { headers: secretHeaders })).status,
      500,
    )
  } finally {
    await api.db.run(sql`alter table if exists staff_away rename to staff`)
    await logged.stop()
  }
  const logText = captured.text
  const lines = logText
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  assert.ok(lines.filter(({ msg }) => msg === 'request').length >= 9, 'a request has no log line')
  assert.ok(lines.some(({ msg }) => msg === 'internal_error'))
  assert.doesNotMatch(logText, /canary/)
  for (const secret of [api.password, authorization.slice(6)]) assert.ok(!logText.includes(secret))
  await clearFailures(api)
})
