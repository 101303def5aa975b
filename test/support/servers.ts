import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { type Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { type Logger, pino } from 'pino'
import { readConfig } from '../../src/config/config.ts'
import { composeApp } from '../../src/runtime/app.ts'
import { listen } from '../../src/runtime/listener.ts'
import type { Caller, TestApi, TestResponse } from './service.ts'

/** Returns a Basic authentication header. A valid `text` is `username:password`. */
export const buildBasicAuth = (text: string | Buffer) => `Basic ${Buffer.from(text).toString('base64')}`

/** Returns the Authorization header of a caller with this password. */
export const buildAuthorization = ({ username }: Pick<Caller, 'username'>, password: string) =>
  buildBasicAuth(`${username}:${password}`)

/** Returns the headers that identify a caller. */
export const buildCredentials = (caller: Pick<Caller, 'username' | 'password' | 'service'>) => ({
  authorization: buildAuthorization(caller, caller.password),
  'x-service-name': caller.service.name,
})

/** Returns the same headers as lines of a request, each with its line break. */
export function buildCredentialLines(caller: Pick<Caller, 'username' | 'password' | 'service'>) {
  const { authorization, 'x-service-name': name } = buildCredentials(caller)
  return `Authorization: ${authorization}\r\nX-Service-Name: ${name}\r\n`
}

/** Returns the head of a request that creates a customer, with additional header lines. */
export const buildCreateHead = (caller: Pick<Caller, 'username' | 'password' | 'service'>, ...lines: string[]) =>
  `POST /customers HTTP/1.1\r\nHost: localhost\r\n${buildCredentialLines(caller)}${lines.map(line => `${line}\r\n`).join('')}\r\n`

interface RequestOptions {
  method?: string
  headers?: Record<string, string | string[]>
  /** The client's IP address: any of 127.0.0.0/8. */
  from?: string
  body?: string
}

export type SendRequest = (path: string, options?: RequestOptions) => Promise<TestResponse>

/** Returns a function that sends requests, each over a new connection unless `agent` reuses connections. */
export const createRequester =
  ({ baseUrl, ca, agent = false }: { baseUrl: string; ca: string; agent?: Agent | false }): SendRequest =>
  async (path, { method = 'GET', headers = {}, from, body } = {}) => {
    const clientRequest = request(`${baseUrl.replace('localhost', '127.0.0.1')}${path}`, {
      method,
      ca,
      headers,
      agent,
      ...(from && { localAddress: from }),
    })
    clientRequest.end(body)
    const [response] = await once(clientRequest, 'response')
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += chunk
    const json = /[/+]json/.test(String(response.headers['content-type'])) && text ? JSON.parse(text) : undefined
    return { status: response.statusCode, headers: response.headers as IncomingHttpHeaders, text, json }
  }

/** Returns the caller with its requests sent by `send`, for example to another server. */
export const sendThrough = (
  send: SendRequest,
  caller: Pick<Caller, 'username' | 'password' | 'service'>,
): Pick<Caller, 'request'> => ({
  request: (path, { headers, ...options } = {}) =>
    send(path, { ...options, headers: { ...buildCredentials(caller), ...headers } } as Parameters<SendRequest>[1]),
})

/** Returns a logger with this minimum level, and the text that it has logged. */
export function captureLog(level: string) {
  const lines: string[] = []
  return {
    log: pino({ level }, { write: (line: string) => void lines.push(line) }),
    get text() {
      return lines.join('')
    },
    clear() {
      lines.length = 0
    },
  }
}

/** Starts another server of the same installation, like a second process. */
export async function startSecondServer(
  { db, keys }: Pick<TestApi, 'db' | 'keys'>,
  { log = pino({ level: 'silent' }), environment = {} }: { log?: Logger; environment?: Record<string, string> } = {},
) {
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-tls-'))
  const config = readConfig({ PORT: '0', DATA_DIR: directory, ...environment })
  const app = await composeApp(config, log, { db, keys, migrated: [], close: async () => {} })
  const listening = await listen(app)
  const ca = listening.caFile ? await readFile(listening.caFile, 'utf8') : ''
  return {
    baseUrl: listening.baseUrl,
    ca,
    sendRequest: createRequester({ baseUrl: listening.baseUrl, ca }),
    async stop() {
      await listening.close(1_000)
      await app.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Opens a TLS connection. Resolves after the handshake. */
export async function openTls(
  server: { baseUrl: string; ca: string },
  options: ConnectionOptions = {},
): Promise<TLSSocket> {
  const { port } = new URL(server.baseUrl)
  const socket = connect({ port: Number(port), host: '127.0.0.1', servername: 'localhost', ca: server.ca, ...options })
  await once(socket, 'secureConnect')
  return socket
}

/** Returns everything that the server sends on a connection until it closes it. */
export async function readUntilClosed(socket: TLSSocket): Promise<string> {
  let text = ''
  socket.on('data', chunk => {
    text += chunk
  })
  socket.on('error', () => {})
  if (!socket.destroyed) await once(socket, 'close')
  return text
}

/** Returns the status codes of the responses on a connection, in order. */
export const parseStatuses = (responses: string) =>
  [...responses.matchAll(/HTTP\/1\.[01] (\d{3})/g)].map(([, status]) => Number(status))

/** Sends raw bytes. Returns everything that the server sends until it closes the connection. */
export async function sendBytes(server: { baseUrl: string; ca: string }, bytes: string): Promise<string> {
  const socket = await openTls(server)
  const response = readUntilClosed(socket)
  socket.write(bytes, 'latin1')
  return response
}
