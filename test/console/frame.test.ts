import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createLink } from '../../src/auth/sessions.ts'
import { sql } from '../../src/database/db.ts'
import { assignRole } from '../../src/store/accounts/accounts.ts'
import { browserMissing, openPage } from '../support/browser.ts'
import { assertAccessible } from '../support/console/axe.ts'
import { type Console, route, toConsole } from '../support/console/console.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'

const skip = browserMissing ?? false
let api: TestApi
let visitor: Caller
let otherCaller: Caller
let page: Console

before(async () => {
  api = await startTestApi()
  visitor = await api.createAccount('visitor')
  otherCaller = await api.createService({ retailerName: 'Luma' })
  await assignRole(api.db, visitor.username, otherCaller.service, 'admin')
  if (skip) return
  page = toConsole(await openPage(api.baseUrl))
  await page.goTo(`${api.baseUrl}/console`)
})
after(async () => {
  await page?.close()
  await api.stop()
})

const visitorScreens = [
  'Overview',
  'All services',
  'Search',
  'Orders',
  'Sales',
  'Returns',
  'Customers',
  'Products',
  'Stock',
  'Stores',
  'Staff',
  'Syncs',
  'Back office',
  'Second factor',
]
const screens = `[...document.querySelectorAll('nav a')].map(link => link.innerText)`

test('a wrong password is one line, with the request in its details', { skip }, async () => {
  await page.waitUntil(`document.querySelector('form')`)
  await assertAccessible(page, 'the sign-in page')
  await page.fill('Username', visitor.username)
  await page.fill('Password', 'guessed')
  await page.press('Sign in')
  await page.waitForText('Wrong username or password.')
  const readAlert = () => page.evaluate<string>(`document.querySelector('[role="alert"]').innerText`)
  assert.match(await readAlert(), /^Wrong username or password\.\s+Details$/)
  await page.click(`document.querySelector('[role="alert"] summary')`)
  const alert = await readAlert()
  assert.match(alert, /invalid_credentials [\w-]{36}$/m)
  assert.match(alert, /If you lost the password, ask an admin to rotate it/)
  await assertAccessible(page, 'a wrong password')
  await page.click(`document.querySelector('[type="checkbox"]')`)
  await page.waitUntil(`document.querySelector('[name="password"]').type === 'text'`)
  await page.click(`document.querySelector('[type="checkbox"]')`)
})

test('a right password opens exactly the screens of the role', { skip }, async () => {
  await page.fill('Password', visitor.password)
  await page.press('Sign in')
  await page.waitUntil(`document.querySelector('nav')`)
  assert.deepEqual(await page.evaluate(screens), visitorScreens)
  await page.show('settings')
  await page.waitForText('No access to Settings')
  await page.waitForText(`Your role in ${visitor.service.name} is visitor.`)
  await assertAccessible(page, 'a screen without access')
  await page.press('Open the overview')
  await page.waitUntil(`document.querySelector('main h1')?.innerText === 'Overview'`)
  assert.equal(await page.evaluate('document.cookie'), '', 'no script gets the session')
})

test('an account with several services chooses one and gets its role', { skip }, async () => {
  assert.deepEqual(
    await page.evaluate<string[]>(`[...document.querySelector('select.service').options].map(option => option.text)`),
    [api.service.name, `Luma (${otherCaller.service.name})`],
  )
  await page.fill('Service', otherCaller.service.name)
  await page.waitUntil(`${screens}.length > ${visitorScreens.length}`)
  await page.show('accounts')
  await page.waitForText(otherCaller.username)
  await page.evaluate('location.reload()')
  await page.waitUntil(`${screens}.includes('Team')`)
  await page.fill('Service', api.service.name)
  await page.waitUntil(`${screens}.length === ${visitorScreens.length}`)
})

test('the address has the service, so that a link opens it', { skip }, async () => {
  const readHash = () => page.evaluate<string>('location.hash')
  const other = `#/${otherCaller.service.name}`
  await page.evaluate(`location.hash = '${other}/accounts'`)
  await page.waitForText(otherCaller.username)
  assert.equal(await page.evaluate(`document.querySelector('select.service').value`), otherCaller.service.name)
  assert.equal(await page.evaluate(`document.querySelector('nav a[aria-current]').hash`), `${other}/accounts`)
  await page.show('staff')
  assert.equal(await readHash(), `${other}/staff`)
  await page.fill('Service', api.service.name)
  await page.waitUntil(`location.hash === '#/${api.service.name}/staff'`)
  await page.evaluate('history.back()')
  await page.waitUntil(`document.querySelector('select.service').value === '${otherCaller.service.name}'`)
  await page.evaluate(`location.hash = '#/unknown/staff'`)
  await page.waitForText('No access to unknown')
  await assertAccessible(page, 'a service without access')
  await page.press(`Open ${api.service.name}`)
  await page.waitUntil(`${screens}.length === ${visitorScreens.length}`)
})

test('on a phone, a menu lists the screens in groups', { skip }, async t => {
  t.after(() => page.setAppearance({}))
  await page.setAppearance({ width: 390, height: 800 })
  const isListed = `document.querySelector('nav a').checkVisibility()`
  await page.waitUntil(`document.querySelector('nav .menu')`)
  assert.equal(await page.evaluate(isListed), false)
  await page.click(`document.querySelector('nav .menu')`)
  await page.waitUntil(isListed)
  assert.ok(await page.evaluate(`document.querySelector('nav .group').checkVisibility()`))
  await assertAccessible(page, 'the menu')
  await page.press('Syncs')
  await page.waitUntil(`document.querySelector('main h1')?.innerText === 'Syncs'`)
  assert.equal(await page.evaluate(isListed), false)
  assert.match(await page.evaluate(`document.querySelector('nav .menu').innerText`), /^Menu\s+Syncs$/)
})

test('a keyboard user can skip the navigation', { skip }, async () => {
  await page.evaluate(`document.body.focus(), document.activeElement.blur()`)
  await page.evaluate(`document.querySelector('.skip').focus()`)
  await page.waitUntil(`document.querySelector('.skip').getBoundingClientRect().top >= 0`)
  await page.evaluate(`document.querySelector('.skip').click()`)
  assert.equal(await page.evaluate(`document.activeElement.id`), 'content')
})

test('an ended session leads to the sign-in page', { skip }, async () => {
  await api.db.run(sql`delete from console_session`)
  // A process can cache a session for two seconds.
  await page.evaluate(`new Promise(done => setTimeout(done, 2_200))`)
  await page.show('syncs')
  await page.waitForText('Your console session has expired.')
  await page.fill('Username', visitor.username)
  await page.fill('Password', visitor.password)
  await page.press('Sign in')
  await page.press('Sign out')
  await page.waitUntil(`document.querySelector('input[type="password"]')`)
  const rows = await api.db.rows(sql`select from console_session`)
  assert.equal(rows.length, 0)
})

test('signing in again keeps the service in the address', { skip }, async () => {
  const signIn = async () => {
    await page.fill('Username', visitor.username)
    await page.fill('Password', visitor.password)
    await page.press('Sign in')
    await page.waitUntil(`document.querySelector('select.service')`)
  }
  await page.goTo('about:blank')
  await page.goTo(`${api.baseUrl}/console`)
  await signIn()
  const service = await page.evaluate<string>(`document.querySelector('select.service').value`)
  // Another tab has selected another service.
  const otherNames = [api, otherCaller].map(element => element.service.name).filter(name => name !== service)
  await page.evaluate(`localStorage.setItem('tillbridge service', ${JSON.stringify(otherNames[0])})`)
  await api.db.run(sql`delete from console_session`)
  await page.evaluate(`new Promise(done => setTimeout(done, 2_200))`)
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await page.waitForText('Your console session has expired.')
  await signIn()
  assert.equal(await page.evaluate(`location.hash.split('/')[1]`), service)
  assert.equal(await page.evaluate(`document.querySelector('select.service').value`), service)
  await page.press('Sign out')
  await page.waitUntil(`document.querySelector('input[type="password"]')`)
})

test('a used link explains how to get another one', { skip }, async () => {
  await page.goTo('about:blank')
  await page.goTo(`${api.baseUrl}/console#link=used`)
  await page.waitForText('Run tillbridge console for a new one.')
  assert.equal(await page.evaluate('location.hash'), '')
})

test('a link pasted into an open page signs in its own account', { skip }, async () => {
  const paste = async (username: string) => {
    const link = await createLink(api.db, api.keys, username)
    await page.evaluate(`location.hash = 'link=${link}'`)
    await page.waitUntil(`document.querySelector('.who')?.innerText.startsWith(${JSON.stringify(username)})`)
    assert.equal(await page.evaluate(route), '#')
  }
  await page.waitUntil(`document.querySelector('input[type="password"]')`)
  await paste(visitor.username)
  await page.fill('Service', api.service.name)
  await page.waitUntil(`${screens}.length === ${visitorScreens.length}`)
  await page.show('syncs')
  await paste(api.username)
  await page.waitUntil(`${screens}.includes('Team')`)
})

/** Signs the admin in with an empty browser cache. */
async function signInAgain() {
  await page.clearCache()
  await page.goTo('about:blank')
  const link = await createLink(api.db, api.keys, api.username)
  await page.goTo(`${api.baseUrl}/console#link=${link}`)
  await page.waitUntil(`${screens}.includes('Team')`)
}

test('the first screen weighs at most 150 KB, all local and cached', { skip }, async () => {
  page.requests.length = 0
  await signInAgain()
  await page.waitUntil(`document.querySelector('.get-started li')`)
  const loaded = await page.evaluate<{ name: string; bytes: number }[]>(
    `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].map(({ name, encodedBodySize }) => ({ name, bytes: encodedBodySize }))`,
  )
  const weight = loaded.reduce((sum, { bytes }) => sum + bytes, 0)
  assert.ok(weight > 20_000 && weight <= 150_000, `${weight} bytes`)
  const foreign = page.requests.filter(url => !url.startsWith(`${api.baseUrl}/`) && url !== 'about:blank')
  assert.deepEqual(foreign, [])
  const modules = loaded.filter(({ name }) => /\.(js|css)$/.test(name))
  assert.ok(modules.length > 20)
  for (const { name } of modules) {
    const { headers } = await api.sendRaw(new URL(name).pathname)
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
  }
  const { headers } = await api.sendRaw('/console')
  assert.match(String(headers['content-security-policy']), /^default-src 'none'; script-src 'self'; style-src 'self';/)
  assert.doesNotMatch(String(headers['content-security-policy']), /unsafe|https?:|\*/)
})

test('a screen whose file is gone loads with the new page', { skip }, async () => {
  await page.show('overview')
  await page.evaluate(`location.reload()`)
  await page.waitForText('Overview')
  await page.serve(/\/pages\/system\.js$/, { status: 404, body: '' }, 1)
  await page.evaluate(`window.isBeforeReload = true; location.hash = 'system'`)
  await page.waitUntil(`document.querySelector('main h1')?.innerText === 'System'`)
  assert.equal(await page.evaluate('window.isBeforeReload'), undefined)
})

test('a screen loads as soon as the network is back', { skip }, async t => {
  t.after(() => page.setOffline(false))
  await page.setOffline(true)
  for (const screen of ['system', 'orders', 'webhooks']) {
    await page.show('overview')
    await page.evaluate(`location.hash = ${JSON.stringify(screen)}`)
    await page.waitForText("Can't reach Tillbridge.")
    assert.equal(await page.evaluate(`document.querySelector('main .problem a')`), null, 'no link to an error page')
    await page.setOffline(false)
    await page.waitUntil(`document.querySelector('main h1') && !document.querySelector('main .problem, main .opening')`)
    await page.setOffline(true)
  }
})
