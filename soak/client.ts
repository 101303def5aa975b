import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { type Asked, askOnce, type Body, isSettled, patienceMs, unsettled } from '../trials/asking.ts'
import type { Random } from '../trials/random.ts'

/** A server of the API as its callers know it. */
export interface Reached {
  baseUrl: string
  caFile: string
}

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

/** Longer than this nobody waits for `Retry-After` here. */
const longestRestMs = 1_500

/**
 * A client of several servers: whatever leaves open what became of a write it repeats with the same key, at any of them. Now and then it
 * loses its patience, and hangs up on an answer that may be on its way.
 */
export function clientOf(
  servers: readonly Reached[],
  headers: Record<string, string>,
  random: Random,
  { byCode }: Troubles,
) {
  const agents = new Map(
    servers.map(server => [server, new Agent({ keepAlive: true, ca: readFileSync(server.caFile) })]),
  )

  return {
    /** Throws where nothing settles it within 90 seconds: that is a finding of its own. */
    async ask<Data>(asked: Asked): Promise<Settled<Data>> {
      const until = performance.now() + patienceMs
      let last = ''
      for (let attempts = 1; performance.now() < until; attempts++) {
        // Without a key, what was hung up on may be carried out behind what comes later, and undo it.
        const waitMs = asked.key !== undefined && random.chance(0.07) ? random.whole(1, 400) : undefined
        const server = random.pick(servers)
        const way = { baseUrl: server.baseUrl, agent: agents.get(server), headers }
        const answer = await askOnce<Data>(asked, way, waitMs).catch((error: Error) => error)
        if (answer instanceof Error) last = 'no answer'
        else {
          const { status, body: json, headers: told } = answer
          if (isSettled(answer)) return { status, json, isReplay: told['idempotent-replayed'] === 'true', attempts }
          last = `${status} ${json.code}`
          await delay(random.whole(0, Math.min(Number(told['retry-after'] ?? 0) * 1_000, longestRestMs)))
        }
        byCode.set(last, (byCode.get(last) ?? 0) + 1)
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
    close() {
      for (const agent of agents.values()) agent.destroy()
    },
  }
}

export type Client = ReturnType<typeof clientOf>
