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

const portOf = ({ baseUrl }: { baseUrl: string }) => Number(new URL(baseUrl).port)
const served = async () => (await api.get('/stores')).status === 200

const length = (bytes: number, of: number) => Buffer.from(of.toString(16).padStart(bytes * 2, '0'), 'hex')
const hex = (...texts: string[]) => Buffer.from(texts.join(''), 'hex')

interface Hello {
  version?: string
  suites: readonly string[]
  compressions?: readonly string[]
}

/** A ClientHello of TLS 1.2 and before (RFC 5246, section 7.4.1.2) with these offers, in hexadecimal digits. */
function clientHello({ version = '0303', suites, compressions = ['00'] }: Hello) {
  const extensions = hex('000a000400020017', '000d00080006040308040401', '000b00020100')
  const body = Buffer.concat([
    hex(version, '5a'.repeat(32), '00'),
    length(2, suites.length * 2),
    hex(...suites),
    length(1, compressions.length),
    hex(...compressions),
    length(2, extensions.length),
    extensions,
  ])
  const message = Buffer.concat([hex('01'), length(3, body.length), body])
  return Buffer.concat([hex('16', version), length(2, message.length), message])
}

/** Returns the server's response to a ClientHello: suite and compression, or its alert. */
async function answerTo(hello: Hello) {
  const socket = connect(portOf(api), '127.0.0.1')
  socket.write(clientHello(hello))
  try {
    const [response] = (await once(socket, 'data')) as [Buffer]
    if (response[0] === 0x15) return { alert: response[6] }
    // Record header 5, message header 4, version 2, random 32; then the session, by its length.
    const behind = 44 + (response[43] ?? 0)
    return { suite: response.subarray(behind, behind + 2).toString('hex'), compression: response[behind + 2] }
  } finally {
    socket.destroy()
  }
}

const good = 'c02b'

test('weak cipher suites are rejected and strong ones accepted', async () => {
  assert.deepEqual(await answerTo({ suites: [good] }), { suite: good, compression: 0 })
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
      assert.deepEqual(await answerTo({ suites: [suite] }), { alert: 40 }, `${label} ${suite}`)
  assert.equal((await answerTo({ suites: [...Object.values(weak).flat(), good] })).suite, good)
})

test('SSL 3, TLS 1.0 and TLS 1.1 are rejected', async () => {
  // Before TLS 1.0 there was no alert for it (RFC 6101, section 5.4.2).
  for (const [version, alert] of [
    ['0300', 40],
    ['0301', 70],
    ['0302', 70],
  ] as const)
    assert.deepEqual(await answerTo({ version, suites: [good, 'c009', '002f'] }), { alert }, version)
})

test('TLS compression is never used', async () => {
  assert.deepEqual(await answerTo({ suites: [good], compressions: ['01', '00'] }), { suite: good, compression: 0 })
  assert.ok('alert' in (await answerTo({ suites: [good], compressions: ['01'] })))
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
  assert.ok(await served())
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
    const socket = connectTls({ port: portOf(api), host: '127.0.0.1', servername, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    assert.equal(socket.getPeerCertificate().subject.CN, 'localhost', servername)
    socket.destroy()
  }
  assert.ok(await served())
})

// At the same time: all of it is waiting for what the server is patient with.
describe('unfinished handshakes', { concurrency: true }, () => {
  for (const http2 of ['false', 'true'])
    test(`an unfinished handshake with HTTP2=${http2} is closed within 30 s`, async () => {
      const server = await startSecondServer(api, { environment: { HTTP2: http2 } })
      const hello = clientHello({ suites: [good] })
      try {
        const begun = performance.now()
        const sockets = Array.from({ length: 30 }, (_, i) => {
          const socket = connect(portOf(server), '127.0.0.1').on('error', () => {})
          // Nothing at all; a part; all of the first message; and one that comes byte by byte.
          if (i % 4) socket.write(hello.subarray(0, [0, 9, hello.length, 1][i % 4]))
          return socket
        })
        const ended = Promise.all(sockets.map(socket => new Promise(resolve => socket.resume().on('close', resolve))))
        assert.equal((await server.sendRequest('/stores', { headers: buildCredentials(api) })).status, 200)
        for (let sent = 1; sockets.some(({ closed }) => !closed); sent++) {
          assert.ok(performance.now() - begun < 30_000, 'within 30 s')
          await delay(200)
          for (const socket of sockets.filter(({ writable }, i) => writable && i % 4 === 3))
            socket.write(hello.subarray(sent, sent + 1))
        }
        await ended
      } finally {
        await server.stop()
      }
    })
})
