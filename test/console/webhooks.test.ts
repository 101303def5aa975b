import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { buildWebhookJobs } from '../../src/jobs/jobs.ts'
import { startWorker, type Worker } from '../../src/jobs/worker.ts'
import { purgePayloads } from '../../src/store/webhooks/attempts.ts'
import { createSender } from '../../src/webhooks/sender.ts'
import { browserMissing } from '../support/browser.ts'
import { assertAccessible } from '../support/console/axe.ts'
import { type Console, openConsole } from '../support/console/console.ts'
import { waitUntil } from '../support/processes.ts'
import { captureLog } from '../support/servers.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { type Receiver, respondWith, startReceiver } from '../support/webhooks/receiver.ts'
import { post } from '../support/write.ts'

const skip = browserMissing ?? false
let api: TestApi
let receiver: Receiver
let worker: Worker
let page: Console
let webhookId: string

before(async () => {
  api = await startTestApi({ environment: { WEBHOOK_NETWORKS: '127.0.0.0/8' } })
  receiver = await startReceiver()
  worker = startWorker(
    { db: api.db, keys: api.keys, log: captureLog('info').log, mailTransport: { send: async () => {} } },
    buildWebhookJobs(createSender(['127.0.0.0/8'])),
  )
  webhookId = (await post(api, '/webhooks', { url: receiver.url, kinds: ['customer'] })).json.data.id
  if (!skip) page = await openConsole(api, api)
})
after(async () => {
  await page?.close()
  await worker?.stop(0)
  await receiver?.close()
  await api?.stop()
})

async function createCustomer(firstname: string): Promise<string> {
  const contact = { email: `${randomUUID()}@example.com` }
  const created = await post(api, '/customers', { firstname, surname: 'Smith', contact })
  assert.equal(created.status, 201, created.text)
  return created.json.data.id
}
const readFacts = () => page.evaluate<string>(`document.querySelector('main .facts-list').innerText`)

test('a failing endpoint shows its backlog and its next attempt', { skip }, async () => {
  receiver.respond = respondWith(500, {}, 'out of order')
  const ids = [await createCustomer('Ann')]
  // The worker records the failure after the response, and sets the next attempt with it.
  const postpone = sql`update webhook set not_before = now() + interval '10 minutes' where failures = 1`
  await waitUntil(async () => (await api.db.run(postpone)) === 1, 'a failed attempt is recorded', 30_000)
  for (const name of ['Bea', 'Eve']) ids.push(await createCustomer(name))
  await page.show('webhooks')
  await page.waitForText('after 1 failure in a row')
  assert.match(await page.evaluate<string>(`document.querySelector('tbody tr').innerText`), /0 %\s+in (9|10) min/)
  await page.show(`webhooks/${webhookId}`)
  await page.waitForText('3 changes wait')
  assert.match(await readFacts(), /Next attempt\s+in (9|10) min, after 1 failure in a row/)
  await page.waitForText('0 % delivered · 0 delivered, 1 failed')
  receiver.respond = respondWith(204)
  await page.press('Retry now')
  await waitUntil(() => receiver.received.length >= 3, 'the backlog is delivered', 30_000)
  await page.show('webhooks')
  await page.show(`webhooks/${webhookId}`)
  await page.waitForText('nothing waits')
  await page.waitForText('66 % delivered · 2 delivered, 1 failed')
  await page.evaluate(
    `document.querySelector('.bars .column').dispatchEvent(new PointerEvent('pointerover', { bubbles: true }))`,
  )
})

test('an attempt shows its payload, headers and changes and is resent', { skip }, async () => {
  await page.evaluate(`[...document.querySelectorAll('tbody button.link')].at(-1).click()`)
  await page.waitUntil(`document.querySelector('dialog pre')`)
  const [first] = receiver.received
  const dialogText = await page.evaluate<string>(`document.querySelector('dialog').innerText`)
  assert.match(dialogText, /500/)
  assert.match(dialogText, /out of order/)
  assert.match(dialogText, new RegExp(`webhook-id: ${first?.headers['webhook-id']}`))
  assert.match(dialogText, /webhook-signature: v1,/)
  assert.match(dialogText, /"type": "records.changed"/)
  assert.match(dialogText, /customer \S+ changed/)
  await assertAccessible(page, 'an attempt')
  const count = receiver.received.length
  await page.press('Resend')
  await page.waitUntil(`document.querySelectorAll('dialog').length === 2`)
  await page.press('Resend')
  await page.waitForText('Resend delivered')
  assert.equal(receiver.received.length, count + 1)
  const resent = receiver.received.at(-1)
  assert.equal(resent?.headers['webhook-id'], first?.headers['webhook-id'])
  assert.deepEqual(resent?.body, first?.body)
  await assertAccessible(page, 'an endpoint with attempts')
})

test('payloads are deleted after three days', { skip }, async () => {
  await api.db.run(sql`update webhook_payload set created_at = now() - interval '73 hours'`)
  assert.ok((await purgePayloads(api.db)) > 0)
  await page.waitUntil(`document.querySelector('tbody button.link')`)
  await page.evaluate(`[...document.querySelectorAll('tbody button.link')].at(-1).click()`)
  await page.waitForText('Payloads are deleted after 3 days.')
  assert.doesNotMatch(await page.evaluate<string>(`document.querySelector('dialog').innerText`), /Resend/)
})

test('a refresh loads all shown pages of the attempts', { skip }, async () => {
  const attempts = `[...document.querySelectorAll('main tbody tr')].length`
  await api.db.run(sql`
      insert into webhook_attempt (service_id, webhook_id, delivery_id, changes, status, response, milliseconds)
      select service_id, webhook_id, gen_random_uuid()::text, 1, 204, '', 5
        from webhook, generate_series(1, 170) where service_id = ${api.service.id} and webhook_id = ${webhookId}`)
  await page.show('webhooks')
  await page.show(`webhooks/${webhookId}`)
  await page.waitUntil(`${attempts} === 50`)
  await page.press('Show more')
  await page.waitUntil(`${attempts} === 100`)
  const deliveryId = randomUUID()
  await api.db.run(sql`
    with attempt as (
      insert into webhook_attempt (service_id, webhook_id, delivery_id, changes, status, response, milliseconds)
      values (${api.service.id}, ${webhookId}, ${deliveryId}, 1, 204, '', 5)
    )
    update webhook set last_success_at = clock_timestamp() where service_id = ${api.service.id} and webhook_id = ${webhookId}`)
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await page.waitUntil(`document.querySelector('main tbody tr').innerText.includes('${deliveryId}')`)
  assert.equal(await page.evaluate(attempts), 100)
  await page.press('Show more')
  await page.waitUntil(`${attempts} === 150`)
})
