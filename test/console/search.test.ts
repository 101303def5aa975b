import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { setBackOffice } from '../../src/store/backoffice/connections.ts'
import { upsertTransactions } from '../../src/store/orders/transactions.ts'
import { browserMissing } from '../support/browser.ts'
import { assertAccessible } from '../support/console/axe.ts'
import { type Console, openConsole, route } from '../support/console/console.ts'
import { createReturn, fillShop, getCreatedRecord, placeOrder } from '../support/order-shop.ts'
import { waitUntil } from '../support/processes.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { gift, issueVoucher, stockGiftCards, voucherSettings } from '../support/voucher-shop.ts'
import { post, put } from '../support/write.ts'

const skip = browserMissing ?? false
let api: TestApi
let page: Console

before(async () => {
  api = await startTestApi({ settings: voucherSettings })
  await stockGiftCards(api, api)
  await fillShop(api.db, api.service)
  if (!skip) page = await openConsole(api, api)
})
after(async () => {
  await page?.close()
  await api?.stop()
})

const readMain = () => page.evaluate<string>(`document.querySelector('main').innerText`)
const rows = `[...document.querySelectorAll('tbody tr')].map(row => row.innerText.replace(/\\s+/g, ' '))`

async function search(text: string) {
  await page.show('search')
  await page.fill('Search text', text)
  await page.press('Search')
}

test('a customer is found by email with a timeline of orders', { skip }, async () => {
  const lines = [{ sku: 'HOOD-S', quantity: 1, price: '29.99', discounts: [] }]
  const address = { contactName: 'Jane Smith', addressLine1: '1 High St', city: 'Carlton', country: 'Australia' }
  const order = await post(api, '/orders', {
    orderNumber: 'W-1001',
    customerId: '65433',
    lines,
    billingAddress: address,
    deliveryAddress: address,
    freight: '0.00',
    payments: [{ gateway: 'paypal', amount: '29.99' }],
  })
  assert.equal(order.status, 201, order.text)
  await search('jane@example.com')
  await page.waitForText('Jane Smith')
  await page.waitForText('Order W-1001')
  await put(
    api,
    '/customers/65433',
    { emailSubscription: true, mobile: '0400 123 456' },
    { 'x-request-id': 'subscribing' },
  )
  await post(api, '/vouchers', { ...gift, receiverEmail: 'jane@example.com' })
  await search('W-1001')
  await page.waitForText('Style HOOD-S')
  await search('jane@example.com')
  await page.waitForText('Profile changed: emailSubscription, mobile')
  await page.waitForText('Email subscription on by')
  await page.waitForText('request subscribing')
  await page.waitUntil(`/Email of voucher \\d+\\s+queued/.test(document.querySelector('main').innerText)`)
  await assertAccessible(page, 'a customer')

  await search('W-1001')
  await page.waitForText('Style HOOD-S')
  await page.waitForText('No returns')
  assert.match(await readMain(), /Total\s+AUD 29\.99/)
  await assertAccessible(page, 'an order')
})

test('the search box of each screen finds records as you type', { skip }, async () => {
  await page.show('syncs')
  await page.evaluate(`document.activeElement.blur()`)
  const dispatchKey = (name: string, options = '') =>
    page.evaluate(
      `(document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent('keydown', { key: '${name}', bubbles: true, cancelable: true${options} }))`,
    )
  for (const shortcut of [() => dispatchKey('/'), () => dispatchKey('k', ', ctrlKey: true')]) {
    await page.evaluate(`document.activeElement.blur()`)
    await shortcut()
    await page.waitUntil(`document.activeElement.ariaLabel === 'Search everything'`)
  }
  await page.fill('Search everything', 'jane smi')
  await page.waitUntil(`document.querySelector('.global-search mark')?.innerText === 'Jane'`)
  assert.match(
    await page.evaluate<string>(`document.querySelector('.global-search .results').innerText`),
    /Customer\s+Jane Smith jane@example.com/,
  )
  await assertAccessible(page, 'search results')
  await dispatchKey('ArrowDown')
  await page.waitUntil(`document.querySelector('.global-search [aria-selected="true"]')`)
  await page.evaluate(`document.activeElement.form.requestSubmit()`)
  await page.waitUntil(`${route} === '#search/customer/65433'`)
  await page.fill('Search everything', 'audit')
  await page.waitUntil(`/Screen\\s+Audit log/.test(document.querySelector('.global-search .results').innerText)`)
  await page.evaluate(`document.querySelector('.global-search input').focus()`)
  await dispatchKey('ArrowDown')
  await page.waitUntil(`document.querySelector('.global-search [aria-selected="true"]')`)
  await page.evaluate(`document.querySelector('.global-search').requestSubmit()`)
  await page.waitUntil(`${route} === '#audit'`)
  await page.fill('Search everything', 'smith')
  await page.waitUntil(`document.querySelectorAll('.global-search li').length === 2`)
  await page.evaluate(`document.querySelector('.global-search').requestSubmit()`)
  await page.waitForText('2 results for smith')
  assert.equal(await page.evaluate(route), '#search/text/smith', 'the search can be shared')
  await page.click(`document.querySelector('main a[href*="/customers?q=smith"]')`)
  await page.waitForText('2 customers')
})

test('a late search result opens nothing on another screen', { skip }, async () => {
  await page.show('search')
  const heldRequest = await page.holdRequest('search?')
  await page.fill('Search text', 'john@example.com')
  await page.press('Search')
  await heldRequest.sent()
  await page.show('staff')
  await heldRequest.release()
  assert.equal(await page.evaluate(route), '#staff')
})

test('a SKU shows its stock by store and explains the sellable quantity', { skip }, async () => {
  await search('TEE')
  await page.waitForText('Style TEE')
  await page.waitForText('5 on hand')
  await page.waitUntil(
    `/Available\\s+5\\s+Stores with stock\\s+1 of 1/.test(document.querySelector('.figures').innerText)`,
  )
  assert.match((await page.evaluate<string[]>(rows)).join('\n'), /^102 Warehouse 5 0 5 5 on hand − 0 buffer /m)
  await assertAccessible(page, 'stock')
  assert.match(
    await page.exportCsv('Stock of TEE'),
    /^Store,On hand,Buffer,Available,Calculation,Last updated \(AE[DS]T\)\r\n102 Warehouse,5,0,5,5 on hand − 0 buffer,/,
  )
})

test('an empty result is stated, and vouchers are found by number', {
  skip,
}, async () => {
  const { number } = (await issueVoucher(api)).json.data
  await search('4711')
  await page.waitForText('No results for 4711')
  await search(number)
  await page.waitForText('Ann Lee, ann.lee@example.com')
  await assertAccessible(page, 'a voucher')
  for (const [button, state] of [
    ['Suspend', 'suspended'],
    ['Resume', 'active'],
  ] as const) {
    await page.press(button)
    await page.waitUntil(`document.querySelector('dialog')`)
    await page.press(button)
    await page.waitUntil(
      `!document.querySelector('dialog') && document.querySelector('main .state').innerText === '${state}'`,
    )
    // The button has disappeared, so its card has the focus.
    await page.waitUntil(`document.activeElement.classList.contains('card')`)
  }
  assert.deepEqual(
    await page.evaluate<string[]>(
      `[...document.querySelectorAll('[aria-label^="Ledger"] tbody tr td:nth-child(2)')].map(cell => cell.innerText)`,
    ),
    ['Issued', 'Suspended', 'Resumed'],
  )
  await api.db.run(
    sql`update email set status = 'failed', last_error = 'The mail server rejected the message: 550.' where voucher_number = ${number}`,
  )
  await page.press('Resend')
  await assertAccessible(page, 'resending an email')
  await page.fill('To', 'bea@example.com')
  await page.press('Resend')
  await page.waitUntil(`!document.querySelector('dialog')`)
  await page.waitForText('bea@example.com')
  await page.waitForText('Another one was sent instead.')
  assert.equal((await api.get(`/vouchers/${number}/ledger`)).json.data.emails.length, 2)
})

test('a voucher opens only with its right PIN', { skip }, async () => {
  const { number, pin } = (await issueVoucher(api)).json.data
  await page.show(`search/voucher/${number}`)
  await page.waitUntil(`document.querySelector('details')`)
  await page.evaluate(`document.querySelector('details').open = true`)
  await page.fill('PIN', '000000')
  await page.press('Open')
  await page.waitForText('voucher_not_accepted')
  await page.fill('PIN', pin)
  await page.press('Open')
  await page.waitUntil(`!document.querySelector('input[type="password"]')`)
  assert.equal((await page.evaluate<string>('location.href')).includes(pin), false)
})

test('customers are found by names in either order or a surname prefix', {
  skip,
}, async () => {
  const buildPerson = (firstname: string, surname: string) => {
    const email = `${firstname}.${surname}@example.com`.toLowerCase().replaceAll(' ', '-')
    return { firstname, surname, contact: { email } }
  }
  for (const [firstname, surname] of [
    ['Ada', 'Namesake'],
    ['Bob', 'Namesake'],
    ['Cleo', 'de la Tour'],
  ] as const)
    assert.equal((await post(api, '/customers', buildPerson(firstname, surname))).status, 201)
  await search('names')
  await page.waitForText('2 results for names')
  await page.waitUntil(`/Ada Namesake ada.namesake@example.com/.test(document.querySelector('.hits').innerText)`)
  await page.waitUntil(`/Bob Namesake bob.namesake@example.com/.test(document.querySelector('.hits').innerText)`)
  for (const name of ['ada namesake', 'Namesake, Ada', 'namesake ada']) {
    await search(name)
    // A single result is opened at once.
    await page.waitUntil(`document.querySelector('main h2')?.innerText.includes('Ada Namesake')`)
  }
  await search('Cleo de la Tour')
  await page.waitUntil(`document.querySelector('main h2')?.innerText.includes('Cleo de la Tour')`)
})

test("a non-admin sees a customer's orders and whether more exist", {
  skip,
}, async () => {
  const order = await placeOrder(api, [{ sku: 'UNKEPT', quantity: 1 }])
  const returned = getCreatedRecord(await createReturn(api, order.id, { UNKEPT: 1 }))
  const sales = Array.from({ length: 101 }, (_, i) => ({
    header: { id: `s${i}`, customerId: '65432', saleDate: `2024-01-01 00:${String(i % 60).padStart(2, '0')}:00` },
    line: { id: '1', quantity: 1, price: '1.00', value: '1.00' },
  }))
  await upsertTransactions(api.db, api.service, sales)
  const visitor = await openConsole(api, await api.createAccount('visitor'))
  try {
    await visitor.show('search/customer/65432')
    await visitor.waitForText(`Return ${returned.returnNumber}`)
    const kinds = await visitor.evaluate<string[]>(
      `[...document.querySelectorAll('.timeline li > div')].map(element => element.innerText.split(' ')[0])`,
    )
    const countKind = (kind: string) => kinds.filter(candidate => candidate === kind).length
    assert.deepEqual(['Order', 'Return'].map(countKind), [1, 1])
    assert.ok(countKind('Sale') >= 101, `${countKind('Sale')} sales`)

    await setBackOffice(api.db, api.keys, api.service, {
      driver: 'apparel21',
      url: 'https://127.0.0.1:9',
      country: 'AU',
    })
    await waitUntil(
      async () => (await api.get('/customers/65432/transactions?limit=1')).json.meta.warnings,
      'sales are requested from the back office',
      20_000,
    )
    await search('W-9999')
    await page.waitForText("The back office couldn't be searched")
    // Stored records are found while the back office is down.
    await search('john smith')
    await page.waitUntil(`${route} === '#search/customer/65432'`)
    for (const viewer of [visitor, page]) {
      await viewer.show('search')
      await viewer.show('search/customer/65432')
      await viewer.waitForText('sales may be missing')
    }
  } finally {
    await visitor.close()
  }
})
