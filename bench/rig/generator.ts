import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { answerRequests, now } from './child.ts'
import { quantilesOf } from './quantile.ts'

/** A load on an HTTP server: the same request over and over, on connections that stay open. */
export interface Load {
  port: number
  /** The authority to trust; absent: plain HTTP. */
  ca?: string
  request: string
  connections: number
  seconds: number
  /** Requests per second, independent of response times. Absent: each connection sends the next request when it has a response. */
  rate?: number
}

export interface Measured {
  answersPerSecond: number
  /** Milliseconds, from the moment a request was due. */
  p50: number
  p99: number
}

const warmSeconds = 0.5

/** Opens one connection. `ask` calls back when its response is complete. The body is counted by its content-length and not parsed. */
async function openConnection({ port, ca, request }: Load) {
  let head = ''
  let remaining = 0
  let answered = () => {}
  const receive = (length: number, buffer: Uint8Array) => {
    if (remaining === 0) {
      const chunk = Buffer.from(buffer.buffer, buffer.byteOffset, length)
      // Only the head is decoded.
      const end = chunk.indexOf('\r\n\r\n')
      head += chunk.toString('latin1', 0, end < 0 ? length : end)
      if (end < 0) return true
      const size = /^HTTP\/1\.1 200 [\s\S]*\r\ncontent-length: (\d+)/i.exec(head)?.[1]
      if (size === undefined) throw new Error(`An answer that is no page: ${head}`)
      remaining = Number(size) - (length - end - 4)
      head = ''
    } else remaining -= length
    if (remaining === 0) answered()
    return true
  }
  // One reused buffer: no response is kept.
  const options = { port, host: '127.0.0.1', onread: { buffer: Buffer.alloc(1 << 16), callback: receive } }
  const socket: Socket = ca ? connectTls({ ...options, servername: 'localhost', ca }) : connectPlain(options)
  await new Promise<void>((resolve, reject) => {
    socket.once(ca ? 'secureConnect' : 'connect', resolve)
    socket.once('error', reject)
  })
  socket.setNoDelay(true)
  const bytes = Buffer.from(request)
  socket.on('close', () => {
    if (!ending) throw new Error('The server has closed a connection.')
  })
  let ending = false
  return {
    ask(then: () => void) {
      answered = then
      socket.write(bytes)
    },
    end() {
      ending = true
      socket.destroy()
    },
  }
}

type Connection = Awaited<ReturnType<typeof openConnection>>

/** Calls back with the milliseconds of each response. Returns a function that stops the load. */
function askAlways(connections: readonly Connection[], took: (ms: number) => void) {
  let on = true
  for (const connection of connections) {
    const ask = () => {
      const requested = now()
      connection.ask(() => {
        took(now() - requested)
        if (on) ask()
      })
    }
    ask()
  }
  return () => {
    on = false
  }
}

/** Sends requests at a fixed rate, by the clock of a separate thread (about 0.1 ms). If no connection is free, the request waits, and its wait counts. */
function askAtRate(connections: readonly Connection[], rate: number, took: (ms: number) => void) {
  const free = [...connections]
  const waiting: number[] = []
  const ask = (connection: Connection, due: number) =>
    connection.ask(() => {
      took(now() - due)
      const next = waiting.shift()
      if (next === undefined) free.push(connection)
      else ask(connection, next)
    })
  const clock = new Worker(new URL('./clock.ts', import.meta.url), { workerData: { intervalMs: 1_000 / rate } })
  clock.on('message', (due: number) => {
    // The connections take turns, because the server closes idle ones.
    const connection = free.shift()
    if (connection) ask(connection, due)
    else waiting.push(due)
  })
  return () => void clock.terminate()
}

answerRequests(async (load: Load, begin): Promise<Measured> => {
  const connections = await Promise.all(Array.from({ length: load.connections }, () => openConnection(load)))
  let times: number[] = []
  const took = (ms: number) => times.push(ms)
  const stop = load.rate === undefined ? askAlways(connections, took) : askAtRate(connections, load.rate, took)
  await sleep(warmSeconds)
  times = []
  begin()
  const from = now()
  await sleep(load.seconds)
  const seconds = (now() - from) / 1_000
  const [responses, quantile] = [times.length, quantilesOf(times)]
  stop()
  for (const connection of connections) connection.end()
  return { answersPerSecond: responses / seconds, p50: quantile(0.5), p99: quantile(0.99) }
})

const sleep = (seconds: number) => new Promise(resolve => setTimeout(resolve, seconds * 1_000))
