import { setTimeout as delay } from 'node:timers/promises'
import { type Asked, askOnce, type Body, isSettled, patienceMs, unsettled } from '../support/asking.ts'
import type { Kept } from '../support/processes.ts'
import type { Random } from '../support/random.ts'
import { waysTo } from '../support/reaching.ts'

/** An answer that settles a request. `Data` is what the API documents for it: the run judges effects, not shapes. */
export interface Settled<Data = unknown> {
  status: number
  json: Body<Data> & { reason?: string }
  /** The stored answer of an earlier attempt. */
  isReplay: boolean
  attempts: number
}

/** What befell all clients on the way to what was settled. */
export interface Troubles {
  /** Answers that were no end of it, by code; and those that never came. */
  byCode: Map<string, number>
}

/** What stands in for the status where a client went away, and never learned what became of what it asked for. */
export const gone = 499

/** Longer than this nobody waits for `Retry-After` here. */
const longestRestMs = 1_500

/**
 * A client of several servers, which die now and then: whatever leaves open what became of a write it repeats with the same key, at any of
 * them. Now and then it loses its patience, and hangs up on an answer that may be on its way.
 */
export function clientOf(
  servers: readonly Kept[],
  headers: Record<string, string>,
  random: Random,
  { byCode }: Troubles,
) {
  const ways = waysTo(servers, headers, random)

  return {
    /** Throws where nothing settles it within 90 seconds: that is a finding of its own. One that `leaves` may not come back (`gone`). */
    async ask<Data>(asked: Asked, leaves = false): Promise<Settled<Data>> {
      const until = performance.now() + patienceMs
      let last = ''
      for (let attempts = 1; performance.now() < until; attempts++) {
        // Without a key, what was hung up on may be carried out behind what comes later, and undo it.
        const waitMs = asked.key !== undefined && random.chance(0.07) ? random.whole(1, 400) : undefined
        const way = ways.any()
        const answer = way
          ? await askOnce<Data>(asked, way, waitMs).catch((error: Error) => error)
          : new Error('no server is up')
        if (answer instanceof Error) last = 'no answer'
        else {
          const { status, body: json, headers: told } = answer
          if (isSettled(answer)) return { status, json, isReplay: told['idempotent-replayed'] === 'true', attempts }
          last = `${status} ${json.code}`
          await delay(random.whole(0, Math.min(Number(told['retry-after'] ?? 0) * 1_000, longestRestMs)))
        }
        byCode.set(last, (byCode.get(last) ?? 0) + 1)
        if (leaves && random.chance(0.04)) return { status: gone, json: {}, isReplay: false, attempts }
        await delay(20 + random.whole(0, 80))
      }
      throw unsettled(asked, last)
    },
    /** Every page of a list, with its `asOf`. */
    async list<T>(path: string): Promise<{ records: T[]; asOf: string }> {
      const records: T[] = []
      let asOf = ''
      for (let cursor = '', more = true; more; ) {
        const { status, json } = await this.ask<T[]>({ method: 'GET', path: `${path}${cursor}` })
        if (status !== 200) throw new Error(`${path} was answered with ${status} ${json.code}`)
        records.push(...(json.data ?? []))
        asOf = json.meta?.asOf ?? ''
        more = json.meta?.hasNextPage === true
        cursor = `${path.includes('?') ? '&' : '?'}after_cursor=${json.meta?.endCursor}`
      }
      return { records, asOf }
    },
    close: ways.close,
  }
}

export type Client = ReturnType<typeof clientOf>
