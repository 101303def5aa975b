import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { raw, sql } from '../../../src/database/db.ts'
import { buildWebhookJobs, jobs } from '../../../src/jobs/jobs.ts'
import { startWorker } from '../../../src/jobs/worker.ts'
import { createSender } from '../../../src/webhooks/sender.ts'
import { waitUntil } from '../../support/processes.ts'
import { captureLog } from '../../support/servers.ts'
import { startTestApi, type TestApi } from '../../support/service.ts'
import { issueVoucher, stockGiftCards, voucherSettings } from '../../support/voucher-shop.ts'
import { type Receiver, respondWith, startReceiver } from '../../support/webhooks/receiver.ts'
import { post } from '../../support/write.ts'
import { networks } from './hooks.ts'

const logged = captureLog('trace')
let api: TestApi
let receiver: Receiver
before(async () => {
  api = await startTestApi({
    settings: { ...voucherSettings, alertEmail: 'operations@luma.example' },
    environment: { WEBHOOK_NETWORKS: networks.join() },
    log: logged.log,
  })
  receiver = await startReceiver()
  await stockGiftCards(api, api)
})
after(async () => {
  await receiver.close()
  await api.stop()
})

test('secrets and record contents never appear in deliveries, attempts, alerts or logs', async () => {
  const created = await post(api, '/webhooks', { url: receiver.url, fromBeginning: true })
  assert.equal(created.status, 201, created.text)
  const { id, secret } = created.json.data
  const rotated = (await post(api, `/webhooks/${id}/rotate-secret`, {})).json.data.secret
  const phrase = 'xyzzy-plugh-4711'
  const voucher = await issueVoucher(api, { message: phrase })
  assert.equal(voucher.status, 201, voucher.text)
  const { number, pin } = voucher.json.data
  const surname = 'Canary-Islander'
  const customer = { firstname: 'Ann', surname, contact: { email: `${phrase}@example.com` } }
  assert.equal((await post(api, '/customers', customer)).status, 201)

  receiver.respond = respondWith(500, {}, 'out of order')
  const emails: string[] = []
  const worker = startWorker(
    {
      db: api.db,
      keys: api.keys,
      log: logged.log,
      mailTransport: { send: async ({ bytes }: { bytes: Buffer }) => void emails.push(bytes.toString()) },
    },
    { 'send-alert': jobs['send-alert'] ?? assert.fail(), ...buildWebhookJobs(createSender(networks)) },
  )
  await waitUntil(() => receiver.received.length, 'a delivery arrives')
  await api.db.run(sql`update webhook set failing_since = now() - interval '2 hours' where failing_since is not null`)
  await waitUntil(async () => {
    await api.db.run(sql`update webhook set failing_since = least(failing_since, now() - interval '2 hours')`)
    return emails.length
  }, 'an email about the alert is sent')
  receiver.respond = respondWith(204)
  await post(api, `/webhooks/${id}/test`, {})
  await api.db.run(sql`update webhook set not_before = now()`)
  await api.db.run(sql`update job set due_at = now() where name = 'deliver-webhook'`)
  await waitUntil(
    async () => (await api.get(`/webhooks/${id}`)).json.data.lag.pendingSince === null,
    'all changes are delivered',
  )
  await worker.stop(0)

  const dumpTable = async (table: string) =>
    (await api.db.rows<{ row: string }>(sql`select t::text as row from ${raw(table)} t`))
      .map(({ row }) => row)
      .join('\n')
  const texts: Record<string, string> = {
    deliveries: receiver.received.map(({ body, headers }) => `${JSON.stringify(headers)} ${body}`).join('\n'),
    'the table of webhooks': await dumpTable('webhook'),
    'the table of attempts': await dumpTable('webhook_attempt'),
    attempts: (await api.get(`/webhooks/${id}/attempts`)).text,
    'the list of webhooks': (await api.get('/webhooks')).text,
    alerts: await dumpTable('alert'),
    jobs: await dumpTable('job'),
    'the alert email': emails.join('\n'),
    'the logs': logged.text,
  }
  assert.match(texts.deliveries ?? '', /"kind":"customer"/)
  assert.match(texts['the logs'] ?? '', /webhook_failing/)
  assert.match(texts['the table of attempts'] ?? '', /out of order/)
  for (const [source, text] of Object.entries(texts)) {
    assert.doesNotMatch(text, new RegExp(`(?<![\\w.-])${pin}(?![\\w-])`), `the PIN is in ${source}`)
    for (const [label, secretText] of Object.entries({ secret, rotated, phrase, surname, password: api.password }))
      assert.ok(!text.includes(secretText.replace('whsec_', '')), `${label} is in ${source}`)
    if (source !== 'the logs') assert.ok(!text.includes(`/vouchers/${number}`), `a voucher is in ${source}`)
  }
})
