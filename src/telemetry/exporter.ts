import { setTimeout as delay } from 'node:timers/promises'
import { requestText, resourceText, spanText } from './otlp.ts'
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
/** Spans of one request. */
const mostAtOnce = 1_024
const everyMs = 1_000
const patienceMs = 10_000

/** What a collector answers that may take it later (OTLP/HTTP, "Failures"). */
const later = new Set([429, 502, 503, 504])

export type Exporter = ReturnType<typeof exporterTo>

/** Sends spans in the background, some hundred in a request; nobody ever waits for it. */
export function exporterTo({ url, headers, resource, version, onChange }: Exporting) {
  const waiting: string[] = []
  const who = resourceText(resource)
  const lost = { count: 0 }
  const sent = { count: 0 }
  let wasDelivered = true
  const told = (isDelivered: boolean, reason = '') => {
    if (isDelivered !== wasDelivered) onChange(isDelivered, reason)
    wasDelivered = isDelivered
  }

  /** Sends the first ones. False: they wait for another time. */
  async function send(): Promise<boolean> {
    const spans = waiting.slice(0, mostAtOnce)
    let status = 0
    let reason = ''
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: requestText(who, version, spans),
        redirect: 'error',
        signal: AbortSignal.timeout(patienceMs),
      })
      await answer.body?.cancel()
      status = answer.status
      reason = `It answers ${status}.`
    } catch (error) {
      const { name, cause } = error as Error & { cause?: { code?: string } }
      reason = `It cannot be reached: ${cause?.code ?? name}.`
    }
    const isTaken = status >= 200 && status < 300
    told(isTaken, reason)
    if (status === 0 || later.has(status)) return false
    waiting.splice(0, spans.length)
    const counted = isTaken ? sent : lost
    counted.count += spans.length
    return true
  }

  let sending: Promise<void> | undefined
  /** Sends what waits, until all is gone or nobody takes it. */
  const flush = () => {
    sending ??= (async () => {
      while (waiting.length && (await send())) {}
    })().finally(() => {
      sending = undefined
    })
    return sending
  }
  const timer = setInterval(flush, everyMs).unref()

  return {
    record(span: Span) {
      if (waiting.length >= mostWaiting) lost.count++
      else waiting.push(spanText(span))
      if (waiting.length >= mostAtOnce && wasDelivered) void flush()
    },
    /** How many spans were taken, and how many are lost, so far. */
    counts: () => ({ sent: sent.count, lost: lost.count }),
    /** Sends what is left, for at most so long. */
    async close(withinMs: number) {
      clearInterval(timer)
      await sending
      await Promise.race([flush(), delay(withinMs, undefined, { ref: false })])
    },
  }
}
