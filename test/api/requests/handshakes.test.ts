import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { buildCredentials, openTls, startSecondServer } from '../../support/servers.ts'
import { startTestApi } from '../../support/service.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
after(() => api.stop())

const getPort = ({ baseUrl }: { baseUrl: string }) => Number(new URL(baseUrl).port)
const isServed = async () => (await api.get('/stores')).status === 200

const encodeLength = (bytes: number, value: number) => Buffer.from(value.toString(16).padStart(bytes * 2, '0'), 'hex')
const fromHex = (...texts: string[]) => Buffer.from(texts.join(''), 'hex')

interface Hello {
  version?: string
  suites: readonly string[]
  compressions?: readonly string[]
}

/** Builds a ClientHello of TLS 1.2 or earlier (RFC 5246, section 7.4.1.2) with these hexadecimal values. */
function buildClientHello({ version = '0303', suites, compressions = ['00'] }: Hello) {
  const extensions = fromHex('000a000400020017', '000d00080006040308040401', '000b00020100')
  const body = Buffer.concat([
    fromHex(version, '5a'.repeat(32), '00'),
    encodeLength(2, suites.length * 2),
    fromHex(...suites),
    encodeLength(1, compressions.length),
    fromHex(...compressions),
    encodeLength(2, extensions.length),
    extensions,
  ])
  const message = Buffer.concat([fromHex('01'), encodeLength(3, body.length), body])
  return Buffer.concat([fromHex('16', version), encodeLength(2, message.length), message])
}

/** Returns the server's response to a ClientHello: suite and compression, or its alert. */
async function sendHello(hello: Hello) {
  const socket = connect(getPort(api), '127.0.0.1')
  socket.write(buildClientHello(hello))
  try {
    const [response] = (await once(socket, 'data')) as [Buffer]
    if (response[0] === 0x15) return { alert: response[6] }
    // Skip 5 bytes of record header, 4 of message header, 2 of version, 32 of random, 1 of length, and the session ID.
    const suiteOffset = 44 + (response[43] ?? 0)
    return {
      suite: response.subarray(suiteOffset, suiteOffset + 2).toString('hex'),
      compression: response[suiteOffset + 2],
    }
  } finally {
    socket.destroy()
  }
}

const strongSuite = 'c02b'

test('weak cipher suites are rejected and strong ones accepted', async () => {
  assert.deepEqual(await sendHello({ suites: [strongSuite] }), { suite: strongSuite, compression: 0 })
  const weak = {
    'no encryption': ['0001', '0002', '003b', 'c006'],
    RC4: ['0004', '0005', 'c007'],
    '3DES': ['000a', 'c008'],
    export: ['0003', '0008'],
    anonymous: ['0034', '006c', 'c018'],
    CBC: ['002f', '0035', '003c', 'c009', 'c00a', 'c023'],
  }
  for (const [label, suites] of Object.entries(weak))
    for (const suite of suites)
      assert.deepEqual(await sendHello({ suites: [suite] }), { alert: 40 }, `${label} ${suite}`)
  assert.equal((await sendHello({ suites: [...Object.values(weak).flat(), strongSuite] })).suite, strongSuite)
})

test('SSL 3, TLS 1.0 and TLS 1.1 are rejected', async () => {
  // SSL 3 has no alert for a wrong version (RFC 6101, section 5.4.2).
  for (const [version, alert] of [
    ['0300', 40],
    ['0301', 70],
    ['0302', 70],
  ] as const)
    assert.deepEqual(await sendHello({ version, suites: [strongSuite, 'c009', '002f'] }), { alert }, version)
})

test('TLS compression is never used', async () => {
  assert.deepEqual(await sendHello({ suites: [strongSuite], compressions: ['01', '00'] }), {
    suite: strongSuite,
    compression: 0,
  })
  assert.ok('alert' in (await sendHello({ suites: [strongSuite], compressions: ['01'] })))
})

test('a TLS renegotiation is rejected without disturbing other clients', async () => {
  const socket = await openTls(api, { maxVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1'] })
  const outcome = new Promise<string>(resolve => {
    socket.on('error', ({ message }) => resolve(message))
    socket.on('close', () => resolve('closed'))
    socket.renegotiate({}, error => resolve(error ? error.message : 'renegotiated'))
  })
  assert.match(await outcome, /no renegotiation|closed/i)
  socket.destroy()
  assert.ok(await isServed())
})

test('the server presents its certificate for any server name', async () => {
  for (const servername of [
    'LOCALHOST',
    'elsewhere.example',
    'a'.repeat(255),
    'a..b',
    '.',
    '*',
    "'; drop table",
    '%00',
  ]) {
    const socket = connectTls({ port: getPort(api), host: '127.0.0.1', servername, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    assert.equal(socket.getPeerCertificate().subject.CN, 'localhost', servername)
    socket.destroy()
  }
  assert.ok(await isServed())
})

// These tests mostly wait for timeouts of the server, so they run concurrently.
describe('unfinished handshakes', { concurrency: true }, () => {
  for (const http2 of ['false', 'true'])
    test(`an unfinished handshake with HTTP2=${http2} is closed within 30 s`, async () => {
      const server = await startSecondServer(api, { environment: { HTTP2: http2 } })
      const hello = buildClientHello({ suites: [strongSuite] })
      try {
        const startedAt = performance.now()
        const sockets = Array.from({ length: 30 }, (_, i) => {
          const socket = connect(getPort(server), '127.0.0.1').on('error', () => {})
          // The sockets send nothing, a part of the first message, all of it, or one byte at a time.
          if (i % 4) socket.write(hello.subarray(0, [0, 9, hello.length, 1][i % 4]))
          return socket
        })
        const allClosed = Promise.all(
          sockets.map(socket => new Promise(resolve => socket.resume().on('close', resolve))),
        )
        assert.equal((await server.sendRequest('/stores', { headers: buildCredentials(api) })).status, 200)
        for (let sent = 1; sockets.some(({ closed }) => !closed); sent++) {
          assert.ok(performance.now() - startedAt < 30_000, 'a handshake was open for 30 s')
          await delay(200)
          for (const socket of sockets.filter(({ writable }, i) => writable && i % 4 === 3))
            socket.write(hello.subarray(sent, sent + 1))
        }
        await allClosed
      } finally {
        await server.stop()
      }
    })
})
