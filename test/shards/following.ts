import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { buildCustomer, newEmail } from '../support/customer-bodies.ts'
import type { Caller } from '../support/service.ts'
import { post, withKey } from '../support/write.ts'

/** Work that continues until `end` is called, which returns its result. */
export interface RunningWork<T> {
  end(): Promise<T>
}

function startWork<T>(work: (isOver: () => boolean) => Promise<T>): RunningWork<T> {
  let isEnded = false
  const result = work(() => isEnded)
  result.catch(() => {})
  return {
    end() {
      isEnded = true
      return result
    },
  }
}

/** True for the response of a service that is moving. */
const isPaused = ({ status, headers }: Awaited<ReturnType<Caller['get']>>) => {
  if (status !== 503) return false
  assert.ok(Number(headers['retry-after']) > 0, 'the response must say when to retry')
  return true
}

/** Creates customers one by one, each with an idempotency key, and repeats each request until it succeeds. */
export const startWriting = (caller: Caller) =>
  startWork(async isOver => {
    const ids: string[] = []
    let longestMs = 0
    let pauseCount = 0
    for (let lastWrittenAt = performance.now(); !isOver(); ) {
      const [body, key] = [buildCustomer({ contact: { email: newEmail() } }), withKey()]
      let response = await post(caller, '/customers', body, key)
      for (; isPaused(response); response = await post(caller, '/customers', body, key)) {
        pauseCount++
        await delay(50)
      }
      assert.equal(response.status, 201, response.text)
      ids.push(response.json.data.id)
      longestMs = Math.max(longestMs, performance.now() - lastWrittenAt)
      lastWrittenAt = performance.now()
      await delay(20)
    }
    return { ids, longestMs, pauseCount }
  })

/** Follows `GET /changes`. Returns all changes in the order of their arrival. */
export const startFollowingChanges = (caller: Caller) =>
  startWork(async isOver => {
    const changes: { id: string; changedAt: string }[] = []
    let cursor = ''
    for (let isLast = false; ; ) {
      const response = await caller.get(`/changes?kinds=customer&limit=20${cursor && `&after_cursor=${cursor}`}`)
      if (!isPaused(response)) {
        assert.equal(response.status, 200, response.text)
        changes.push(...response.json.data)
        cursor = response.json.meta.endCursor
        if (isLast && response.json.data.length === 0) return changes
        isLast = isOver()
      }
      await delay(15)
    }
  })

/** Polls the list of customers. Returns the IDs of all listed customers and the `asOf` of each poll. */
export const startPollingList = (caller: Caller) =>
  startWork(async isOver => {
    const ids = new Set<string>()
    const instants: string[] = []
    let since = '2020-01-01 00:00:00'
    for (let isLast = false; ; ) {
      const query = `/customers/search?updated_after=${encodeURIComponent(since)}&limit=100`
      let asOf: string | undefined
      let count = 0
      for (let cursor: string | null = ''; cursor !== null; ) {
        const response = await caller.get(`${query}${cursor && `&after_cursor=${cursor}`}`)
        if (!isPaused(response)) {
          assert.equal(response.status, 200, response.text)
          const { data, meta } = response.json
          for (const { id, updateTimeStamp } of data) {
            if (!ids.has(id)) count++
            ids.add(id)
            since = updateTimeStamp > since ? updateTimeStamp : since
          }
          assert.equal(meta.asOf, asOf ?? meta.asOf, 'all pages of a list must have the same `asOf`')
          asOf = meta.asOf
          cursor = meta.hasNextPage ? meta.endCursor : null
        }
        await delay(10)
      }
      if (asOf) instants.push(asOf)
      if (isLast && count === 0) return { ids, instants }
      isLast = isOver()
    }
  })
