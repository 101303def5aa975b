import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Static } from 'typebox'
import type { ListMeta } from '../src/http/lists.ts'
import type { Kept } from './processes.ts'
import type { Random } from './random.ts'

/** Where a list goes on. */
type Meta = Static<typeof ListMeta>

/** What an answer's body says: `data` where something was made or found, `code` where it was refused. */
export interface Body<Data> {
  data?: Data
  meta?: Meta
  code?: string
}

/** An answer that settles a request. `Data` is what the API documents for it: the run judges effects, not shapes. */
export interface Settled<Data> extends Body<Data> {
  status: number
  /** The body as it came. */
  text: string
}

export interface Asked {
  method: 'GET' | 'POST' | 'PUT'
  path: string
  body?: object | undefined
  key?: string | undefined
}

/** Milliseconds after which nothing but a fault can be the reason that nothing is settled. */
export const patienceMs = 90_000
const answerMs = 20_000

/** A client that asks any of the processes, and asks again with the same key until the answer settles it. */
export function clientOf(apis: readonly Kept[], directory: string, headers: Record<string, string>, random: Random) {
  const agents = new Map<string, Agent>()
  const agentOf = (name: string) => {
    const known = agents.get(name)
    if (known) return known
    const agent = new Agent({ keepAlive: true, ca: readFileSync(join(directory, name, 'tls/ca.pem')) })
    agents.set(name, agent)
    return agent
  }

  const once = ({ method, path, body, key }: Asked, api: Kept) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const asked = request(
        `${api.baseUrl}${path}`,
        {
          method,
          agent: agentOf(api.name),
          timeout: answerMs,
          headers: {
            ...headers,
            ...(body && { 'content-type': 'application/json' }),
            ...(key && { 'idempotency-key': key }),
          },
        },
        answer => {
          const chunks: Buffer[] = []
          answer.on('data', chunk => chunks.push(chunk))
          answer.on('error', reject)
          answer.on('close', () => answer.complete || reject(new Error('cut')))
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
        },
      )
      asked.on('timeout', () => asked.destroy(new Error('no answer in time')))
      asked.on('error', reject)
      asked.end(body && JSON.stringify(body))
    })

  /** Throws where nothing settles it within 90 seconds: that is a finding of its own. */
  async function ask<Data>(asked: Asked): Promise<Settled<Data>> {
    const until = performance.now() + patienceMs
    let last = ''
    while (performance.now() < until) {
      const up = apis.filter(api => api.baseUrl)
      const api = up.length ? random.pick(up) : undefined
      const answer = api ? await once(asked, api).catch((error: Error) => error) : new Error('no process was up')
      if (answer instanceof Error) last = answer.message
      else {
        const body: Body<Data> = JSON.parse(answer.text)
        if (isSettled(answer.status, body.code)) return { ...body, ...answer }
        last = `${answer.status} ${body.code}`
      }
      await delay(20 + random.whole(0, 80))
    }
    throw new Error(
      `${asked.method} ${asked.path} was not settled within ${patienceMs / 1_000} s; the last was: ${last}`,
    )
  }

  return {
    ask,
    /** A list that is there: its records, and where it goes on. */
    async list<Row>(path: string): Promise<{ data: Row[]; meta: Meta }> {
      const { data, meta, text } = await ask<Row[]>({ method: 'GET', path })
      if (!data || !meta) throw new Error(`GET ${path}: ${text}`)
      return { data, meta }
    },
    close() {
      for (const agent of agents.values()) agent.destroy()
    },
  }
}

export type Client = ReturnType<typeof clientOf>

/** Whether an answer leaves nothing open: anything else is asked for again. */
export const isSettled = (status: number, code?: string) =>
  status < 500 && status !== 429 && code !== 'idempotency_in_progress' && code !== 'concurrent_update'
