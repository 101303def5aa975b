import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorker } from '../../../src/jobs/worker.ts'
import { createSmtpTransport } from '../../../src/mail/smtp-transport.ts'
import { waitUntil } from '../../support/processes.ts'
import { captureLog } from '../../support/servers.ts'
import { startTestApi, type TestResponse } from '../../support/service.ts'
import { startSink } from '../../support/smtp-sink.ts'
import { issueVoucher, stockGiftCards, voucherSettings } from '../../support/voucher-shop.ts'
import { post, put } from '../../support/write.ts'

const logged = captureLog('trace')
const { log } = logged
const api = await startTestApi({ settings: voucherSettings, role: 'maintainer', log })
await stockGiftCards(api, api)
after(() => api.stop())

test('secrets appear only in the responses they belong to, never in logs', async () => {
  const secretPhrase = 'xyzzy-plugh-4711'
  const responses: TestResponse[] = []
  const record = async (response: Promise<TestResponse>) => {
    responses.push(await response)
    return responses.at(-1) as TestResponse
  }
  const issued = await issueVoucher(api, { message: secretPhrase })
  assert.equal(issued.status, 201, issued.text)
  const { number, pin } = issued.json.data
  const wrongPin = pin === '123456' ? '654321' : '123456'
  const validated = await post(api, '/vouchers/validate', { number, pin, amount: '10.00' })
  const { validationId } = validated.json.data

  await record(post(api, '/vouchers/lookup', { number, pin }))
  await record(api.get(`/vouchers/${number}`, { 'x-voucher-pin': pin }))
  await record(api.get(`/vouchers/${number}?pin=${pin}`))
  await record(post(api, `/vouchers/lookup?pin=${pin}`, { number, pin }))
  await record(post(api, '/vouchers/lookup', { number, pin: wrongPin }))
  await record(post(api, '/vouchers/lookup', { number, pin: Number(pin) }))
  await record(post(api, '/vouchers/lookup', { number, pin, [pin]: pin }))
  await record(post(api, '/vouchers/lookup', `{"number":"${number}","pin":"${pin}"`))
  await record(put(api, `/vouchers/${number}/lock`, { validationId }))
  await record(put(api, `/vouchers/${number}/lock`, { validationId: `${validationId}x` }))
  const guess = Buffer.from(`${api.username}:${secretPhrase}`).toString('base64')
  await record(api.get('/stores', { authorization: `Basic ${guess}` }))

  // The mail server is down, and the worker logs that.
  const sink = await startSink()
  await sink.close()
  const worker = startWorker({ db: api.db, keys: api.keys, log, mailTransport: createSmtpTransport(sink.url) })
  await waitUntil(async () => /"level":(40|50)/.test(logged.text), 'the worker logs that the email could not be sent')
  await worker.stop(0)

  assert.ok(logged.text.split('\n').length > 12, 'the log has too few lines')
  assert.ok(logged.text.includes('/vouchers/lookup'))
  const toPattern = (text: string) => new RegExp(`(?<![\\w.])${text}(?!\\w)`)
  for (const [place, text] of [
    ['the logs', logged.text],
    ['the responses', responses.map(response => `${JSON.stringify(response.headers)} ${response.text}`).join('\n')],
  ] as const) {
    // The response repeats the field names of the request, and one request uses the PIN as a field name.
    const searchedText =
      place === 'the responses' ? text.replaceAll(`\`${pin}\``, '').replaceAll(`/${pin}"`, '"') : text
    assert.doesNotMatch(searchedText, toPattern(pin), `the PIN is in ${place}`)
    assert.ok(!searchedText.includes(validationId), `the validation is in ${place}`)
    assert.ok(!searchedText.includes(secretPhrase), `the message, or the password, is in ${place}`)
    assert.ok(!searchedText.includes(api.password), `the password is in ${place}`)
  }
})
