import { setTimeout as delay } from 'node:timers/promises'
import type { Answered, Asked } from '../../support/asking.ts'
import type { Retailer } from './retailers.ts'

type Ask = <Data>(retailer: Retailer, asked: Asked) => Promise<Answered<Data> | undefined>

/** What came of writing for, and following, a retailer whose service is moved. */
export interface Followed {
  retailer: Retailer
  /** What was wrong: lost, told twice, gone back. */
  wrong: string[]
  /** The longest time from one acknowledged write to the next, in milliseconds. */
  pausedMs: number
}

/** Writes, and follows `/changes` from the beginning, until it is over; then reads on to the end. */
export async function writeAndFollow(retailer: Retailer, ask: Ask, isOver: () => boolean): Promise<Followed> {
  const written: string[] = []
  const told: { id: string; changedAt: string }[] = []
  const wrong: string[] = []
  let pausedMs = 0
  let isWritten = false

  async function write() {
    let last = performance.now()
    for (let i = 0; !isOver(); i++) {
      const email = `moved-${i}@example.com`
      const body = { firstname: 'Ann', surname: 'Lee', contact: { email } }
      const asked = { method: 'POST', path: '/customers', key: email, body } as const
      for (;;) {
        const answer = await ask<{ id: string }>(retailer, asked)
        if (answer?.status === 201) {
          written.push(answer.body.data?.id ?? '')
          break
        }
        if (answer && answer.status < 500)
          wrong.push(`a write was answered ${answer.status}: ${answer.text.slice(0, 99)}`)
        await delay(50)
      }
      pausedMs = Math.max(pausedMs, performance.now() - last)
      last = performance.now()
      await delay(100)
    }
    isWritten = true
  }

  async function follow() {
    let cursor = ''
    for (let isLast = false; ; ) {
      const path = `/changes?kinds=customer&limit=1000${cursor}`
      const answer = await ask<{ id: string; changedAt: string }[]>(retailer, { method: 'GET', path })
      if (answer?.status !== 200 || !answer.body.meta) {
        await delay(100)
        continue
      }
      const { data = [], meta } = answer.body
      told.push(...data)
      cursor = `&after_cursor=${meta.endCursor}`
      if (meta.hasNextPage) continue
      if (isLast && !data.length) return
      isLast = isWritten
      await delay(isLast ? 0 : 100)
    }
  }

  await Promise.all([write(), follow()])
  const counts = new Map<string, number>()
  for (const { id } of told) counts.set(id, (counts.get(id) ?? 0) + 1)
  for (const id of written) {
    if (!counts.has(id)) wrong.push(`${retailer.service.name}: ${id} was not told`)
    if ((counts.get(id) ?? 0) > 1) wrong.push(`${retailer.service.name}: ${id} was told twice`)
  }
  if (told.some(({ changedAt }, i) => changedAt < (told[i - 1]?.changedAt ?? '')))
    wrong.push(`${retailer.service.name}: a stamp went back`)
  return { retailer, wrong, pausedMs }
}
