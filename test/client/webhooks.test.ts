import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { verifyWebhook, type WebhookHeaders } from '../../client/src/index.ts'

const [secret, previousSecret] = [newSecret(), newSecret()]
const payload = {
  type: 'records.changed',
  timestamp: '2026-11-21T09:31:28Z',
  data: { service: 'luma', cursor: 'c', changes: [{ kind: 'customer', id: '1', action: 'changed', note: 'naïve 👋' }] },
}
const body = JSON.stringify(payload)

function newSecret() {
  return `whsec_${randomBytes(24).toString('base64')}`
}

/** Returns the headers of a delivery that another implementation has signed. */
function sign({ by = secret, of = body, at = new Date(), id = 'msg_1' } = {}) {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(by).sign(id, at, of),
  }
}

const assertRejected = (
  code: string,
  headers: WebhookHeaders,
  of: string | Uint8Array = body,
  secrets: string | string[] = secret,
) => assert.rejects(verifyWebhook(of, headers, secrets), { name: 'WebhookError', code })

test('a delivery signed by another implementation is verified in every form', async () => {
  const headers = sign()
  assert.deepEqual(await verifyWebhook(body, headers, secret), payload)
  assert.deepEqual(await verifyWebhook(Buffer.from(body), new Headers(headers), secret), payload)
  const uppercaseHeaders = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  )
  assert.deepEqual(await verifyWebhook(body, uppercaseHeaders, secret.replace('whsec_', '')), payload)
})

test('either secret verifies a delivery during a rotation', async () => {
  const [first, other] = [sign(), sign({ by: previousSecret })]
  for (const headers of [first, other]) await verifyWebhook(body, headers, [previousSecret, secret])
  const bothSignatures = `v1a,AAAA ${first['webhook-signature']} ${other['webhook-signature']}`
  await verifyWebhook(body, { ...first, 'webhook-signature': bothSignatures }, previousSecret)
  await assertRejected('signature_wrong', other)
  await assertRejected('signature_wrong', first, body, [])
})

test('a modified body, ID, time or signature fails verification', async () => {
  const headers = sign()
  await assertRejected('signature_wrong', headers, body.replace('customer', 'Customer'))
  await assertRejected('signature_wrong', headers, Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(body)]))
  await assertRejected('signature_wrong', { ...headers, 'webhook-id': 'msg_2' })
  const later = String(Number(headers['webhook-timestamp']) + 1)
  await assertRejected('signature_wrong', { ...headers, 'webhook-timestamp': later })
  for (const signature of ['v1,', 'v1,%%%', 'v1', headers['webhook-signature'].replace('v1,', 'v2,')])
    await assertRejected('signature_wrong', { ...headers, 'webhook-signature': signature })
})

test('a signed delivery older than five minutes or from the future fails', async () => {
  const signAt = (seconds: number) => sign({ at: new Date(Date.now() + seconds * 1_000) })
  for (const seconds of [-290, 290]) await verifyWebhook(body, signAt(seconds), secret)
  for (const seconds of [-310, 310, 86_400]) await assertRejected('timestamp_off', signAt(seconds))
  for (const timestamp of ['soon', '1e9', ' 5', '-1'])
    await assertRejected('timestamp_off', { ...sign(), 'webhook-timestamp': timestamp })
})

test('a missing header fails verification and an invalid secret is reported', async () => {
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
    await assertRejected('header_missing', { ...sign(), [name]: undefined })
  for (const wrong of ['', 'whsec_', 'whsec_***']) await assertRejected('secret_malformed', sign(), body, wrong)
})
