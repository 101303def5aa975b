import { connect } from 'node:http2'
import { request } from 'node:https'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { buildCredentials } from './servers.ts'
import type { Caller } from './service.ts'

/** A received event. A block of comments has no fields. */
export interface Event {
  id?: string
  event?: string
  data?: string
}

/** A stream of server-sent events that is being read. */
export interface EventStream {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: HTTP/1.1 and HTTP/2 have different types
  headers: any
  /** Everything received so far. */
  text: string
  /** Received events that have data. */
  events: Event[]
  /** The last received `id`, from which a new stream can resume. */
  lastId: string | undefined
  /** Returns the next event with data. Fails after 20 s. */
  next(): Promise<Event>
  /** Resolves when the server ends the stream or the connection breaks. */
  ended: Promise<void>
  /** Stops reading until `resume` is called. */
  pause(): void
  resume(): void
  /** Closes the connection. */
  close(): void
}

interface StreamRequest {
  at: { baseUrl: string; ca: string }
  caller: Pick<Caller, 'username' | 'password' | 'service'>
  path: string
  headers?: Record<string, string>
  http2?: boolean
}

/** Opens a stream of server-sent events, by default over HTTP/1.1. */
export async function openEvents({
  at,
  caller,
  path,
  headers = {},
  http2 = false,
}: StreamRequest): Promise<EventStream> {
  const requestHeaders = { ...buildCredentials(caller), accept: 'text/event-stream', ...headers }
  const response = await (http2 ? openOverHttp2 : openOverHttp1)(at, path, requestHeaders)
  let incompleteBlock = ''
  let readCount = 0
  const stream: EventStream = {
    status: response.status,
    headers: response.headers,
    text: '',
    events: [],
    lastId: headers['last-event-id'],
    async next() {
      const deadline = performance.now() + 20_000
      while (stream.events.length <= readCount) {
        if (performance.now() > deadline)
          throw new Error(`No event received within 20 s. Received so far: ${stream.text}`)
        await delay(5)
      }
      return stream.events[readCount++] as Event
    },
    ended: new Promise(resolve => response.body.once('close', resolve)),
    pause: () => response.body.pause(),
    resume: () => response.body.resume(),
    close: response.close,
  }
  response.body.on('error', () => {})
  response.body.setEncoding('utf8').on('data', (text: string) => {
    stream.text += text
    const blocks = (incompleteBlock + text).split('\n\n')
    incompleteBlock = blocks.pop() ?? ''
    for (const event of blocks.map(parseEvent)) {
      stream.lastId = event.id ?? stream.lastId
      if (event.data !== undefined) stream.events.push(event)
    }
  })
  return stream
}

function parseEvent(block: string): Event {
  const fields = block.split('\n').flatMap(line => {
    const [, name = '', value = ''] = /^(\w+): (.*)$/.exec(line) ?? []
    return name ? [[name, value] as const] : []
  })
  const data = fields.flatMap(([name, value]) => (name === 'data' ? [value] : [])).join('\n')
  const event: Event = Object.fromEntries(fields)
  return data ? { ...event, data } : event
}

interface StreamResponse {
  status: number
  headers: object
  body: Readable
  close(): void
}

function openOverHttp1(
  { baseUrl, ca }: StreamRequest['at'],
  path: string,
  headers: Record<string, string>,
): Promise<StreamResponse> {
  return new Promise((resolve, reject) => {
    const clientRequest = request(`${baseUrl}${path}`, { ca, headers, agent: false }, response =>
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: response,
        close: () => clientRequest.destroy(),
      }),
    )
    clientRequest.on('error', reject)
    clientRequest.end()
  })
}

function openOverHttp2(
  { baseUrl, ca }: StreamRequest['at'],
  path: string,
  headers: Record<string, string>,
): Promise<StreamResponse> {
  const session = connect(baseUrl, { ca })
  return new Promise((resolve, reject) => {
    session.on('error', reject)
    const body = session.request({ ':path': path, ...headers })
    body.on('error', reject)
    body.once('close', () => session.close())
    body.once('response', responseHeaders =>
      resolve({
        status: Number(responseHeaders[':status']),
        headers: responseHeaders,
        body,
        close: () => session.destroy(),
      }),
    )
  })
}
