import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { assertProblem } from '../../support/problem.ts'
import { buildAuthorization, buildBasicAuth, buildCredentials, startSecondServer } from '../../support/servers.ts'
import { type Caller, startTestApi } from '../../support/service.ts'
import { addVouchers, clearFailures, pin, voucherSettings, waitForMinuteStart } from '../../support/voucher-shop.ts'

const api = await startTestApi({ settings: voucherSettings, role: 'visitor' })
await addVouchers(api, api, { mine: {} })
const behindProxy = await startSecondServer(api, { environment: { TRUSTED_PROXIES: '127.0.0.1' } })
after(async () => {
  await behindProxy.stop()
  await api.stop()
})
beforeEach(async () => {
  await waitForMinuteStart(api)
  await clearFailures(api)
})

/** Sends a request through the proxy, which forwards this client address. */
const sendFrom = (address: string, path: string, headers: Record<string, string>) =>
  behindProxy.sendRequest(path, { headers: { ...headers, 'x-forwarded-for': address, 'x-forwarded-proto': 'https' } })
const lookUp = (address: string, number: string, input: string, caller: Caller = api) =>
  sendFrom(address, `/vouchers/${number}`, { ...buildCredentials(caller), 'x-voucher-pin': input })

/** Kinds of addresses that all belong to one caller. The function returns the i-th address. */
const callerAddresses: [string, (i: number) => string][] = [
  ['of one IPv6 network', i => `2001:db8:1:2::${i.toString(16)}`],
  ['of one IPv6 network, in brackets and with their ports', i => `[2001:db8:1:2::${i.toString(16)}]:${4_000 + i}`],
  ['with the port of each connection', i => `203.0.113.7:${4_000 + i}`],
  ['written as IPv4 and as IPv6', i => (i % 2 ? '203.0.113.7' : '::ffff:203.0.113.7')],
]
for (const [label, toAddress] of callerAddresses)
  test(`addresses ${label} count as one caller`, async () => {
    for (let i = 0; i < 30; i++) assert.equal((await lookUp(toAddress(i), `guess-${i}`, '000000')).status, 403)
    assertProblem(await lookUp(toAddress(31), 'mine', pin), 'too_many_failures', behindProxy.baseUrl)
    assert.equal((await lookUp('198.51.100.7', 'mine', pin)).status, 200)

    const wrong = { ...buildCredentials(api), authorization: buildAuthorization(api, 'wrong') }
    for (let i = 0; i < 20; i++) assert.equal((await sendFrom(toAddress(i), '/stores', wrong)).status, 401)
    assertProblem(await sendFrom(toAddress(21), '/stores', wrong), 'too_many_failures', behindProxy.baseUrl)
    assert.equal((await sendFrom('198.51.100.7', '/stores', { authorization: buildBasicAuth('nobody:x') })).status, 401)
  })

test('an account that guesses from many addresses is blocked after 300 failures', async () => {
  const leaked = await api.createAccount('visitor')
  const guess = (i: number) => lookUp(`198.51.${i % 250}.7`, `guess-${i}`, '000000', leaked)
  for (let i = 0; i < 300; i += 20) {
    const responses = await Promise.all(Array.from({ length: 20 }, (_, offset) => guess(i + offset)))
    for (const { status } of responses) assert.equal(status, 403)
  }
  assertProblem(await lookUp('192.0.2.1', 'mine', pin, leaked), 'too_many_failures', behindProxy.baseUrl)
  assert.equal((await lookUp('192.0.2.1', 'mine', pin)).status, 200)
})
