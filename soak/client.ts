import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { type Asked, type Body, isSettled, patienceMs } from '../chaos/client.ts'
import type { Random } from '../chaos/random.ts'

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

const answerMs = 20_000
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

  const once = ({ method, path, body, key }: Asked, server: Reached, waitMs: number) =>
    new Promise<Omit<Settled<never>, 'attempts'> & { restMs: number }>((resolve, reject) => {
      const asked = request(
        `${server.baseUrl}${path}`,
        {
          method,
          agent: agents.get(server),
          signal: AbortSignal.timeout(waitMs),
          headers: {
            ...headers,
            ...(body && { 'content-type': 'application/json' }),
            ...(key !== undefined && { 'idempotency-key': key }),
          },
        },
        answer => {
          const chunks: Buffer[] = []
          answer.on('data', chunk => chunks.push(chunk))
          answer.on('error', reject)
          answer.on('end', () => {
            const text = Buffer.concat(chunks).toString()
            resolve({
              status: answer.statusCode ?? 0,
              json: text ? JSON.parse(text) : {},
              isReplay: answer.headers['idempotent-replayed'] === 'true',
              restMs: Number(answer.headers['retry-after'] ?? 0) * 1_000,
            })
          })
        },
      )
      asked.on('error', reject)
      asked.end(body && JSON.stringify(body))
    })

  return {
    /** Throws where nothing settles it within 90 seconds: that is a finding of its own. */
    async ask<Data>(asked: Asked): Promise<Settled<Data>> {
      const until = performance.now() + patienceMs
      let last = ''
      for (let attempts = 1; performance.now() < until; attempts++) {
        // Without a key, what was hung up on may be carried out behind what comes later, and undo it.
        const waitMs = asked.key !== undefined && random.chance(0.07) ? random.whole(1, 400) : answerMs
        const answer = await once(asked, random.pick(servers), waitMs).catch((error: Error) => error)
        if (answer instanceof Error) last = 'no answer'
        else {
          const { restMs, ...settled } = answer
          if (isSettled(answer.status, answer.json.code)) return { ...settled, attempts }
          last = `${answer.status} ${answer.json.code}`
          await delay(random.whole(0, Math.min(restMs, longestRestMs)))
        }
        byCode.set(last, (byCode.get(last) ?? 0) + 1)
        await delay(20 + random.whole(0, 80))
      }
      throw new Error(
        `${asked.method} ${asked.path} was not settled within ${patienceMs / 1_000} s; the last was: ${last}`,
      )
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
