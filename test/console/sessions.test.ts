import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createLink } from '../../src/auth/sessions.ts'
import { sql } from '../../src/database/db.ts'
import { assignRole, revoke } from '../../src/store/accounts/accounts.ts'
import { assertProblem } from '../support/problem.ts'
import { waitUntil } from '../support/processes.ts'
import { type Caller, startTestApi, type TestApi, type TestResponse } from '../support/service.ts'

let api: TestApi
let otherServer: TestApi
before(async () => {
  api = await startTestApi()
  otherServer = await startTestApi({ sharedWith: api })
})
after(async () => {
  await otherServer.stop()
  await api.stop()
})

/** The headers that a browser adds to the requests of the console's scripts. */
const ownPage = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
const json = { 'content-type': 'application/json' }

const send = (path: string, body: object, headers: Record<string, string> = ownPage) =>
  api.sendRaw(path, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) })
const signIn = ({ username, password }: Pick<Caller, 'username' | 'password'>, headers?: Record<string, string>) =>
  send('/console/session', { username, password }, headers)
const signInByLink = (link: string | undefined) => send('/console/session/link', { link })

const getCookie = ({ headers }: TestResponse) => String(headers['set-cookie']).split(';', 1)[0] ?? ''
const withCookie = (cookie: string, service = api.service.name) => ({ ...ownPage, cookie, 'x-service-name': service })
const getStores = (cookie: string, server: Pick<TestApi, 'sendRaw'> = api) =>
  server.sendRaw('/stores', { headers: withCookie(cookie) })

test('a password opens a session with a protected cookie for the API', async () => {
  const { timeZone, retailerName } = api.service.settings
  const opened = await signIn(api)
  assert.equal(opened.status, 200, opened.text)
  assert.deepEqual(opened.json.data, {
    username: api.username,
    services: [{ name: api.service.name, role: 'admin', timeZone, retailerName }],
  })
  const [cookie = '', ...attributes] = String(opened.headers['set-cookie']).split('; ')
  assert.match(cookie, /^__Host-tillbridge=[\w-]{43}$/)
  assert.deepEqual(attributes, ['Path=/', 'Secure', 'HttpOnly', 'SameSite=Strict'])

  assert.equal((await getStores(cookie)).status, 200)
  assert.equal((await getStores(cookie, otherServer)).status, 200, 'another process accepts it too')
  const session = await api.sendRaw('/console/session', { headers: { ...ownPage, cookie } })
  assert.deepEqual(session.json.data, opened.json.data)
  assert.deepEqual((await api.sendRaw('/console/session', { headers: ownPage })).json, { data: null })
})

test('the database contains nothing that could open a session or link', async () => {
  const token = getCookie(await signIn(api)).split('=')[1] ?? ''
  const link = (await createLink(api.db, api.keys, api.username)) ?? ''
  for (const secret of [token, link]) {
    const [row] = await api.db.rows<{ text: string }>(sql`
      select (select string_agg(s::text, '') from console_session s) || (select string_agg(l::text, '') from console_link l) as text`)
    for (const form of [secret, Buffer.from(secret, 'base64url').toString('hex'), Buffer.from(secret).toString('hex')])
      assert.equal(row?.text.includes(form), false)
  }
})

test('a session has the roles and services of its account', async () => {
  const { retailerName } = api.service.settings
  const visitor = await api.createAccount('visitor')
  const [assigned, unassigned] = [await api.createService(), await api.createService()]
  await assignRole(api.db, visitor.username, assigned.service, 'maintainer')
  const opened = await signIn(visitor)
  const cookie = getCookie(opened)
  assertProblem(await api.sendRaw('/settings', { headers: withCookie(cookie) }), 'insufficient_role', api.baseUrl)
  assertProblem(
    await api.sendRaw('/stores', { headers: withCookie(cookie, unassigned.service.name) }),
    'service_not_assigned',
    api.baseUrl,
  )
  assertProblem(await api.sendRaw('/stores', { headers: { ...ownPage, cookie } }), 'service_name_required', api.baseUrl)
  assert.deepEqual(
    opened.json.data.services,
    [
      { name: api.service.name, role: 'visitor', timeZone: 'UTC', retailerName },
      { name: assigned.service.name, role: 'maintainer', timeZone: 'UTC', retailerName },
    ].sort((a, b) => (a.name < b.name ? -1 : 1)),
  )
})

test('a page of another origin can neither sign in nor write', async () => {
  const cookie = getCookie(await signIn(api))
  const sendWrite = (headers: Record<string, string>) =>
    api.sendRaw('/accounts', {
      method: 'POST',
      headers: { ...json, cookie, 'x-service-name': api.service.name, ...headers },
      body: JSON.stringify({ username: `made${Math.random()}`, role: 'visitor' }),
    })
  const ownOrigin = api.baseUrl
  const foreign: Record<string, string>[] = [
    {},
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'cross-site', origin: ownOrigin },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: ownOrigin.replace('https', 'http') },
  ]
  for (const headers of foreign) {
    assertProblem(await sendWrite(headers), 'cross_origin_request', api.baseUrl, '/accounts')
    assertProblem(await signIn(api, headers), 'cross_origin_request', api.baseUrl, '/console/session')
  }
  for (const headers of [ownPage, { origin: ownOrigin }]) assert.equal((await sendWrite(headers)).status, 201)
  const rows = await api.db.rows(sql`select from account where username like 'made%'`)
  assert.equal(rows.length, 2)
})

test('signing out ends the session in every process', async () => {
  const cookie = getCookie(await signIn(api))
  assert.equal((await getStores(cookie, otherServer)).status, 200)
  const signedOut = await api.sendRaw('/console/session', { method: 'DELETE', headers: { ...ownPage, cookie } })
  assert.match(String(signedOut.headers['set-cookie']), /^__Host-tillbridge=; .*Max-Age=0$/)
  const response = await getStores(cookie)
  assertProblem(response, 'session_ended', api.baseUrl, '/stores')
  assert.equal(response.headers['www-authenticate'], 'Session realm="Tillbridge"', 'no browser asks for a password')
  await waitForEnd(cookie, otherServer)
})

/** Waits until a process rejects an ended session. */
async function waitForEnd(cookie: string, server: Pick<TestApi, 'sendRaw'>) {
  const readCode = async () => (await getStores(cookie, server)).json.code
  await waitUntil(async () => (await readCode()) === 'session_ended', 'the session has ended', 20_000)
}

test('a session ends with its password, its revocation or its account', async () => {
  const caller = await api.createAccount('visitor')
  const [passwordCookie, linkCookie] = [
    getCookie(await signIn(caller)),
    getCookie(await signInByLink(await createLink(api.db, api.keys, caller.username))),
  ]
  for (const cookie of [passwordCookie, linkCookie]) assert.equal((await getStores(cookie)).status, 200)
  const { json: rotated } = await api.request(`/accounts/${caller.username}/rotate`, { method: 'POST' })
  const fresh = getCookie(await signIn({ username: caller.username, password: rotated.data.password }))
  await revoke(api.db, caller.username, { all: false })
  for (const cookie of [passwordCookie, linkCookie]) await waitForEnd(cookie, api)
  assert.equal((await getStores(fresh)).status, 200)
  await revoke(api.db, caller.username, { all: true })
  await waitForEnd(fresh, api)
})

test('a session ends after 12 hours or an hour without requests', async () => {
  for (const [column, interval] of [
    ['begun_at', '12 hours 1 second'],
    ['seen_at', '1 hour 1 second'],
  ] as const) {
    const cookie = getCookie(await signIn(api))
    const expireSession =
      column === 'begun_at'
        ? sql`begun_at = now() - ${interval}::interval`
        : sql`seen_at = now() - ${interval}::interval`
    await api.db.run(sql`update console_session set ${expireSession}`)
    assertProblem(await getStores(cookie), 'session_ended', api.baseUrl)
  }
})

test('a used session stays open', async () => {
  const cookie = getCookie(await signIn(api))
  await api.db.run(sql`update console_session set seen_at = now() - interval '59 minutes'`)
  assert.equal((await getStores(cookie)).status, 200)
  const rows = await api.db.rows(sql`select from console_session where seen_at > now() - interval '1 minute'`)
  assert.equal(rows.length, 1)
})

test('a link signs in once within 60 seconds, even under concurrency', async () => {
  const link = await createLink(api.db, api.keys, api.username)
  const responses = await Promise.all([signInByLink(link), signInByLink(link)])
  assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 401])
  assert.equal((await getStores(getCookie(responses.find(({ status }) => status === 200) as TestResponse))).status, 200)
  assertProblem(await signInByLink(link), 'invalid_credentials', api.baseUrl, '/console/session/link')
  const late = await createLink(api.db, api.keys, api.username)
  await api.db.run(sql`update console_link set made_at = now() - interval '61 seconds'`)
  assertProblem(await signInByLink(late), 'invalid_credentials', api.baseUrl)
  assert.equal(await createLink(api.db, api.keys, 'nobody'), undefined)
})

test('session and Basic failures are counted together without blocking right passwords', async () => {
  const { username, password } = await api.createAccount('visitor')
  const wrong = { username, password: 'wrong' }
  for (let i = 0; i < 20; i++) {
    const response = await (i % 2 ? signIn(wrong) : api.sendRaw('/stores', { headers: buildBasicHeaders(wrong) }))
    // 429 unless a new minute has begun.
    assert.ok([401, 429].includes(response.status))
  }
  const responses = [await signIn(wrong), await signIn(wrong)]
  const rejected = responses.find(({ status }) => status === 429)
  if (rejected) assert.ok(Number(rejected.headers['retry-after']) > 0)
  const [counted] = await api.db.rows<{ failures: number }>(sql`select sum(failures)::integer as failures from failure`)
  assert.ok(Number(counted?.failures) >= 44, 'by account and by address, each')
  assert.equal((await signIn({ username, password })).status, 200)
  await api.db.run(sql`delete from failure`)
})

const buildBasicHeaders = ({ username, password }: { username: string; password: string }) => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
  'x-service-name': api.service.name,
})

test('a wrong password is rejected without a browser prompt, with field errors', async () => {
  const response = await signIn({ username: 'nobody', password: 'x' })
  assertProblem(response, 'invalid_credentials', api.baseUrl, '/console/session')
  assert.equal(response.headers['www-authenticate'], 'Session realm="Tillbridge"')
  assertProblem(await send('/console/session', { username: 1 }), 'invalid_body', api.baseUrl)
  assertProblem(
    await send('/console/session', {}, { ...ownPage, 'content-type': 'text/plain' }),
    'unsupported_media_type',
    api.baseUrl,
  )
  assertProblem(await api.sendRaw('/stores', { headers: ownPage }), 'session_ended', api.baseUrl)
})

test('a module is compressed only for clients that accept gzip', async () => {
  const [, path] = /<script type="module" src="([^"]+)"/.exec((await api.sendRaw('/console')).text) ?? []
  for (const [accepted, encoding] of [
    ['gzip, br', 'gzip'],
    ['gzip;q=0', undefined],
    ['identity', undefined],
  ] as const) {
    const { status, headers } = await api.sendRaw(`/${path}`, { headers: { 'accept-encoding': accepted } })
    assert.deepEqual([status, headers['content-encoding']], [200, encoding], accepted)
  }
})
