import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { handleRequests, now } from './child.ts'
import { createQuantile } from './quantile.ts'

/** A load on an HTTP server: the same request again and again, on persistent connections. */
export interface Load {
  port: number
  /** The certificate authority to trust. If absent, the load uses plain HTTP. */
  ca?: string
  request: string
  connections: number
  seconds: number
  /** Requests per second, independent of response times. If absent, each connection sends the next request when it has a response. */
  rate?: number
}

export interface LoadResult {
  responsesPerSecond: number
  /** Milliseconds from the time at which a request was due. */
  p50: number
  p99: number
}

const warmSeconds = 0.5

/** Opens one connection. Counts the bytes of a body by its `content-length` instead of parsing it. */
async function openConnection({ port, ca, request }: Load) {
  let head = ''
  let remaining = 0
  let onComplete = () => {}
  const receive = (length: number, buffer: Uint8Array) => {
    if (remaining === 0) {
      const chunk = Buffer.from(buffer.buffer, buffer.byteOffset, length)
      // Only the head is decoded.
      const end = chunk.indexOf('\r\n\r\n')
      head += chunk.toString('latin1', 0, end < 0 ? length : end)
      if (end < 0) return true
      const size = /^HTTP\/1\.1 200 [\s\S]*\r\ncontent-length: (\d+)/i.exec(head)?.[1]
      if (size === undefined) throw new Error(`The response has no status 200 or no length: ${head}`)
      remaining = Number(size) - (length - end - 4)
      head = ''
    } else remaining -= length
    if (remaining === 0) onComplete()
    return true
  }
  // All responses share one buffer.
  const options = { port, host: '127.0.0.1', onread: { buffer: Buffer.alloc(1 << 16), callback: receive } }
  const socket: Socket = ca ? connectTls({ ...options, servername: 'localhost', ca }) : connectPlain(options)
  await new Promise<void>((resolve, reject) => {
    socket.once(ca ? 'secureConnect' : 'connect', resolve)
    socket.once('error', reject)
  })
  socket.setNoDelay(true)
  const bytes = Buffer.from(request)
  socket.on('close', () => {
    if (!ending) throw new Error('The server closed a connection.')
  })
  let ending = false
  return {
    sendRequest(onResponse: () => void) {
      onComplete = onResponse
      socket.write(bytes)
    },
    end() {
      ending = true
      socket.destroy()
    },
  }
}

type Connection = Awaited<ReturnType<typeof openConnection>>

/** Sends the next request on each connection when it has a response, and records the milliseconds. Returns a function that stops the load. */
function loadContinuously(connections: readonly Connection[], record: (ms: number) => void) {
  let isRunning = true
  for (const connection of connections) {
    const sendNext = () => {
      const requested = now()
      connection.sendRequest(() => {
        record(now() - requested)
        if (isRunning) sendNext()
      })
    }
    sendNext()
  }
  return () => {
    isRunning = false
  }
}

/** Sends requests at a fixed rate, by the clock of a separate thread (precise to about 0.1 ms). If no connection is free, the request waits, and its wait counts. */
function loadAtRate(connections: readonly Connection[], rate: number, record: (ms: number) => void) {
  const freeConnections = [...connections]
  const waitingDueTimes: number[] = []
  const sendRequest = (connection: Connection, due: number) =>
    connection.sendRequest(() => {
      record(now() - due)
      const next = waitingDueTimes.shift()
      if (next === undefined) freeConnections.push(connection)
      else sendRequest(connection, next)
    })
  const clock = new Worker(new URL('./clock.ts', import.meta.url), { workerData: { intervalMs: 1_000 / rate } })
  clock.on('message', (due: number) => {
    // The connections take turns, because the server closes idle ones.
    const connection = freeConnections.shift()
    if (connection) sendRequest(connection, due)
    else waitingDueTimes.push(due)
  })
  return () => void clock.terminate()
}

handleRequests(async (load: Load, begin): Promise<LoadResult> => {
  const connections = await Promise.all(Array.from({ length: load.connections }, () => openConnection(load)))
  let times: number[] = []
  const record = (ms: number) => times.push(ms)
  const stop =
    load.rate === undefined ? loadContinuously(connections, record) : loadAtRate(connections, load.rate, record)
  await sleep(warmSeconds)
  times = []
  begin()
  const from = now()
  await sleep(load.seconds)
  const seconds = (now() - from) / 1_000
  const [responses, quantile] = [times.length, createQuantile(times)]
  stop()
  for (const connection of connections) connection.end()
  return { responsesPerSecond: responses / seconds, p50: quantile(0.5), p99: quantile(0.99) }
})

const sleep = (seconds: number) => new Promise(resolve => setTimeout(resolve, seconds * 1_000))
