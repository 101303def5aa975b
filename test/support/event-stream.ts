import { connect } from 'node:http2'
import { request } from 'node:https'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { credentials } from './servers.ts'
import type { Caller } from './service.ts'

/** An event as it came; a block of nothing but comments has no fields. */
export interface Event {
  id?: string
  event?: string
  data?: string
}

/** A stream of server-sent events that is being read. */
export interface EventStream {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: of HTTP/1.1 or HTTP/2
  headers: any
  /** All that has come. */
  text: string
  /** Events that have come and have data. */
  events: Event[]
  /** The `id` that has come last: what to go on from. */
  lastId: string | undefined
  /** The next event that has data. */
  next(): Promise<Event>
  /** Resolves once the server has ended it, or it broke. */
  ended: Promise<void>
  /** Leaves what comes unread, until it is read again. */
  pause(): void
  resume(): void
  /** Hangs up. */
  close(): void
}

interface Opening {
  at: { baseUrl: string; ca: string }
  caller: Pick<Caller, 'username' | 'password' | 'service'>
  path: string
  headers?: Record<string, string>
  http2?: boolean
}

export async function openEvents({ at, caller, path, headers = {}, http2 = false }: Opening): Promise<EventStream> {
  const sent = { ...credentials(caller), accept: 'text/event-stream', ...headers }
  const opened = await (http2 ? overHttp2 : overHttp1)(at, path, sent)
  let rest = ''
  let taken = 0
  const stream: EventStream = {
    status: opened.status,
    headers: opened.headers,
    text: '',
    events: [],
    lastId: headers['last-event-id'],
    async next() {
      const ends = performance.now() + 20_000
      while (stream.events.length <= taken) {
        if (performance.now() > ends) throw new Error(`No event came; so far: ${stream.text}`)
        await delay(5)
      }
      return stream.events[taken++] as Event
    },
    ended: new Promise(resolve => opened.body.once('close', resolve)),
    pause: () => opened.body.pause(),
    resume: () => opened.body.resume(),
    close: opened.close,
  }
  opened.body.on('error', () => {})
  opened.body.setEncoding('utf8').on('data', (text: string) => {
    stream.text += text
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const event of blocks.map(eventIn)) {
      stream.lastId = event.id ?? stream.lastId
      if (event.data !== undefined) stream.events.push(event)
    }
  })
  return stream
}

function eventIn(block: string): Event {
  const fields = block.split('\n').flatMap(line => {
    const [, name = '', value = ''] = /^(\w+): (.*)$/.exec(line) ?? []
    return name ? [[name, value] as const] : []
  })
  const data = fields.flatMap(([name, value]) => (name === 'data' ? [value] : [])).join('\n')
  const event: Event = Object.fromEntries(fields)
  return data ? { ...event, data } : event
}

interface Opened {
  status: number
  headers: object
  body: Readable
  close(): void
}

function overHttp1({ baseUrl, ca }: Opening['at'], path: string, headers: Record<string, string>): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const asked = request(`${baseUrl}${path}`, { ca, headers, agent: false }, response =>
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: response,
        close: () => asked.destroy(),
      }),
    )
    asked.on('error', reject)
    asked.end()
  })
}

function overHttp2({ baseUrl, ca }: Opening['at'], path: string, headers: Record<string, string>): Promise<Opened> {
  const session = connect(baseUrl, { ca })
  return new Promise((resolve, reject) => {
    session.on('error', reject)
    const body = session.request({ ':path': path, ...headers })
    body.on('error', reject)
    body.once('close', () => session.close())
    body.once('response', told =>
      resolve({ status: Number(told[':status']), headers: told, body, close: () => session.destroy() }),
    )
  })
}
