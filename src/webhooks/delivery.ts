import { randomUUID } from 'node:crypto'
import { encodeCursor, renderChange, type Subscription } from '../change-feed/subscription.ts'
import type { ChangesPage } from '../store/change-feed/changes.ts'
import type { PendingDelivery } from '../store/webhooks/deliveries.ts'
import { buildBody } from './payload.ts'

/** Builds a delivery of at least one change, with as many changes as fit. */
export function buildDelivery(following: Subscription, { changes, hasMore, positions }: ChangesPage): PendingDelivery {
  const cursorAfter = (count: number) =>
    encodeCursor(following, (count < changes.length && changes[count - 1]?.positions) || positions)
  const { text, count } = buildBody({
    service: following.service.name,
    timestamp: new Date().toISOString(),
    changes: changes.map(renderChange),
    cursorAfter,
  })
  return {
    id: `msg_${randomUUID()}`,
    body: text,
    cursor: cursorAfter(count),
    isLast: !hasMore && count === changes.length,
    changes: count,
  }
}
