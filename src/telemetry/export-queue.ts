import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import { finishesWithin } from '../concurrency/backoff.ts'
import { singleFlight } from '../concurrency/single-flight.ts'

/** Sends data to an OTLP collector, and passes the result to the callback. */
interface OtlpExporter<Data> {
  export(data: Data, onResult: (result: ExportResult) => void): void
}

/** Called when the collector begins to reject data or is unreachable, and when it accepts data again. */
export type OnDeliveryChange = (isDelivered: boolean, reason: string) => void

/** Maximum items that wait for the collector. Further items are lost, so an unavailable collector costs a few megabytes at most. */
const maxQueuedItems = 8_192
const maxItemsPerRequest = 2_048
const intervalMs = 1_000
export const exportTimeoutMs = 10_000

/** Sends data once. Returns if the collector accepted it, and if it will never accept it. */
export async function sendOnce<Data>(exporter: OtlpExporter<Data>, data: Data) {
  const { code, error } = await new Promise<ExportResult>(resolve => exporter.export(data, resolve))
  const status = (error as { code?: unknown } | undefined)?.code
  return {
    wasSent: code === ExportResultCode.SUCCESS,
    wasRejected: typeof status === 'number' && status < 500 && status !== 429,
    reason: error?.message ?? '',
  }
}

/** Queues items and sends them to an OTLP collector in the background. No request waits for it. */
export function createExportQueue<Item>(exporter: OtlpExporter<Item[]>, onChange: OnDeliveryChange) {
  const queue: Item[] = []
  const counts = { sent: 0, lost: 0 }
  let isDelivered = true

  /** Sends one request. True if its items were sent or rejected. False if they wait for the next attempt. */
  async function send(items: Item[]): Promise<boolean> {
    const { wasSent, wasRejected, reason } = await sendOnce(exporter, items)
    if (wasSent !== isDelivered) onChange(wasSent, reason)
    isDelivered = wasSent
    if (wasSent || wasRejected) counts[wasSent ? 'sent' : 'lost'] += items.length
    return wasSent || wasRejected
  }

  const share = singleFlight()
  /** Sends the items that are queued now, in requests of at most `maxItemsPerRequest`, until the collector is unavailable. */
  const flush = () =>
    share('flush', async () => {
      for (let remaining = queue.length; remaining > 0; ) {
        const items = queue.slice(0, Math.min(remaining, maxItemsPerRequest))
        if (!(await send(items))) return
        queue.splice(0, items.length)
        remaining -= items.length
      }
    })
  const timer = setInterval(() => void flush(), intervalMs).unref()

  return {
    /** Queues an item. `create` isn't called if the queue is full. */
    add(create: () => Item) {
      if (queue.length >= maxQueuedItems) counts.lost++
      else if (queue.push(create()) >= maxItemsPerRequest && isDelivered) void flush()
    },
    /** Returns how many items were sent and how many were lost. */
    counts: () => ({ ...counts }),
    /** Sends the remaining items, for at most `withinMs`. */
    async close(withinMs: number) {
      clearInterval(timer)
      const sendRemaining = async () => {
        // The first flush may join a run that began before the last items were queued.
        for (let left = 2; left > 0 && queue.length > 0; left--) await flush()
      }
      await finishesWithin(sendRemaining(), withinMs)
    },
  }
}
