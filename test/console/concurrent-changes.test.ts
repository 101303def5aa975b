import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { browserMissing } from '../support/browser.ts'
import { type Console, openConsole } from '../support/console/console.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'
import { post, put } from '../support/write.ts'

const skip = browserMissing ?? false
let api: TestApi
let visitor: Caller
let page: Console

before(async () => {
  api = await startTestApi({ environment: { WEBHOOK_NETWORKS: '127.0.0.0/8' } })
  visitor = await api.createAccount('visitor')
  const ids = Array.from({ length: 60 }, (_, i) => `customer${i}`)
  await upsertCustomers(
    api.db,
    api.service,
    ids.map(id => ({ id })),
  )
  if (!skip) page = await openConsole(api, api)
})
after(async () => {
  await page?.close()
  await api.stop()
})

test('a list setting shows the current value after saving and discarding', {
  skip,
}, async () => {
  await page.show('settings')
  const codes = `[...document.querySelectorAll('#setting-returnReasons input[aria-label^="Code"]')].map(element => element.value)`
  for (const _ of [1, 2, 3]) await page.press('Remove row 2')
  await page.fill('Code 1', 'OLD')
  await page.fill('Name 1', 'Too old')
  await page.press('Review 1 change')
  await page.press('Save')
  await page.waitForText('1 setting saved')
  assert.deepEqual((await api.get('/settings')).json.data.returnReasons, [{ code: 'OLD', name: 'Too old' }])
  await page.waitUntil(`${codes}.join() === 'OLD'`)
  await page.press('Add reason')
  await page.fill('Code 2', 'NEW')
  await page.press('Discard')
  await page.waitForText('No changes')
  assert.deepEqual(await page.evaluate(codes), ['OLD'])
})

test('an emptied number means the default', { skip }, async () => {
  await put(api, '/settings', { inventoryBuffer: 7, voucherValidityMonths: 12 })
  await page.show('overview')
  await page.waitUntil(`document.querySelector('main h1')?.innerText === 'Overview'`)
  await page.show('settings')
  await page.waitUntil(`document.getElementById('setting-voucherValidityMonths')?.value === '12'`)
  await page.fill('Voucher validity months', '')
  await page.press('Review 1 change')
  await page.press('Save')
  await page.waitUntil(`!document.querySelector('dialog')`)
  assert.equal((await api.get('/settings')).json.data.voucherValidityMonths, 36)
})

test('a late page of one filter never appears under another filter', { skip }, async () => {
  await page.show('mappings/customers')
  await page.waitForText('60 customers')
  const heldRequest = await page.holdRequest('filter=unmapped')
  await page.press('Not mapped')
  await heldRequest.sent()
  await page.press('Mapped')
  await page.waitForText('No matching customers.')
  await heldRequest.release()
  await page.waitForText('No matching customers.')
  assert.equal(await page.evaluate(`document.querySelectorAll('tbody tr').length`), 0)
  await page.press('All')
  await page.waitForText('60 customers')
})

test('a busy button keeps the focus and starts nothing twice', { skip }, async () => {
  await page.show('mappings/check')
  await page.waitUntil(`document.querySelector('.check-status button')`)
  await page.evaluate(`(() => {
    const realFetch = fetch
    globalThis.fetch = async (path, options) => {
      if (options.method === 'POST') {
        globalThis.posts = (globalThis.posts ?? 0) + 1
        await new Promise(resolve => { globalThis.respond = resolve })
      }
      return realFetch(path, options)
    }
    document.querySelector('.check-status button').focus()
  })()`)
  await page.pressKey('Enter')
  await page.waitUntil('globalThis.respond')
  await page.pressKey('Enter')
  const focused = `[document.activeElement.innerText, document.activeElement.ariaDisabled]`
  assert.deepEqual(await page.evaluate(focused), ['…', 'true'])
  await page.evaluate('respond()')
  await page.waitUntil(`document.activeElement.innerText === 'Check now'`)
  assert.equal(await page.evaluate('globalThis.posts'), 1)
  await page.waitForText('Queued. The check starts when a worker is free.')
})

test('a change made since the dialog opened is not overwritten', { skip }, async () => {
  for (const [screen, button, field, text, path, body] of [
    [
      'accounts',
      `Change role of ${visitor.username}`,
      'Role',
      'admin',
      `/accounts/${visitor.username}`,
      { role: 'maintainer' },
    ],
    [
      'mappings/customers',
      'Map customer1',
      'Legacy ID',
      'mine',
      '/mappings/customers/customer1',
      { ecommerceLegacyId: 'theirs' },
    ],
  ] as const) {
    await page.show(screen)
    await page.press(button)
    await page.fill(field, text)
    assert.equal((await put(api, path, body)).status, 200)
    await page.press('Save')
    await page.waitForText('precondition_failed')
    await page.press('Close')
    const { data } = (await api.get(path)).json
    assert.deepEqual({ ...data, ...body }, data)
  }
})

test('an endpoint dialog opens with current values and sends only edits', {
  skip,
}, async () => {
  const created = await post(api, '/webhooks', { url: 'http://127.0.0.1:9999/hooks', kinds: ['store'] })
  assert.equal(created.status, 201, created.text)
  const path = `/webhooks/${created.json.data.id}`
  await page.show(path.slice(1))
  await page.waitForText('http://127.0.0.1:9999/hooks')
  await put(api, path, { description: 'Theirs, before' })
  await page.press('Edit')
  await page.waitUntil(`document.querySelector('dialog form')`)
  assert.equal(await page.readField('Description'), 'Theirs, before')
  await put(api, path, { kinds: ['store', 'customer'], url: 'http://127.0.0.1:9999/theirs' })
  await page.fill('Description', 'Mine')
  await page.press('Save')
  await page.waitUntil(`!document.querySelector('dialog')`)
  const { url, kinds, description } = (await api.get(path)).json.data
  assert.deepEqual(
    [url, kinds.toSorted(), description],
    ['http://127.0.0.1:9999/theirs', ['customer', 'store'], 'Mine'],
  )
  await page.waitForText('Mine')
  await page.press('Edit')
  await page.press('Save')
  await page.waitUntil(`!document.querySelector('dialog')`)
  const audited = (await api.get(`/audit?record=${path}`)).json.data
  assert.deepEqual(
    audited.map(({ fields }: { fields: string[] }) => fields),
    [['url', 'kinds'], ['description'], ['kinds', 'url'], ['description'], []],
  )
})

test('an unknown address is named as such, and failed sign-outs are reported', { skip }, async () => {
  await page.show('50%')
  await page.waitForText('Screen not found')
  await page.evaluate(`globalThis.fetch = async () => { throw new TypeError() }`)
  await page.press('Sign out')
  await page.waitForText("Can't reach Tillbridge.")
})
