import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, constants } from 'node:http2'
import { after, describe, test } from 'node:test'
import { assertCreatesNoCustomer } from '../../support/customer-bodies.ts'
import {
  buildCreateHead,
  buildCredentials,
  openTls,
  parseStatuses,
  readUntilClosed,
  startSecondServer,
} from '../../support/servers.ts'
import { startTestApi } from '../../support/service.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
after(() => api.stop())

/**
 * Opens clients that send a beginning, and then a few more bytes at an interval. Returns a function that waits for their
 * final responses.
 */
async function startSlowClients(
  server: { baseUrl: string; ca: string },
  clients: number,
  beginning: string,
  chunk: string,
  intervalMs: number,
) {
  const startedAt = performance.now()
  const clientsWithResponse = await Promise.all(
    Array.from({ length: clients }, async () => {
      const socket = await openTls(server, { ALPNProtocols: ['http/1.1'] })
      socket.write(beginning)
      const dripTimer = setInterval(() => socket.writable && socket.write(chunk), intervalMs)
      return { received: readUntilClosed(socket).finally(() => clearInterval(dripTimer)) }
    }),
  )
  return async () => {
    const responses = await Promise.all(clientsWithResponse.map(({ received }) => received))
    return { responses, seconds: (performance.now() - startedAt) / 1_000 }
  }
}

// These tests mostly wait for timeouts of the server, so they run concurrently.
describe('slow clients', { concurrency: true }, () => {
  describe('slow headers', { concurrency: true }, () => {
    for (const http2 of ['false', 'true'])
      test(`a client with slow headers and HTTP2=${http2} is disconnected within 20 s`, async () => {
        const server = await startSecondServer(api, { environment: { HTTP2: http2 } })
        try {
          const finish = await startSlowClients(server, 20, 'GET /stores HTTP/1.1\r\nHost: a\r\n', 'X-A: b\r\n', 1_000)
          assert.equal((await server.sendRequest('/stores', { headers: buildCredentials(api) })).status, 200)
          const { responses, seconds } = await finish()
          for (const response of responses) assert.deepEqual(parseStatuses(response), [408])
          assert.ok(seconds > 10 && seconds < 20, `${seconds} s`)
        } finally {
          await server.stop()
        }
      })
  })

  test('a slow body is aborted within 35 s and creates nothing', () =>
    assertCreatesNoCustomer(api, async () => {
      const beginning = buildCreateHead(api, 'Content-Type: application/json', 'Content-Length: 1000')
      const { responses, seconds } = await (await startSlowClients(api, 10, beginning, ' ', 500))()
      for (const response of responses) assert.match(response, /^HTTP\/1.1 408 [\s\S]*"code":"request_timeout"/)
      assert.ok(seconds < 35, `${seconds} s`)
    }))

  for (const [path, type] of [
    ['/customers', 'application/json'],
    ['/imports?type=stores', 'text/csv'],
  ] as const)
    test(`a slow HTTP/2 body of ${path} is aborted without its connection`, () =>
      assertCreatesNoCustomer(api, async () => {
        const server = await startSecondServer(api, { environment: { HTTP2: 'true' } })
        const session = connect(server.baseUrl.replace('localhost', '127.0.0.1'), { ca: server.ca })
        try {
          const startedAt = performance.now()
          const head = { ':path': path, ':method': 'POST', 'content-type': type }
          const slow = session.request(Object.assign(head, buildCredentials(api)))
          const dripTimer = setInterval(() => slow.writable && slow.write(' '), 500)
          let text = ''
          slow.on('data', chunk => {
            text += chunk
          })
          const closed = once(slow, 'close').finally(() => clearInterval(dripTimer))
          const [responseHeaders] = await once(slow, 'response')
          await closed
          assert.deepEqual([responseHeaders[':status'], JSON.parse(text).code], [408, 'request_timeout'])
          assert.equal(slow.rstCode, constants.NGHTTP2_NO_ERROR)
          assert.ok(performance.now() - startedAt < 35_000)
          assert.equal(session.destroyed, false)
        } finally {
          session.destroy()
          await server.stop()
        }
      }))
})
