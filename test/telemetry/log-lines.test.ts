import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { buildCredentials, captureLog, sendBytes, startSecondServer } from '../support/servers.ts'
import { startTestApi } from '../support/service.ts'

const api = await startTestApi()
const captured = captureLog('trace')
const server = await startSecondServer(api, { environment: { ACCESS_LOG: 'true' }, log: captured.log })
after(async () => {
  await server.stop()
  await api.stop()
})

/** Texts that would colour a terminal, begin a new line or trigger a lookup in a log reader. */
const forgedTexts = [
  '\u001b[31mred',
  '\u009b2J',
  '{"level":60,"msg":"forged"}',
  '$\u007bjndi:ldap://x/a}',
  '\u2028forged',
]
const texts = [...forgedTexts.map(text => Buffer.from(text).toString('latin1')), 'x'.repeat(12_000)]

test('a log line is one short record without control characters', async () => {
  const credentialLines = Object.entries(buildCredentials(api)).map(([name, value]) => `${name}: ${value}`)
  const send = (first: string, ...headers: string[]) =>
    sendBytes(server, `${[first, 'Host: localhost', ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`)
  for (const text of texts) {
    for (const name of ['x-request-id', 'traceparent', 'user-agent', 'idempotency-key', 'x-service-name', 'referer'])
      await send('GET /stores HTTP/1.1', `${name}: ${text}`, ...credentialLines)
    const encoded = encodeURIComponent(text).slice(0, 4_000)
    for (const target of [`/customers/${encoded}`, `/stores?limit=${encoded}`, `/${encoded}`])
      await send(`GET ${target} HTTP/1.1`, ...credentialLines)
    await send(`${text} / HTTP/1.1`)
    const user = Buffer.from(`${text}:wrong`).toString('base64').slice(0, 12_000)
    await send('GET /stores HTTP/1.1', `Authorization: Basic ${user}`)
  }
  const lines = captured.text.split('\n').slice(0, -1)
  assert.ok(lines.length > 50, `${lines.length} lines`)
  for (const line of lines) {
    assert.doesNotMatch(line, /[\p{Cc}\u2028]|forged|jndi|xxxx/u, line.slice(0, 300))
    assert.ok(line.length < 1_000, `${line.length} characters`)
    assert.equal(typeof JSON.parse(line).level, 'number')
  }
})
