import { randomUUID } from 'node:crypto'
import { encodeCursor, renderChange, type Subscription } from '../change-feed/subscription.ts'
import type { ChangesPage } from '../store/change-feed/changes.ts'
import type { PendingDelivery } from '../store/webhooks/deliveries.ts'

/** The largest delivery, in changes and bytes. A single change can be larger. */
export const maxChanges = 100
const maxBytes = 20_000

/** Builds a delivery of at least one change, with as many changes as fit. */
export function buildDelivery(
  subscription: Subscription,
  { changes, hasMore, positions }: ChangesPage,
): PendingDelivery {
  const getCursorAfter = (changeCount: number) =>
    encodeCursor(subscription, (changeCount < changes.length && changes[changeCount - 1]?.positions) || positions)
  const { body, count } = buildBody({
    service: subscription.service.name,
    timestamp: new Date().toISOString(),
    changes: changes.map(renderChange),
    cursorAfter: getCursorAfter,
  })
  return {
    id: `msg_${randomUUID()}`,
    body,
    cursor: getCursorAfter(count),
    isLast: !hasMore && count === changes.length,
    changes: count,
  }
}

interface DeliveryContent {
  service: string
  /** When the body is built. RFC 3339. */
  timestamp: string
  /** At least one change as JSON. */
  changes: readonly string[]
  /** Returns the cursor after the first `count` changes. */
  cursorAfter: (count: number) => string
}

/** Builds the body. Returns it with the number of changes that fit: at least one. */
function buildBody({ service, timestamp, changes, cursorAfter }: DeliveryContent): { body: string; count: number } {
  const renderBody = (count: number) => {
    const data = JSON.stringify({ service, cursor: cursorAfter(count) })
    const dataWithChanges = `${data.slice(0, -1)},"changes":[${changes.slice(0, count).join(',')}]}`
    return `{"type":"records.changed","timestamp":${JSON.stringify(timestamp)},"data":${dataWithChanges}}`
  }
  for (let count = changes.length; ; count--) {
    const body = renderBody(count)
    if (count === 1 || Buffer.byteLength(body) <= maxBytes) return { body, count }
  }
}

/** Builds the body of a test event (`WebhookTestEvent`). */
export const buildTestBody = (service: string, timestamp: string) =>
  JSON.stringify({ type: 'webhook.test', timestamp, data: { service } })
