import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { answerAsks, now } from './child.ts'
import { quantilesOf } from './quantile.ts'

/** A load on an HTTP server: the same request over and over, on connections that stay open. */
export interface Load {
  port: number
  /** The authority to trust; absent: plain HTTP. */
  ca?: string
  request: string
  connections: number
  seconds: number
  /** Requests per second, whatever the answers take. Absent: each connection asks again as soon as it is answered. */
  rate?: number
}

export interface Measured {
  answersPerSecond: number
  /** Milliseconds, from the moment a request was due. */
  p50: number
  p99: number
}

const warmSeconds = 0.5

/** One connection; `ask` calls back when its answer is complete. Answers are counted by their content-length, not looked into. */
async function openConnection({ port, ca, request }: Load) {
  let head = ''
  let remaining = 0
  let answered = () => {}
  const receive = (length: number, buffer: Uint8Array) => {
    if (remaining === 0) {
      const chunk = Buffer.from(buffer.buffer, buffer.byteOffset, length)
      // Only the head is ever made a text.
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
  // One buffer, read into again and again: nothing of an answer is kept.
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

/** Calls back with how long each answer took. Returns what ends it. */
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

/** A thread of its own keeps time, to some 0.1 ms; a request that finds no free connection waits, and its waiting counts. */
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
    // In turn: the server closes those that do not ask for long.
    const connection = free.shift()
    if (connection) ask(connection, due)
    else waiting.push(due)
  })
  return () => void clock.terminate()
}

answerAsks(async (load: Load, begin): Promise<Measured> => {
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
