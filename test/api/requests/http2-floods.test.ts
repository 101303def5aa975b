import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  buildFrame,
  encodeHeaders,
  endHeaders,
  endStream,
  http2Preface,
  toUint32,
} from '../../../scenarios/support/raw-http.ts'
import { buildCredentials, captureLog, openTls, startSecondServer } from '../../support/servers.ts'
import { startTestApi } from '../../support/service.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
const captured = captureLog('warn')
const server = await startSecondServer(api, { environment: { HTTP2: 'true' }, log: captured.log })
after(async () => {
  await server.stop()
  await api.stop()
})

const headerBlock = encodeHeaders({
  ':method': 'GET',
  ':scheme': 'https',
  ':authority': new URL(server.baseUrl).host,
  ':path': '/stores',
  ...buildCredentials(api),
})
const repeat = (count: number, make: (i: number) => Buffer) =>
  Buffer.concat(Array.from({ length: count }, (_, i) => make(i)))

/** Returns the ID of the i-th stream that a client opens. */
const toStreamId = (i: number) => 2 * i + 1

/** Sends bytes over a new connection, at most `maxTimes` times. Returns true if the server closes the connection. */
async function isClosedByServer(bytes: Buffer, maxTimes = 1): Promise<boolean> {
  const socket = await openTls(server, { ALPNProtocols: ['h2'] })
  assert.equal(socket.alpnProtocol, 'h2')
  let isOver = false
  socket.on('error', () => {})
  socket.once('close', () => {
    isOver = true
  })
  // Responses are read unless the flood is one of unread responses.
  if (maxTimes === 1) socket.resume()
  socket.write(http2Preface)
  socket.write(buildFrame('settings', 0, 0))
  for (let sent = 0; sent < maxTimes && !isOver; sent++)
    if (!socket.write(bytes)) await Promise.race([once(socket, 'drain').catch(() => {}), delay(500)])
  for (let i = 0; i < 500 && !isOver; i++) await delay(20)
  socket.destroy()
  return isOver
}

const buildRequest = (i: number) => buildFrame('headers', endStream | endHeaders, toStreamId(i), headerBlock)
const unfinished = buildFrame('headers', endStream, 1, headerBlock)
const floods: Record<string, [bytes: Buffer, maxTimes?: number]> = {
  'requests that are reset immediately': [
    repeat(4_000, i => Buffer.concat([buildRequest(i), buildFrame('reset', 0, toStreamId(i), toUint32(8))])),
  ],
  'requests that the server must reset': [
    repeat(4_000, i => Buffer.concat([buildRequest(i), buildFrame('window', 0, toStreamId(i), toUint32(0))])),
  ],
  'headers that never end': [
    Buffer.concat([
      unfinished,
      repeat(2_000, i => buildFrame('continuation', 0, 1, encodeHeaders({ [`x-${i}`]: 'x'.repeat(100) }))),
    ]),
  ],
  'headers with empty continuations': [
    Buffer.concat([unfinished, repeat(20_000, () => buildFrame('continuation', 0, 1))]),
  ],
  'a body of empty frames': [
    Buffer.concat([buildFrame('headers', endHeaders, 1, headerBlock), repeat(20_000, () => buildFrame('data', 0, 1))]),
  ],
  'pings whose responses are not read': [repeat(1_000, () => buildFrame('ping', 0, 0, Buffer.alloc(8))), 200],
  'settings whose responses are not read': [repeat(1_000, () => buildFrame('settings', 0, 0)), 200],
  priorities: [repeat(20_000, i => buildFrame('priority', 0, toStreamId(i), Buffer.alloc(5)))],
  'a frame of 16 MiB': [Buffer.from('ffffff000000000001', 'hex')],
}

test('a flooding connection is closed while other clients are served', async () => {
  for (const [name, [bytes, maxTimes]] of Object.entries(floods)) {
    let isOver = false
    const isClosed = isClosedByServer(bytes, maxTimes).finally(() => {
      isOver = true
    })
    const session = connect(server.baseUrl.replace('localhost', '127.0.0.1'), { ca: server.ca })
    do {
      const probe = session.request({ ':path': '/stores', ...buildCredentials(api) }).resume()
      const [responseHeaders] = await once(probe, 'response')
      assert.equal(responseHeaders[':status'], 200, name)
      await delay(20)
    } while (!isOver)
    session.close()
    assert.ok(await isClosed, name)
  }
  assert.equal(captured.text, '', 'a flood must not be logged as a warning or an error')
})
