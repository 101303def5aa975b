import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { join } from 'node:path'
import type { Way } from './asking.ts'
import type { Kept } from './processes.ts'
import type { Random } from './random.ts'

/** Ways to API processes, by connections that are kept. */
export function waysTo(apis: readonly Kept[], headers: Readonly<Record<string, string>>, random: Random) {
  const agents = new Map<string, Agent>()
  const agentOf = ({ name, home }: Kept) => {
    const agent = agents.get(name) ?? new Agent({ keepAlive: true, ca: readFileSync(join(home, 'tls/ca.pem')) })
    agents.set(name, agent)
    return agent
  }
  return {
    /** To one of those that are up; undefined where none is. */
    any(): Way | undefined {
      const up = apis.filter(api => api.baseUrl)
      const api = up.length ? random.pick(up) : undefined
      return api && { baseUrl: api.baseUrl, agent: agentOf(api), headers }
    },
    close() {
      for (const agent of agents.values()) agent.destroy()
    },
  }
}
