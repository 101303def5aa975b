import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { browserMissing, openPage } from '../support/browser.ts'
import { assertAccessible } from '../support/console/axe.ts'
import { type Console, toConsole } from '../support/console/console.ts'
import { startIdentityProvider, type TestIdentityProvider } from '../support/identity-provider.ts'
import { startTestApi, type TestApi } from '../support/service.ts'

const skip = browserMissing ?? false
let api: TestApi
let provider: TestIdentityProvider
let page: Console

before(async () => {
  provider = await startIdentityProvider(() => `${api.baseUrl}/console`)
  const environment = { ...provider.environment, OIDC_NAME: 'Acme & "Sons"', OIDC_ROLES: 'staff=*:maintainer' }
  api = await startTestApi({ environment })
  if (!skip) page = toConsole(await openPage(api.baseUrl))
})
after(async () => {
  await page?.close()
  await api?.stop()
  await provider.stop()
})

const button = 'Sign in with Acme & "Sons"'

/** Submits the forms of the provider: sign-in, then consent. */
async function signInAs(login: string) {
  await page.waitUntil(`document.querySelector('input[name="login"]')`)
  await page.evaluate(`(() => {
    document.querySelector('input[name="login"]').value = ${JSON.stringify(login)}
    document.querySelector('input[name="password"]').value = 'any'
    document.querySelector('form').submit()
  })()`)
  await page.waitUntil(`!document.querySelector('input[name="login"]') && document.querySelector('form, #console')`)
  await page.evaluate(`document.querySelector('input[value="consent"]')?.form.submit()`)
}

test('a person signs in with the provider and returns to the screen', { skip }, async () => {
  provider.people.set('ann', { email: 'ann@example.com', email_verified: true, groups: ['staff'] })
  await page.goTo(`${api.baseUrl}/console#syncs`)
  await page.waitForText(button)
  await assertAccessible(page, 'the sign-in page')
  await page.press(button)
  await signInAs('ann')
  await page.waitUntil(`document.querySelector('nav')`)
  assert.equal(await page.evaluate('location.href'), `${api.baseUrl}/console#/${api.service.name}/syncs`)
  await page.waitForText('ann@example.com')
  assert.equal(await page.evaluate('document.cookie'), '', 'no script gets the session')
  await page.evaluate('location.reload()')
  await page.waitUntil(`document.querySelector('nav')`)
})

test('signing out ends the session at the provider too', { skip }, async () => {
  await page.press('Sign out')
  await page.waitUntil(`location.href.startsWith(${JSON.stringify(provider.issuer)})`)
  const rows = await api.db.rows(sql`select from console_session`)
  assert.equal(rows.length, 0)
  await page.click(`document.querySelector('button[name="logout"]')`)
  await page.waitForText(button)
})

test('a person without a role reads the reason and the way out', { skip }, async () => {
  provider.people.set('eve', { email: 'eve@example.com', groups: [] })
  await page.goTo(`${api.baseUrl}/console`)
  await page.press(button)
  await signInAs('eve')
  await page.waitForText('The sign-in with the identity provider failed.')
  assert.equal(await page.evaluate('location.search'), '', 'the code is not in the history')
  await assertAccessible(page, 'the failed sign-in')
  await page.waitForText('use a password')
})

test('an unavailable provider leaves the form for passwords', { skip }, async () => {
  await provider.stop()
  await page.goTo(`${api.baseUrl}/console?state=x&code=y`)
  await page.waitForText('Sign in again.')
  await page.fill('Username', api.username)
  await page.fill('Password', api.password)
  await page.press('Sign in')
  await page.waitUntil(`document.querySelector('nav')`)
})
