import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { buildHttp1Requests, buildHttp2Requests, connectUnread } from '../../scenarios/support/raw-http.ts'
import { readMemory } from '../../scenarios/support/usage.ts'
import { install } from '../support/installations/installations.ts'
import { createDirectory, sendGet, serve, stopServer } from '../support/processes.ts'

const maxMemoryMib = 450
const largePath = '/docs/api/viewer.js'
const http1 = buildHttp1Requests(largePath, 20)
const http2 = buildHttp2Requests(largePath, 100)

test("1,000 clients that don't read cannot exceed the memory limit", { timeout: 280_000 }, async () => {
  const environment = { DATA_DIR: join(createDirectory(), 'data') }
  await install(environment)
  const server = await serve(['--no-demo'], { ...environment, HTTP2: 'true', MAX_MEMORY_MIB: String(maxMemoryMib) })
  const sockets = []
  try {
    for (let i = 0; i < 1_000; i += 20) {
      const [protocol, bytes] = i % 100 === 0 ? (['h2', http2] as const) : (['http/1.1', http1] as const)
      const connecting = Array.from({ length: 20 }, () => connectUnread(server.baseUrl, protocol, bytes))
      sockets.push(...(await Promise.all(connecting)))
      assert.equal((await sendGet(server, '/health/live')).status, 200)
    }
    await delay(3_000)
    // A client that reads receives a large response completely.
    const { status, text, headers } = await sendGet(server, largePath)
    assert.deepEqual([status, text.length > 1_000_000], [200, true])
    assert.equal(Number(headers['content-length']), Buffer.byteLength(text))
    const { peak } = readMemory(server.pid)
    assert.ok(peak < maxMemoryMib, `${peak} MB`)
    assert.match(server.err, /connections closed to limit memory/)
  } finally {
    for (const socket of sockets) socket.destroy()
    await stopServer(server)
  }
})
