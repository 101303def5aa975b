import { setTimeout as delay } from 'node:timers/promises'
import type { Tillbridge } from '../../../client/src/index.ts'
import { toOutcome } from '../operations/client.ts'
import { createCustomer } from './customer-writers.ts'

/** The result of writing and reading changes of one service while it moves. */
export interface ChangeReport {
  /** Changes that were lost, delivered twice, or out of order, and writes that were rejected. */
  wrong: string[]
  /** The longest time from one acknowledged write to the next, in milliseconds. */
  longestPauseMs: number
}

/** Creates customers and reads `/changes` from the beginning until `isOver`, with a pause after each request; then reads to the end. */
export async function writeAndReadChanges(
  name: string,
  api: Tillbridge,
  isOver: () => boolean,
  pauseMs = 100,
): Promise<ChangeReport> {
  const acknowledgedIds: string[] = []
  const delivered: { id: string; changedAt: string }[] = []
  const wrong: string[] = []
  let longestPauseMs = 0
  let isWritten = false

  async function write() {
    let last = performance.now()
    for (let i = 0; !isOver(); i++) {
      for (;;) {
        const { status, code, data } = await createCustomer(api, `moved-${i}@example.com`)
        if (status === 201) {
          acknowledgedIds.push(data?.id ?? '')
          break
        }
        if (status && status < 500) wrong.push(`a write was rejected: ${status} ${code}`)
        await delay(50)
      }
      longestPauseMs = Math.max(longestPauseMs, performance.now() - last)
      last = performance.now()
      await delay(pauseMs)
    }
    isWritten = true
  }

  async function readChanges() {
    let cursor: string | undefined
    for (let isLast = false; ; ) {
      const { data: page } = await toOutcome(api.changes.list({ kinds: 'customer', limit: 1_000 }).page(cursor))
      if (!page) {
        await delay(100)
        continue
      }
      delivered.push(...page.data)
      cursor = page.meta.endCursor ?? cursor
      if (page.meta.hasNextPage) continue
      if (isLast && !page.data.length) return
      isLast = isWritten
      await delay(isLast ? 0 : pauseMs)
    }
  }

  await Promise.all([write(), readChanges()])
  const counts = new Map<string, number>()
  for (const { id } of delivered) counts.set(id, (counts.get(id) ?? 0) + 1)
  for (const id of acknowledgedIds) {
    const count = counts.get(id) ?? 0
    if (count !== 1) wrong.push(`${name}: ${id} was delivered ${count} times`)
  }
  if (delivered.some(({ changedAt }, i) => changedAt < (delivered[i - 1]?.changedAt ?? '')))
    wrong.push(`${name}: a change timestamp is older than the previous one`)
  return { wrong, longestPauseMs }
}
