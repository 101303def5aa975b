import type { OutgoingHttpHeaders } from 'node:http'
import { Agent, request } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import {
  buildFrame,
  buildHttp1Requests,
  buildHttp2Requests,
  encodeHeaders,
  endHeaders,
  endStream,
  http2Preface,
  toUint32,
} from '../../support/raw-http.ts'

/** One hostile client. Several clients can share an account. */
export interface HostileClient {
  baseUrl: string
  /** Headers that identify its account. */
  credentials: Record<string, string>
  agent: Agent
  /** Aborted when the input has been sent for long enough. */
  signal: AbortSignal
}

/** Sends a hostile input once. Returns the status of the response, or the state of the connection, such as `disconnected`. */
export type HostileInput = (client: HostileClient) => Promise<string>

interface Message {
  method?: string
  path: string
  headers?: OutgoingHttpHeaders
  body?: string | Buffer
}

/** Sends a request over the connection of the client. */
const send =
  ({ method = 'POST', path, headers, body }: Message): HostileInput =>
  ({ baseUrl, credentials, agent, signal }) => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const options = { method, agent, signal, headers: { ...credentials, ...headers } }
    const outgoing = request(`${baseUrl}${path}`, options, response =>
      response
        .resume()
        .on('close', () => resolve(`${response.statusCode}`))
        .on('error', () => {}),
    )
    outgoing.on('error', ({ code = 'error' }: NodeJS.ErrnoException) => resolve(code))
    outgoing.end(body)
    return promise
  }

const sendJson = (method: string, path: string, body: string) =>
  send({
    method,
    path,
    headers: { 'content-type': 'application/json', 'if-match': '*', 'sec-fetch-site': 'same-origin' },
    body,
  })
const importFile = (query: string, body: string | Buffer, type = 'text/csv') =>
  send({ path: `/imports?${query}`, headers: { 'content-type': type }, body })
const get = (path: string, headers: OutgoingHttpHeaders = {}) => send({ method: 'GET', path, headers })

/** Sends bytes over a new connection. Reads for at most a second, or until the server disconnects. */
const sendBytes =
  (protocol: 'h2' | 'http/1.1', bytes: Buffer): HostileInput =>
  async client => {
    const socket = await connect(client, protocol)
    if (!socket) return 'not connected'
    const closed = new Promise<string>(resolve => socket.once('close', () => resolve('disconnected')))
    socket.resume().write(bytes)
    const result = await Promise.race([closed, delay(1_000, 'open')])
    socket.destroy()
    return result
  }

/** Sends a part of a request, then one byte a second until the scenario ends or the server disconnects. */
const trickle =
  (head: (client: HostileClient) => string): HostileInput =>
  async client => {
    const socket = await connect(client, 'http/1.1')
    if (!socket) return 'not connected'
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk
    })
    const closed = new Promise(resolve => socket.once('close', resolve))
    socket.write(head(client))
    while (!client.signal.aborted && !socket.destroyed) {
      await Promise.race([closed, delay(1_000, undefined, { signal: client.signal }).catch(() => {})])
      if (!socket.destroyed) socket.write('1')
    }
    socket.destroy()
    return /HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? 'open'
  }

/** Opens a connection. Resolves without it if the server or the end of the input closes it. */
function connect({ baseUrl, signal }: HostileClient, protocol: 'h2' | 'http/1.1'): Promise<TLSSocket | undefined> {
  const { promise, resolve } = Promise.withResolvers<TLSSocket | undefined>()
  const socket = connectTls({
    port: Number(new URL(baseUrl).port),
    host: '127.0.0.1',
    ALPNProtocols: [protocol],
    rejectUnauthorized: false,
  })
  socket.on('error', () => {}).on('close', () => resolve(undefined))
  socket.once('secureConnect', () => resolve(socket))
  signal.addEventListener('abort', () => socket.destroy(), { once: true })
  return promise
}

const repeat = (text: string, count: number) => text.repeat(count)
const manyBlanks = repeat(' ', 40)
const manyZeros = repeat('0', 200_000)
const saleHeader = 'id,lineId,saleDate,quantity,price\n'
const buildFields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 1]))
const columns = Array.from({ length: 100_000 }, (_, i) => `c${i}`)
const nestedLine = `${repeat('{"id":', 40_000)}1${repeat('}', 40_000)}\n`
const address = { surname: 'Lee', addressLine1: '1 High Street', suburb: 'Carlton', postcode: '3053', country: 'AU' }
const buildOrder = (lines: number) =>
  JSON.stringify({
    billingAddress: address,
    deliveryAddress: address,
    lines: Array.from({ length: lines }, (_, i) => ({ sku: `S${i}`, quantity: 1 })),
    payments: [],
  })
let zipBomb: Buffer | undefined
/** Compresses 200 MB, once and only if they are sent. */
const getZipBomb = () => {
  zipBomb ??= gzipSync(Buffer.concat([Buffer.from('id,surname\n'), Buffer.alloc(200 * 1024 ** 2, 'a')]))
  return zipBomb
}
const agentMessage = '{"jsonrpc":"2.0","id":1,"method":"tools/list"},'

const settings = buildFrame('settings', 0, 0)
const buildHttp2Bytes = (...frames: Buffer[]) => Buffer.concat([Buffer.from(http2Preface), settings, ...frames])
const repeatFrames = (count: number, toFrame: (i: number) => Buffer) =>
  Array.from({ length: count }, (_, i) => toFrame(i))
const headerBlock = encodeHeaders({
  ':method': 'GET',
  ':scheme': 'https',
  ':authority': 'localhost',
  ':path': '/stores',
})
const buildOpeningFrame = (i: number) => buildFrame('headers', endStream | endHeaders, 2 * i + 1, headerBlock)
const unfinishedHeaders = buildFrame('headers', endStream, 1, headerBlock)

const buildTrickleHead = (path: string, type: string) => (client: HostileClient) =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    ...Object.entries(client.credentials).map(([name, value]) => `${name}: ${value}`),
    `Content-Type: ${type}`,
    'Content-Length: 100000',
    '\r\n',
  ].join('\r\n')

/** Inputs that once froze, filled or crashed a program. The first one sends nothing, for comparison. */
export const hostileInputs = {
  nothing: async ({ signal }) => {
    await delay(1_000, undefined, { signal }).catch(() => {})
    return 'waited'
  },
  'a date format with many blanks': importFile(
    `type=customers&date_format=${encodeURIComponent(`DD${manyBlanks}MM.YYYY`)}`,
    `id,surname,dateOfBirth\n1,Smith,01${repeat(' ', 60)}x\n`,
  ),
  'a number with 200,000 digits': importFile('type=transactions', `${saleHeader}1,1,2026-01-01,1,1.${manyZeros}1\n`),
  'a date of 200 KB': importFile('type=transactions', `${saleHeader}1,1,2026-01-01${repeat(' ', 200_000)}x,1,1\n`),
  'an email of 200 KB': importFile('type=customers', `id,surname,email\n1,Smith,${repeat('a@', 100_000)}\n`),
  'a quotation mark that is not closed': importFile('type=customers', `id,surname\n"${repeat('\n1', 1_000_000)}\n`),
  'a header with 100,000 columns': importFile('type=customers', `id,surname,${columns.join()}\n1,S\n`),
  'lines with 345,000 cells': importFile(
    'type=customers',
    `id,surname\n${repeat(`1,S${repeat(',ab', 345_000)}\n`, 3)}`,
  ),
  'NDJSON with 40,000 levels': importFile('type=customers', nestedLine, 'application/x-ndjson'),
  'NDJSON with 20,000 fields': importFile(
    'type=customers',
    `${JSON.stringify({ id: '1', surname: 'S', ...buildFields(20_000) })}\n`,
    'application/x-ndjson',
  ),
  'a compressed file that unpacks to 200 MB': client => importFile('type=customers', getZipBomb())(client),
  'a file that repeats one key': importFile('type=customers', `id,surname\n${repeat('1,Lee\n', 20_000)}`),
  'a Prefer header of 15 KB': get('/stores', { prefer: `tx${repeat(' ', 15_000)}x` }),
  'a preference with open quotes': get('/stores', { prefer: repeat('a="', 5_000) }),
  'long texts of a customer': sendJson(
    'POST',
    '/customers',
    JSON.stringify({ surname: `${repeat('a', 100_000)}\u0001`, contact: { email: `${repeat('a.', 50_000)}@` } }),
  ),
  '25,000 unknown fields': sendJson('PUT', '/settings', JSON.stringify(buildFields(22_000))),
  '9,000 unknown fields': sendJson('PUT', '/settings', JSON.stringify(buildFields(9_000))),
  '80,000 empty objects': sendJson('PUT', '/settings', `{"returnReasons":[${repeat('{},', 80_000)}{}]}`),
  '10,000 nulls': sendJson('PUT', '/settings', `{"returnReasons":[${repeat('null,', 9_000)}null]}`),
  '120,000 numbers': sendJson('POST', '/console/session', `[${repeat('0,', 120_000)}0]`),
  'an order with 4,000 lines': sendJson('POST', '/orders', buildOrder(4_000)),
  'wrong passwords': get('/stores', { authorization: `Basic ${Buffer.from('scenario-1:wrong').toString('base64')}` }),
  'a message of an agent with 20,000 arguments': sendJson(
    'POST',
    '/mcp',
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":${JSON.stringify(buildFields(20_000))}}}`,
  ),
  '600 messages of an agent': sendJson('POST', '/mcp', `[${repeat(agentMessage, 600).slice(0, -1)}]`),
  'HTTP/2.0 as text': sendBytes('http/1.1', Buffer.from('GET /x HTTP/2.0\r\nHost: localhost\r\n\r\n')),
  '600 pipelined requests': sendBytes('http/1.1', buildHttp1Requests('/x', 600)),
  '3,000 pipelined requests': sendBytes('http/1.1', Buffer.from(repeat('GET / HTTP/1.1\r\nHost: a\r\n\r\n', 3_000))),
  '4,000 reset streams': sendBytes(
    'h2',
    buildHttp2Bytes(
      ...repeatFrames(4_000, i =>
        Buffer.concat([buildOpeningFrame(i), buildFrame('reset', 0, 2 * i + 1, toUint32(8))]),
      ),
    ),
  ),
  '100 streams': sendBytes('h2', buildHttp2Requests('/stores', 100)),
  '5,000 settings': sendBytes('h2', buildHttp2Bytes(...repeatFrames(5_000, () => settings))),
  '5,000 pings': sendBytes(
    'h2',
    buildHttp2Bytes(...repeatFrames(5_000, () => buildFrame('ping', 0, 0, Buffer.alloc(8)))),
  ),
  '5,000 window updates': sendBytes(
    'h2',
    buildHttp2Bytes(...repeatFrames(5_000, () => buildFrame('window', 0, 0, toUint32(1)))),
  ),
  '5,000 priorities': sendBytes(
    'h2',
    buildHttp2Bytes(...repeatFrames(5_000, i => buildFrame('priority', 0, 2 * i + 1, Buffer.alloc(5)))),
  ),
  '5,000 continuations': sendBytes(
    'h2',
    buildHttp2Bytes(unfinishedHeaders, ...repeatFrames(5_000, () => buildFrame('continuation', 0, 1))),
  ),
  '5,000 empty frames': sendBytes(
    'h2',
    buildHttp2Bytes(
      buildFrame('headers', endHeaders, 1, headerBlock),
      ...repeatFrames(5_000, () => buildFrame('data', 0, 1)),
    ),
  ),
  'bodies of one byte a second': trickle(buildTrickleHead('/customers', 'application/json')),
  'files of one byte a second': trickle(buildTrickleHead('/imports?type=customers', 'text/csv')),
} satisfies Record<string, HostileInput>

export const createAgent = () => new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
