import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startShopFixture } from '../../apparel21/shop.ts'
import { createOrderFixture } from '../../apparel21/writes/orders.ts'
import {
  buildCredentialLines,
  openTls,
  parseStatuses,
  readUntilClosed,
  sendBytes,
  startSecondServer,
} from '../../support/servers.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const { buildOrder, countPlaced } = await createOrderFixture(shop)

const headerLines = `Host: a\r\n${buildCredentialLines(api)}`
const readRequest = `GET /stores?limit=1 HTTP/1.1\r\n${headerLines}\r\n`
const body = JSON.stringify(buildOrder())
const orderRequest = `POST /orders HTTP/1.1\r\n${headerLines}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

/** The response to bytes that are not a request. */
const rejection = /\r\nconnection: close\r\n\r\n\{"type":"[^"]*\/errors\/malformed_request"[^\r]*\}$/i

test('an order with trailing bytes is placed and answered before the rejection', async () => {
  const response = await sendBytes(api, `${orderRequest}\0`)
  assert.deepEqual(parseStatuses(response), [201, 400])
  assert.match(response, /"orderNumber":"W/)
  assert.match(response, rejection)
  assert.equal(countPlaced(), 1)
})

test('requests before garbage bytes are all answered in order', async () => {
  const response = await sendBytes(api, `${readRequest}${orderRequest}${readRequest}no HTTP at all\r\n\r\n`)
  assert.deepEqual(parseStatuses(response), [200, 201, 200, 400])
  assert.match(response, rejection)
})

test('a write waiting for its back office is answered despite garbage bytes', async () => {
  simulator.faults.add({ kind: 'latency', seconds: 1, method: 'POST', times: 1 })
  const socket = await openTls(api)
  const responses = readUntilClosed(socket)
  socket.write(orderRequest)
  for (let i = 0; i < 5; i++) {
    await delay(100)
    socket.write('\0garbage')
  }
  const response = await responses
  assert.deepEqual(parseStatuses(response), [201, 400])
  assert.match(response, rejection)
  assert.equal(countPlaced(), 1)
})

test('bytes after a request with `Connection: close` are ignored', async () => {
  const last = readRequest.replace('Host: a', 'Host: a\r\nConnection: close')
  assert.deepEqual(parseStatuses(await sendBytes(api, `${last}garbage`)), [200])
})

test('a truncated request gets one response after the complete requests', async () => {
  const head = orderRequest.slice(0, orderRequest.indexOf('Content-Length'))
  const broken = `${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"lin\r\nno size\r\n`
  assert.deepEqual(parseStatuses(await sendBytes(api, broken)), [400])
  assert.deepEqual(parseStatuses(await sendBytes(api, `${readRequest}${readRequest}${broken}`)), [200, 200, 400])
  assert.equal(countPlaced(), 0)
})

test('garbage bytes alone are rejected immediately', async () => {
  assert.match(await sendBytes(api, '\0'), rejection)
})

test('garbage bytes are handled alike if the port also supports HTTP/2', async () => {
  const server = await startSecondServer(api, { environment: { HTTP2: 'true' } })
  try {
    assert.deepEqual(parseStatuses(await sendBytes(server, `${readRequest}${readRequest}\0`)), [200, 200, 400])
  } finally {
    await server.stop()
  }
})
