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

/** Between a client and the service: passes so many bytes of the answer on, then cuts both off. */
async function cuttingAfter(bytes: number) {
  const open = new Set<Socket>()
  let isCounting = false
  const server = createServer(inward => {
    const outward = connect(Number(new URL(api.baseUrl).port), '127.0.0.1')
    for (const socket of [inward, outward]) open.add(socket.on('error', () => {}))
    let remaining = bytes
    inward.on('data', data => outward.write(data))
    outward.on('data', (data: Buffer) => {
      inward.write(isCounting ? data.subarray(0, remaining) : data)
      if (!isCounting) return
      remaining -= data.length
      if (remaining <= 0) for (const socket of [inward, outward]) socket.destroySoon()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    /** From here on what comes is the answer, not the handshake. */
    asking: () => {
      isCounting = true
    },
    close() {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}

test('a write whose response is cut is executed once and replayed completely', async () => {
  const rows = () => api.db.run(sql`select from customer where service_id = ${api.service.id}`)
  for (const bytes of [0, 1, 100, 600, 1_000]) {
    const [body, key, before] = [buildCustomer(), withKey(), await rows()]
    const cutting = await cuttingAfter(bytes)
    try {
      const clientRequest = request({
        method: 'POST',
        host: '127.0.0.1',
        port: cutting.port,
        servername: 'localhost',
        ca: api.ca,
        path: '/customers',
        agent: false,
        // In TLS 1.3 session tickets would come behind the handshake.
        maxVersion: 'TLSv1.2',
        headers: { ...buildCredentials(api), ...key, 'content-type': 'application/json' },
      })
      const whole = new Promise<boolean>(resolve => {
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
          cutting.asking()
          clientRequest.end(JSON.stringify(body))
        }),
      )
      clientRequest.flushHeaders()
      assert.equal(await whole, false, `${bytes}`)
    } finally {
      cutting.close()
    }
    const again = await post(api, '/customers', body, key)
    assert.deepEqual([again.status, again.json.data.contact.email, await rows()], [201, body.contact.email, before + 1])
  }
})
