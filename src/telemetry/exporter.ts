import http from 'node:http'
import https from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { addSpan, requestOf } from './otlp.ts'
import { type Message, newMessage } from './protobuf.ts'
import type { Attributes, Span } from './spans.ts'

interface Exporting {
  /** Where requests go, with its path. */
  url: string
  headers: Readonly<Record<string, string>>
  resource: Attributes
  version: string
  /** Told when spans begin to be lost, and when they arrive again. */
  onChange: (isDelivered: boolean, reason: string) => void
}

/** Spans that wait; what comes beyond is lost, so that a collector that is away costs some megabytes and no more. */
const mostWaiting = 8_192
/** Spans of one request: it costs as much as some hundred spans do. */
const mostAtOnce = 2_048
/** Room that most batches do with. */
const bytesOfBatch = 1 << 19
const everyMs = 1_000
const patienceMs = 10_000

/** What a collector answers that may take it later (OTLP/HTTP, "Failures"). */
const later = new Set([429, 502, 503, 504])

export type Exporter = ReturnType<typeof exporterTo>

/** Spans of one request. */
interface Batch {
  spans: number
  message: Message
}

/**
 * Posts on a connection that stays open, and tells the status of the answer. Not by `fetch`, whose code takes longer to load, and more memory,
 * than all of this.
 */
function poster(url: string, headers: Readonly<Record<string, string>>) {
  const { Agent, request } = url.startsWith('https:') ? https : http
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return function post(body: Buffer): Promise<number> {
    return new Promise((resolve, reject) => {
      const told = { method: 'POST', agent, headers: { ...headers, 'content-length': body.length } }
      const asked = request(url, { ...told, signal: AbortSignal.timeout(patienceMs) }, answer =>
        answer
          .resume()
          .on('end', () => resolve(answer.statusCode ?? 0))
          .on('error', reject),
      )
      asked.on('error', (error: NodeJS.ErrnoException) => {
        // It was closed over there just now.
        if (asked.reusedSocket && error.code === 'ECONNRESET') post(body).then(resolve, reject)
        else reject(error)
      })
      asked.end(body)
    })
  }
}

/** Sends spans in the background, some hundred in a request; nobody ever waits for it. What waits is bytes, not objects. */
export function exporterTo({ url, headers, resource, version, onChange }: Exporting) {
  /** Room of a batch that has gone, for the next one: half a megabyte that is new each time has garbage collected more often. */
  let spare: Message | undefined
  const newBatch = (): Batch => {
    const message = spare ?? newMessage(bytesOfBatch)
    spare = undefined
    return { spans: 0, message }
  }
  /** The last one is being filled. */
  const batches: Batch[] = [newBatch()]
  const counts = { sent: 0, lost: 0 }
  let waiting = 0
  let wasDelivered = true
  const post = poster(url, { ...headers, 'content-type': 'application/x-protobuf' })
  const told = (isDelivered: boolean, reason = '') => {
    if (isDelivered !== wasDelivered) onChange(isDelivered, reason)
    wasDelivered = isDelivered
  }

  /** Sends a request. Undefined: its spans wait for another time; else whether they were taken. */
  async function send(body: Buffer): Promise<boolean | undefined> {
    let status = 0
    let reason = ''
    try {
      status = await post(body)
      reason = `It answers ${status}.`
    } catch (error) {
      const { name, code } = error as NodeJS.ErrnoException
      reason = `It cannot be reached: ${code ?? name}.`
    }
    const isTaken = status >= 200 && status < 300
    told(isTaken, reason)
    return status === 0 || later.has(status) ? undefined : isTaken
  }

  /** Sends all but what is being filled, until nobody takes it. */
  async function sendAll() {
    for (let [batch] = batches; batch && batches.length > 1; [batch] = batches) {
      const isTaken = await send(requestOf(resource, version, batch.message))
      if (isTaken === undefined) return
      batches.shift()
      waiting -= batch.spans
      counts[isTaken ? 'sent' : 'lost'] += batch.spans
      batch.message.length = 0
      spare = batch.message
    }
  }

  let sending: Promise<void> | undefined
  const flush = () => {
    sending ??= sendAll().finally(() => {
      sending = undefined
    })
    return sending
  }
  // Behind one that nobody takes it may as well become full.
  const flushRest = () => {
    if (batches.length === 1 && waiting) batches.push(newBatch())
    return flush()
  }
  // The clock may be set while the process runs.
  const originNow = () => Date.now() - performance.now()
  let origin = originNow()
  const timer = setInterval(() => {
    origin = originNow()
    void flushRest()
  }, everyMs).unref()

  return {
    record(span: Span) {
      const batch = batches.at(-1)
      if (!batch || waiting >= mostWaiting) {
        counts.lost++
        return
      }
      addSpan(batch.message, span, origin)
      waiting++
      if (++batch.spans < mostAtOnce) return
      batches.push(newBatch())
      if (wasDelivered) void flush()
    },
    /** How many spans were taken, and how many are lost, so far. */
    counts: () => ({ ...counts }),
    /** Sends what is left, for at most so long. */
    async close(withinMs: number) {
      clearInterval(timer)
      const rest = async () => {
        await sending
        await flush()
        await flushRest()
      }
      await Promise.race([rest(), delay(withinMs, undefined, { ref: false })])
    },
  }
}
