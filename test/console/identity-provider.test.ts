import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { sql } from '../../src/database/db.ts'
import {
  clientId,
  signInAtProvider,
  startIdentityProvider,
  type TestIdentityProvider,
} from '../support/identity-provider.ts'
import { assertProblem } from '../support/problem.ts'
import { createDirectory } from '../support/processes.ts'
import { startTestApi, type TestApi, type TestResponse } from '../support/service.ts'

let api: TestApi
let provider: TestIdentityProvider
let settings: Record<string, string>
let timeZone: string
let retailerName: string
before(async () => {
  provider = await startIdentityProvider(() => `${api.baseUrl}/console`)
  settings = {
    ...provider.environment,
    OIDC_ROLES:
      'admins=*:admin, staff=shop1:maintainer, everyone=shop1:visitor, staff=shop3:visitor, lost=missing:admin',
  }
  api = await startTestApi({ environment: settings })
  await api.createService()
  ;({ timeZone, retailerName } = api.service.settings)
})
after(async () => {
  await api?.stop()
  await provider.stop()
})

const ownPage = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
const path = '/console/session/provider'

const post = (target: string, body: object, cookie = '', headers = {}) =>
  api.sendRaw(target, {
    method: 'POST',
    headers: { ...ownPage, 'content-type': 'application/json', cookie, ...headers },
    body: JSON.stringify(body),
  })
const getCookies = ({ headers }: TestResponse) => (headers['set-cookie'] ?? []).map(line => line.split(';', 1)[0] ?? '')
const getSession = (response: TestResponse) =>
  getCookies(response).find(cookie => /^__Host-tillbridge=./.test(cookie)) ?? ''
const getStores = (cookie: string, service = 'shop1') =>
  api.sendRaw('/stores', { headers: { ...ownPage, cookie, 'x-service-name': service } })

/** Starts a sign-in. Returns the provider's page and the cookie of the attempt. */
async function startSignIn() {
  const started = await post(`${path}/start`, {})
  assert.equal(started.status, 200, started.text)
  return { url: String(started.json.data.url), cookie: getCookies(started)[0] ?? '' }
}

/** Signs a person in at the provider. Returns the cookie of the attempt and the provider's response. */
async function visitProvider(login: string) {
  const { url, cookie } = await startSignIn()
  const { search } = await signInAtProvider(url, login)
  return { cookie, response: search.slice(1) }
}

const complete = ({ cookie, response }: { cookie: string; response: string }) => post(path, { response }, cookie)
const signIn = async (login: string) => complete(await visitProvider(login))

/** Adds a person to the provider. */
function addPerson(login: string, groups: unknown, email = `${login}@example.com`) {
  provider.people.set(login, { email, email_verified: true, groups })
  return email
}

/** Returns the ID token of a token response with further claims. */
function withClaims({ id_token: token }: { id_token?: string }, more: Record<string, unknown>) {
  const [, payload = ''] = String(token).split('.')
  return provider.signToken({ ...JSON.parse(Buffer.from(payload, 'base64url').toString()), ...more })
}

const listAudit = async (username: string, service = 'shop1') => {
  const rows = await api.db.rows<{ fields: string[] }>(sql`
    select record::json->'fields' as fields from audit join service using (service_id)
     where name = ${service} and record::json->>'username' = ${username} order by changed_at`)
  return rows.map(({ fields }) => fields)
}

test('a person signs in with the roles of their groups', async () => {
  const email = addPerson('ann', ['staff', 'everyone', 'unrelated'])
  const { url, cookie } = await startSignIn()
  const { searchParams } = new URL(url)
  assert.equal(searchParams.get('redirect_uri'), `${api.baseUrl}/console`)
  assert.equal(searchParams.get('code_challenge_method'), 'S256')
  assert.match(cookie, /^__Host-tillbridge-sign-in=[\w-]+$/)

  const response = (await signInAtProvider(url, 'ann')).search.slice(1)
  const opened = await complete({ cookie, response })
  assert.equal(opened.status, 200, opened.text)
  assert.deepEqual(opened.json.data, {
    username: email,
    services: [
      { name: 'shop1', role: 'maintainer', timeZone, retailerName },
      { name: 'shop3', role: 'visitor', timeZone, retailerName },
    ],
  })
  const lines = opened.headers['set-cookie'] ?? []
  assert.match(lines[0] ?? '', /^__Host-tillbridge-sign-in=; .*Max-Age=0$/)
  assert.match(lines[1] ?? '', /^__Host-tillbridge=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict$/)
  for (const service of ['shop1', 'shop3']) assert.equal((await getStores(getSession(opened), service)).status, 200)
  assert.deepEqual(await listAudit(email), [['role']])
  assert.deepEqual(await listAudit(email, 'shop3'), [['role']])
})

test('each sign-in updates roles and keeps the account of the person', async () => {
  const email = addPerson('bob', 'everyone')
  const first = await signIn('bob')
  assert.deepEqual(first.json.data.services, [{ name: 'shop1', role: 'visitor', timeZone, retailerName }])
  provider.people.set('bob', { email: 'robert@example.com', groups: ['admins'] })
  const second = await signIn('bob')
  assert.deepEqual(second.json.data, {
    username: email,
    services: [
      { name: 'shop1', role: 'admin', timeZone, retailerName },
      { name: 'shop3', role: 'admin', timeZone, retailerName },
    ],
  })
  assert.deepEqual(await listAudit(email), [['role'], ['role']])
  await signIn('bob')
  assert.deepEqual(await listAudit(email), [['role'], ['role'], []])
})

test('a person without groups loses the account and its sessions', async () => {
  const email = addPerson('cem', ['everyone'])
  const session = getSession(await signIn('cem'))
  assert.equal((await getStores(session)).status, 200)
  addPerson('cem', [])
  const rejected = await signIn('cem')
  assertProblem(rejected, 'sign_in_failed', api.baseUrl, path)
  assert.match(rejected.json.detail, /^None of your groups .* OIDC_ROLES/)
  assert.equal((await api.db.rows(sql`select from account where username = ${email}`)).length, 0)
  assert.deepEqual(await listAudit(email), [['role'], ['role']])
})

test('a role in an unknown service is explained', async () => {
  addPerson('dora', ['lost'])
  const rejected = await signIn('dora')
  assertProblem(rejected, 'sign_in_failed', api.baseUrl, path)
  assert.match(rejected.json.detail, /missing, but no such service exists/)
})

test('a person never gets the account of a program or another person', async () => {
  const program = await api.createAccount('admin')
  for (const [login, email] of [
    ['eve', program.username],
    ['eva', program.username.toUpperCase()],
    ['ann2', 'ann@example.com'],
    ['tilly', 'tillbridge (command line)'],
    ['colon', 'a:b'],
  ] as const) {
    addPerson(login, ['everyone'], email)
    const rejected = await signIn(login)
    assertProblem(rejected, 'sign_in_failed', api.baseUrl, path)
    assert.match(rejected.json.detail, /belongs to another person or program/)
    assert.equal(getSession(rejected), '')
  }
})

test('a missing or unverified email address is explained', async () => {
  provider.people.set('finn', { groups: ['everyone'] })
  assert.match((await signIn('finn')).json.detail, /no claim `email`.*OIDC_USERNAME_CLAIM/)
  provider.people.set('finn', { groups: ['everyone'], email: 'ceo@example.com', email_verified: false })
  assert.match((await signIn('finn')).json.detail, /must be verified/)
})

test('a forged, foreign or missing state is rejected', async () => {
  addPerson('gus', ['everyone'])
  const ownAttempt = await visitProvider('gus')
  const foreignAttempt = await visitProvider('gus')
  const forged = new URLSearchParams(ownAttempt.response)
  forged.set('state', 'forged')
  const withoutState = new URLSearchParams(ownAttempt.response)
  withoutState.delete('state')
  for (const attempt of [
    { cookie: ownAttempt.cookie, response: foreignAttempt.response },
    { cookie: ownAttempt.cookie, response: String(forged) },
    { cookie: ownAttempt.cookie, response: String(withoutState) },
    { cookie: '', response: ownAttempt.response },
    { cookie: '__Host-tillbridge-sign-in=forged', response: ownAttempt.response },
    { cookie: `${ownAttempt.cookie.slice(0, -4)}AAAA`, response: ownAttempt.response },
  ]) {
    const rejected = await complete(attempt)
    assertProblem(rejected, 'sign_in_failed', api.baseUrl, path)
    assert.equal(getSession(rejected), '')
  }
  assert.equal((await complete(ownAttempt)).status, 200)
})

test('a replayed response opens no session, even if the provider accepts it', async () => {
  addPerson('hal', ['everyone'])
  const attempt = await visitProvider('hal')
  let recorded: Record<string, unknown> | undefined
  provider.tamper = context => {
    recorded ??= {
      ...context.body,
      id_token: withClaims(context.body, { email: 'hal@example.com', groups: ['everyone'] }),
    }
    Object.assign(context, { status: 200, body: recorded })
  }
  try {
    assert.equal((await complete(attempt)).status, 200)
    const replayed = await complete(attempt)
    assertProblem(replayed, 'sign_in_failed', api.baseUrl, path)
    assert.match(replayed.json.detail, /already completed/)
    assert.equal(getSession(replayed), '')
  } finally {
    provider.tamper = undefined
  }
  assert.match((await complete(attempt)).json.detail, /expired or was already used/)
})

test('an ID token that differs from the sign-in is rejected', async () => {
  addPerson('ida', ['everyone'])
  const now = Math.floor(Date.now() / 1_000)
  const { privateKey: foreignKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const cases: [string, (claims: Record<string, unknown>) => string, RegExp][] = [
    ['nonce', claims => provider.signToken({ ...claims, nonce: 'other' }), /another client or another sign-in/],
    ['no nonce', ({ nonce, ...claims }) => provider.signToken(claims), /malformed|another/],
    ['audience', claims => provider.signToken({ ...claims, aud: 'other' }), /another client or another sign-in/],
    ['issuer', claims => provider.signToken({ ...claims, iss: 'http://localhost:1' }), /another client/],
    ['expired', claims => provider.signToken({ ...claims, iat: now - 7200, exp: now - 3600 }), /clocks .* NTP/],
    ['issued later', claims => provider.signToken({ ...claims, nbf: now + 300 }), /clocks .* NTP/],
    ['signature', claims => provider.signToken(claims, foreignKey), /signature/],
  ]
  for (const [name, forge, detail] of cases) {
    const attempt = await visitProvider('ida')
    provider.tamper = ({ body }) => {
      const [, payload = ''] = String(body.id_token).split('.')
      body.id_token = forge(JSON.parse(Buffer.from(payload, 'base64url').toString()))
    }
    const rejected = await complete(attempt)
    provider.tamper = undefined
    assertProblem(rejected, 'sign_in_failed', api.baseUrl, path)
    assert.match(rejected.json.detail, detail, name)
    assert.equal(getSession(rejected), '', name)
  }
  assert.equal((await api.db.rows(sql`select from account where username = 'ida@example.com'`)).length, 0)
})

test('a clock that differs by seconds is tolerated', async () => {
  addPerson('jan', ['everyone'])
  const attempt = await visitProvider('jan')
  provider.tamper = ({ body }) => {
    const later = Math.floor(Date.now() / 1_000) + 20
    body.id_token = withClaims(body, { iat: later, nbf: later })
  }
  const opened = await complete(attempt)
  provider.tamper = undefined
  assert.equal(opened.status, 200, opened.text)
})

test('denied access and responses of another issuer are explained', async () => {
  addPerson('kim', ['everyone'])
  const { url, cookie } = await startSignIn()
  const state = new URL(url).searchParams.get('state')
  const respond = (more: Record<string, string>) =>
    complete({ cookie, response: String(new URLSearchParams({ state: String(state), iss: provider.issuer, ...more })) })
  assert.match((await respond({ error: 'access_denied' })).json.detail, /denied the access\. Ask its administrator/)
  assert.match((await respond({ error: '<b>x</b>' })).json.detail, /^The identity provider rejected the sign-in\.$/)
  assert.match((await respond({ code: 'x', iss: 'https://evil.example' })).json.detail, /malformed/)
  assert.match((await respond({ code: 'invented' })).json.detail, /expired or was already used/)
})

test('no header or body redirects the browser to another address', async () => {
  for (const headers of [{ host: 'evil.example' }, { 'x-forwarded-host': 'evil.example' }]) {
    const clientRequest = request(`${api.baseUrl}${path}/start`, {
      method: 'POST',
      ca: api.ca,
      servername: 'localhost',
      headers: { ...ownPage, 'content-type': 'application/json', ...headers },
    })
    const [response] = await once(clientRequest.end('{}'), 'response')
    const { data } = JSON.parse(await text(response))
    assert.equal(new URL(data.url).searchParams.get('redirect_uri'), `${api.baseUrl}/console`)
  }
  for (const body of [{ redirectUri: 'https://evil.example' }, { returnTo: '//evil.example' }])
    assertProblem(await post(`${path}/start`, body), 'invalid_body', api.baseUrl)
  const page = await api.sendRaw('/console?state=x&code=y&next=https://evil.example')
  assert.equal(page.status, 200)
  assert.doesNotMatch(page.text, /evil/)
})

test('a page of another origin can neither start nor complete a sign-in', async () => {
  addPerson('lea', ['everyone'])
  const { cookie, response } = await visitProvider('lea')
  for (const site of ['cross-site', 'same-site', 'none'])
    for (const [target, body] of [
      [`${path}/start`, {}],
      [path, { response }],
    ] as const)
      assertProblem(await post(target, body, cookie, { 'sec-fetch-site': site }), 'cross_origin_request', api.baseUrl)
})

test('people have neither passwords nor API keys', async () => {
  const email = addPerson('mia', ['everyone'])
  await signIn('mia')
  const account = `/accounts/${encodeURIComponent(email)}`
  const tag = String((await api.get(account)).headers.etag)
  for (const [method, target, body] of [
    ['PUT', account, { role: 'admin' }],
    ['POST', `${account}/rotate`, {}],
    ['POST', `${account}/keys`, { name: 'key' }],
  ] as const) {
    const headers = { 'content-type': 'application/json', 'if-match': tag }
    const response = await api.request(target, { method, headers, body: JSON.stringify(body) })
    assertProblem(response, 'account_managed_by_provider', api.baseUrl)
  }
  assert.equal((await api.get(account)).json.data.role, 'visitor')
})

test('an admin ends the sessions of a person', async () => {
  const email = addPerson('noa', ['everyone'])
  const session = getSession(await signIn('noa'))
  const revoked = await api.request(`/accounts/${encodeURIComponent(email)}/revoke`, { method: 'POST' })
  assert.equal(revoked.status, 200, revoked.text)
  const rows = await api.db.rows(sql`select from console_session where username = ${email}`)
  assert.equal(rows.length, 0)
  assert.notEqual(session, '')
})

test('signing out ends the session and names the page of the provider', async () => {
  addPerson('oli', ['everyone'])
  const cookie = getSession(await signIn('oli'))
  const signedOut = await api.sendRaw('/console/session', { method: 'DELETE', headers: { ...ownPage, cookie } })
  const url = new URL(signedOut.json.data.signOutUrl)
  assert.equal(url.origin, provider.issuer)
  assert.equal(url.searchParams.get('post_logout_redirect_uri'), `${api.baseUrl}/console`)
  assert.equal(url.searchParams.get('client_id'), clientId)
  assertProblem(await getStores(cookie), 'session_ended', api.baseUrl)
  const local = await post('/console/session', { username: api.username, password: api.password })
  const ended = await api.sendRaw('/console/session', {
    method: 'DELETE',
    headers: { ...ownPage, cookie: getSession(local) },
  })
  assert.equal(ended.json.data, null)
})

test('an expired code or attempt is rejected', async () => {
  addPerson('pia', ['everyone'])
  const attempt = await visitProvider('pia')
  const realNow = Date.now
  try {
    Date.now = () => realNow() + 601_000
    assert.match((await complete(attempt)).json.detail, /more than 10 minutes ago/)
    Date.now = () => realNow() + 120_000
    assert.match((await complete(attempt)).json.detail, /expired or was already used/)
  } finally {
    Date.now = realNow
  }
})

test('the database contains no token of the provider', async () => {
  const [row] = await api.db.rows<{ text: string }>(sql`
    select concat((select string_agg(a::text, '') from account a), (select string_agg(s::text, '') from console_sign_in s),
                  (select string_agg(r::text, '') from audit r)) as text`)
  assert.match(String(row?.text), /ann@example\.com/)
  assert.doesNotMatch(String(row?.text), /eyJ/)
})

test('an unavailable provider leaves other sign-ins working', async () => {
  addPerson('quy', ['everyone'])
  const attempt = await visitProvider('quy')
  await provider.stop()
  try {
    const response = await complete(attempt)
    assertProblem(response, 'identity_provider_unavailable', api.baseUrl, path)
    assert.ok(Number(response.headers['retry-after']) > 0)
    assert.equal((await post('/console/session', { username: api.username, password: api.password })).status, 200)
  } finally {
    await provider.restart()
  }
  assert.equal((await signIn('quy')).status, 200)
})

test('a client secret from a file signs people in', async () => {
  const email = addPerson('sue', ['everyone'])
  const file = join(createDirectory(), 'client-secret')
  const { OIDC_CLIENT_SECRET: secret = '', ...otherSettings } = settings
  writeFileSync(file, `${secret}\n`)
  const environment = { ...otherSettings, OIDC_CLIENT_SECRET_FILE: file, PUBLIC_URL: api.baseUrl }
  const configured = await startTestApi({ sharedWith: api, environment })
  try {
    const { cookie, response } = await visitProvider('sue')
    const opened = await configured.sendRaw(path, {
      method: 'POST',
      headers: { ...ownPage, 'content-type': 'application/json', cookie },
      body: JSON.stringify({ response }),
    })
    assert.equal(opened.status, 200, opened.text)
    assert.equal(opened.json.data.username, email)
  } finally {
    await configured.stop()
  }
})

test('a wrong client secret is explained without the secret', async () => {
  addPerson('rob', ['everyone'])
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const environment = { ...settings, OIDC_CLIENT_SECRET: 'the wrong secret of this client', PUBLIC_URL: api.baseUrl }
  const misconfigured = await startTestApi({ sharedWith: api, environment, log })
  try {
    const attempt = await visitProvider('rob')
    const rejected = await misconfigured.sendRaw(path, {
      method: 'POST',
      headers: { ...ownPage, 'content-type': 'application/json', cookie: attempt.cookie },
      body: JSON.stringify({ response: attempt.response }),
    })
    assertProblem(rejected, 'sign_in_failed', api.baseUrl, path)
    assert.match(rejected.json.detail, /OIDC_CLIENT_SECRET/)
    const logged = lines.find(({ msg }) => msg === 'sign-in with the identity provider failed')
    assert.equal(logged?.reason, 'OAUTH_WWW_AUTHENTICATE_CHALLENGE')
    for (const secret of ['the wrong secret', attempt.response, attempt.cookie.split('=')[1] ?? ''])
      assert.equal(JSON.stringify(lines).includes(secret), false)
  } finally {
    await misconfigured.stop()
  }
})
