import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Asked, askOnce, type Body, isSettled, patienceMs, unsettled } from '../trials/asking.ts'
import type { Random } from '../trials/random.ts'
import type { Kept } from './processes.ts'

/** An answer that settles a request. `Data` is what the API documents for it: the run judges effects, not shapes. */
export interface Settled<Data> extends Body<Data> {
  status: number
  /** The body as it came. */
  text: string
}

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

  /** Throws where nothing settles it within 90 seconds: that is a finding of its own. */
  async function ask<Data>(asked: Asked): Promise<Settled<Data>> {
    const until = performance.now() + patienceMs
    let last = ''
    while (performance.now() < until) {
      const up = apis.filter(api => api.baseUrl)
      const api = up.length ? random.pick(up) : undefined
      const way = api && { baseUrl: api.baseUrl, agent: agentOf(api.name), headers }
      const answer = way
        ? await askOnce<Data>(asked, way).catch((error: Error) => error)
        : new Error('no process was up')
      if (answer instanceof Error) last = answer.message
      else {
        const { status, body, text } = answer
        if (isSettled(answer)) return { ...body, status, text }
        last = `${status} ${body.code}`
      }
      await delay(20 + random.whole(0, 80))
    }
    throw unsettled(asked, last)
  }

  return {
    ask,
    /** A list that is there: its records, and where it goes on. */
    async list<Row>(path: string): Promise<Required<Pick<Body<Row[]>, 'data' | 'meta'>>> {
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
