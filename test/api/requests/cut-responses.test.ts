import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:https'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { buildCustomer } from '../../support/customer-bodies.ts'
import { buildCredentials } from '../../support/servers.ts'
import { startTestApi } from '../../support/service.ts'
import { post, withKey } from '../../support/write.ts'

const api = await startTestApi({ settings: { writesPerMinute: 'off' } })
after(() => api.stop())

/** Starts a proxy that forwards `bytes` bytes of a response and then closes both connections. */
async function startCuttingProxy(bytes: number) {
  const sockets = new Set<Socket>()
  let isCounting = false
  const server = createServer(clientSocket => {
    const serverSocket = connect(Number(new URL(api.baseUrl).port), '127.0.0.1')
    for (const socket of [clientSocket, serverSocket]) sockets.add(socket.on('error', () => {}))
    let remaining = bytes
    clientSocket.on('data', data => serverSocket.write(data))
    serverSocket.on('data', (data: Buffer) => {
      clientSocket.write(isCounting ? data.subarray(0, remaining) : data)
      if (!isCounting) return
      remaining -= data.length
      if (remaining <= 0) for (const socket of [clientSocket, serverSocket]) socket.destroySoon()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    /** Starts to count the forwarded bytes. Called after the TLS handshake. */
    startCounting: () => {
      isCounting = true
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

test('a write whose response is cut is executed once and replayed completely', async () => {
  const countCustomers = () => api.db.run(sql`select from customer where service_id = ${api.service.id}`)
  for (const bytes of [0, 1, 100, 600, 1_000]) {
    const [body, key, before] = [buildCustomer(), withKey(), await countCustomers()]
    const proxy = await startCuttingProxy(bytes)
    try {
      const clientRequest = request({
        method: 'POST',
        host: '127.0.0.1',
        port: proxy.port,
        servername: 'localhost',
        ca: api.ca,
        path: '/customers',
        agent: false,
        // In TLS 1.3, session tickets would follow the handshake and be counted.
        maxVersion: 'TLSv1.2',
        headers: { ...buildCredentials(api), ...key, 'content-type': 'application/json' },
      })
      const isComplete = new Promise<boolean>(resolve => {
        clientRequest.on('error', () => resolve(false))
        clientRequest.on('response', response =>
          response
            .resume()
            .on('error', () => {})
            .on('close', () => resolve(response.complete)),
        )
      })
      clientRequest.on('socket', socket =>
        socket.once('secureConnect', () => {
          proxy.startCounting()
          clientRequest.end(JSON.stringify(body))
        }),
      )
      clientRequest.flushHeaders()
      assert.equal(await isComplete, false, `${bytes}`)
    } finally {
      proxy.close()
    }
    const again = await post(api, '/customers', body, key)
    assert.deepEqual(
      [again.status, again.json.data.contact.email, await countCustomers()],
      [201, body.contact.email, before + 1],
    )
  }
})
