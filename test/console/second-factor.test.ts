import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { TOTP } from 'otpauth'
import decodeQR from 'qr/decode.js'
import { acceptCode } from '../../src/auth/second-factor.ts'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { sql } from '../../src/database/db.ts'
import { addPassword } from '../../src/store/accounts/accounts.ts'
import { reencrypt } from '../../src/store/shards/secret-rotation.ts'
import { browserMissing, type Page } from '../support/browser.ts'
import { assertAccessible } from '../support/console/axe.ts'
import { openConsole } from '../support/console/console.ts'
import { assertProblem } from '../support/problem.ts'
import { waitUntil } from '../support/processes.ts'
import { type Caller, startTestApi, type TestApi, type TestResponse } from '../support/service.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.stop())

const ownPage = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
const path = '/console/session/second-factor'
const post = (target: string, body: object, cookie = '') =>
  api.sendRaw(target, {
    method: 'POST',
    headers: { ...ownPage, 'content-type': 'application/json', cookie },
    body: JSON.stringify(body),
  })
const getCookie = ({ headers }: TestResponse) => String(headers['set-cookie']).split(';', 1)[0] ?? ''
const signIn = ({ username, password }: Pick<Caller, 'username' | 'password'>, code?: string) =>
  post('/console/session', { username, password, ...(code !== undefined && { code }) })
/** Returns the code of a secret after `steps` of 30 seconds. */
const getCode = (secret: string, steps = 0) => new TOTP({ secret }).generate({ timestamp: Date.now() + steps * 30_000 })

/** Deletes the counted attempts and sets the last step back, as if minutes had passed. */
const letTimePass = () =>
  api.db.run(sql`with forgotten as (delete from failure) update second_factor set last_step = last_step - 10`)

/** Adds a second factor to a new account. */
async function enrol(caller: Caller) {
  const cookie = getCookie(await signIn(caller))
  const { secret, enrolment } = (await post(`${path}/start`, {}, cookie)).json.data
  const confirmed = await post(path, { enrolment, code: getCode(secret) }, cookie)
  assert.equal(confirmed.status, 200, confirmed.text)
  await letTimePass()
  return { secret: String(secret), recoveryCodes: confirmed.json.data.recoveryCodes as string[] }
}

test('an account with a second factor signs in with a code, once', async () => {
  const caller = await api.createAccount('visitor')
  const { secret } = await enrol(caller)
  const withoutCode = await signIn(caller)
  assertProblem(withoutCode, 'second_factor_required', api.baseUrl, '/console/session')
  assert.equal(withoutCode.headers['set-cookie'], undefined)
  assertProblem(await signIn(caller, '000000'), 'second_factor_required', api.baseUrl)
  assertProblem(await signIn({ ...caller, password: 'wrong' }, getCode(secret)), 'invalid_credentials', api.baseUrl)
  const code = getCode(secret)
  const responses = await Promise.all([signIn(caller, code), signIn(caller, code)])
  assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 401])
  assertProblem(await signIn(caller, getCode(secret, -1)), 'second_factor_required', api.baseUrl)
})

test('at most five codes of an account are tried per minute', async () => {
  const caller = await api.createAccount('visitor')
  const { secret } = await enrol(caller)
  const statuses: number[] = []
  for (let i = 0; i < 12; i++) statuses.push((await signIn(caller, '123456')).status)
  assert.ok(statuses.includes(429), 'also if a new minute begins in between')
  if (statuses.at(-1) === 429) assertProblem(await signIn(caller, getCode(secret)), 'too_many_failures', api.baseUrl)
  await letTimePass()
  assert.equal((await signIn(caller, getCode(secret))).status, 200)
})

test('each recovery code replaces the app once', async () => {
  const caller = await api.createAccount('visitor')
  const { recoveryCodes } = await enrol(caller)
  assert.equal(new Set(recoveryCodes).size, 10)
  assert.equal((await signIn(caller, recoveryCodes[0])).status, 200)
  assertProblem(await signIn(caller, recoveryCodes[0]), 'second_factor_required', api.baseUrl)
  assert.equal((await signIn(caller, recoveryCodes[1]?.toUpperCase())).status, 200)
})

test('programs need an API key once the account has a second factor', async () => {
  const caller = await api.createAccount('maintainer')
  const created = await api.request(`/accounts/${caller.username}/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'program' }),
  })
  await enrol(caller)
  await waitUntil(
    async () => (await caller.get('/stores')).json.code === 'second_factor_required',
    'the password alone is rejected',
    20_000,
  )
  const authorization = `Basic ${created.json.data.apiKey}`
  assert.equal((await caller.get('/stores', { authorization })).status, 200)
})

test('the database has neither the secret nor a recovery code', async () => {
  const caller = await api.createAccount('visitor')
  const { secret, recoveryCodes } = await enrol(caller)
  const [row] = await api.db.rows<{ text: string }>(sql`
    select string_agg(f::text, '') || (select string_agg(record, '') from audit) as text from second_factor f`)
  for (const value of [secret, ...recoveryCodes])
    for (const form of [value, Buffer.from(value).toString('hex')]) assert.equal(row?.text.includes(form), false)
  assert.match(String(row?.text), /POST \/console\/session\/second-factor/)
})

test('a rotation of the secret key encrypts second factors again', async () => {
  const caller = await api.createAccount('visitor')
  const { secret } = await enrol(caller)
  const newest = deriveKeys(randomBytes(32))
  const undone = new Error('rolled back')
  const rotation = api.db.transaction(async tx => {
    await assert.rejects(acceptCode(tx, newest, caller.username, getCode(secret)), /another secret/)
    await reencrypt(tx, { ...newest, otherKeys: [api.keys] }, () => {})
    assert.equal(await acceptCode(tx, newest, caller.username, getCode(secret)), true)
    throw undone
  })
  await assert.rejects(rotation, undone)
})

test('a secret of another account or a second enrolment is rejected', async () => {
  const [caller, other] = [await api.createAccount('visitor'), await api.createAccount('visitor')]
  const [cookie, otherCookie] = [getCookie(await signIn(caller)), getCookie(await signIn(other))]
  const { secret, enrolment } = (await post(`${path}/start`, {}, cookie)).json.data
  const confirmation = { enrolment, code: getCode(secret) }
  assertProblem(await post(path, confirmation, otherCookie), 'second_factor_required', api.baseUrl, path)
  assert.equal((await post(path, confirmation, cookie)).status, 200)
  assertProblem(await post(path, confirmation, cookie), 'second_factor_required', api.baseUrl, path)
  assertProblem(await post(`${path}/start`, {}), 'session_ended', api.baseUrl)
})

/** Draws the page's QR code, four pixels per module, and returns its text. */
async function scanQrCode(page: Pick<Page, 'evaluate'>): Promise<string> {
  const { width, pixels } = await page.evaluate<{ width: number; pixels: number[] }>(`(() => {
    const svg = document.querySelector('form svg')
    const width = svg.viewBox.baseVal.width * 4
    const context = new OffscreenCanvas(width, width).getContext('2d')
    context.scale(4, 4)
    for (const shape of svg.children) {
      context.fillStyle = getComputedStyle(shape).fill
      context.fill(new Path2D(shape.getAttribute('d') ?? 'M0 0h1000v1000h-1000z'))
    }
    return { width, pixels: [...context.getImageData(0, 0, width, width).data] }
  })()`)
  return decodeQR({ width, height: width, data: Uint8Array.from(pixels) })
}

test('a person adds a second factor in the console and uses it', { skip: browserMissing ?? false }, async () => {
  const caller = await api.createAccount('visitor')
  const page = await openConsole(api, caller)
  try {
    await page.show('second-factor')
    await page.press('Add a second factor')
    await page.waitUntil(`document.querySelector('form code')`)
    const secret = await page.evaluate<string>(`document.querySelector('form code').innerText`)
    await assertAccessible(page, 'the enrolment')
    const scanned = new URL(await scanQrCode(page))
    assert.equal(`${scanned.protocol}//${scanned.host}`, 'otpauth://totp')
    assert.equal(decodeURIComponent(scanned.pathname), `/Tillbridge:${caller.username}`)
    assert.equal(scanned.searchParams.get('secret'), secret)
    assert.deepEqual(page.pageErrors, [])
    assert.ok(page.requests.length > 0 && !page.requests.some(url => url.includes(secret)))
    await page.fill('Code', getCode(secret))
    await page.press('Confirm')
    await page.waitForText('Second factor added.')
    await letTimePass()
    await page.press('Sign out')
    await page.fill('Username', caller.username)
    await page.fill('Password', await api.db.transaction(tx => addPassword(tx, api.keys, caller.username)))
    await page.press('Sign in')
    await page.waitForText('The account has a second factor.')
    await page.fill('Code', getCode(secret))
    await assertAccessible(page, 'the code')
    await page.press('Sign in')
    await page.waitUntil(`document.querySelector('nav')`)
  } finally {
    await page.close()
  }
})
