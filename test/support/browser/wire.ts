import type { ChildProcess } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { connect } from 'node:tls'

/** Milliseconds until a browser that does not answer is given up. */
export const patienceMs = 90_000

// biome-ignore lint/suspicious/noExplicitAny: the protocol's answers, read where they are expected
type Message = any

/** Notes what the page asks for and complains of. */
export const listener =
  ({ requests, complaints }: { requests: string[]; complaints: string[] }) =>
  (method: string, params: Message) => {
    if (method === 'Network.requestWillBeSent') requests.push(params.request.url)
    if (method === 'Network.webSocketCreated') requests.push(params.url)
    if (method === 'Runtime.exceptionThrown')
      complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text)
    if (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(params.type))
      complaints.push(`${params.type}: ${params.args.map((arg: Message) => arg.value ?? arg.description).join(' ')}`)
    if (method === 'Log.entryAdded' && ['error', 'warning'].includes(params.entry.level))
      complaints.push(`${params.entry.level}: ${params.entry.text}`)
  }

/** The DevTools protocol over the browser's pipes: JSON messages, each ended by a zero byte. */
export function speak(browser: ChildProcess, heard: (method: string, params: Message) => void) {
  const [, , , input, output] = browser.stdio as unknown as [null, null, null, Writable, Readable]
  const waiting = new Map<number, { resolve(result: Message): void; reject(error: Error): void }>()
  let last = 0
  let rest = ''
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\0')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const { id, result, error, method, params } = JSON.parse(part)
      if (id === undefined) heard(method, params)
      else if (error) waiting.get(id)?.reject(new Error(error.message))
      else waiting.get(id)?.resolve(result)
      waiting.delete(id)
    }
  })
  const end = () => {
    for (const { reject } of waiting.values()) reject(new Error('the browser has ended'))
    waiting.clear()
  }
  browser.on('exit', end)
  input.on('error', end)
  return (method: string, params: object, sessionId?: string) => {
    const id = ++last
    const { promise, resolve, reject } = Promise.withResolvers<Message>()
    const timer = setTimeout(() => reject(new Error(`${method} took longer than ${patienceMs} ms`)), patienceMs)
    waiting.set(id, { resolve, reject })
    input.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`)
    return promise.finally(() => clearTimeout(timer))
  }
}

/** The digest by which Chromium is told to trust a server's key. */
export async function keyDigest(host: string, port: number) {
  const socket = connect({ host, port, servername: host, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { raw } = socket.getPeerCertificate()
  socket.destroy()
  const key = new X509Certificate(raw).publicKey.export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(key).digest('base64')
}
