import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Kept } from './processes.ts'
import type { Random } from './random.ts'

/** An answer that settles a request. */
export interface Settled {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: what comes back is judged by those who asked
  json: any
  attempts: number
}

interface Asked {
  method: 'GET' | 'POST' | 'PUT'
  path: string
  body?: object
  key?: string
}

const patienceMs = 90_000
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
    new Promise<Omit<Settled, 'attempts'>>((resolve, reject) => {
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
          answer.on('end', () => {
            const text = Buffer.concat(chunks).toString()
            resolve({ status: answer.statusCode ?? 0, json: text ? JSON.parse(text) : undefined })
          })
        },
      )
      asked.on('timeout', () => asked.destroy(new Error('no answer in time')))
      asked.on('error', reject)
      asked.end(body && JSON.stringify(body))
    })

  return {
    /** Throws where nothing settles it within 90 seconds: that is a finding of its own. */
    async ask(asked: Asked): Promise<Settled> {
      const until = performance.now() + patienceMs
      let last = ''
      for (let attempts = 1; performance.now() < until; attempts++) {
        const up = apis.filter(api => api.baseUrl)
        const api = up.length ? random.pick(up) : undefined
        const answer = api ? await once(asked, api).catch((error: Error) => error) : new Error('no process was up')
        if (answer instanceof Error) last = answer.message
        else if (isSettled(answer.status, answer.json?.code)) return { ...answer, attempts }
        else last = `${answer.status} ${answer.json?.code}`
        await delay(20 + random.whole(0, 80))
      }
      throw new Error(
        `${asked.method} ${asked.path} was not settled within ${patienceMs / 1_000} s; the last was: ${last}`,
      )
    },
    close() {
      for (const agent of agents.values()) agent.destroy()
    },
  }
}

export type Client = ReturnType<typeof clientOf>

const isSettled = (status: number, code: string) =>
  status < 500 && status !== 429 && code !== 'idempotency_in_progress' && code !== 'concurrent_update'
