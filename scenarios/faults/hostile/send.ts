import { setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { createAgent, type HostileClient, hostileInputs } from './inputs.ts'

// Sends one input with many clients in a process of its own, so that it does not delay the requests that are measured.

export interface HostileTask {
  input: keyof typeof hostileInputs
  clients: number
  seconds: number
  baseUrl: string
  /** Headers that identify each account. Each account has two clients. */
  accounts: readonly Record<string, string>[]
}

/** The number of each result: statuses, and what happened to connections. */
export type HostileResults = Record<string, number>

process.once('message', async ({ input, clients, seconds, baseUrl, accounts }: HostileTask) => {
  setPriority(10)
  const results: HostileResults = {}
  const ended = AbortSignal.timeout(seconds * 1_000)
  const run = async (index: number) => {
    const client: HostileClient = {
      baseUrl,
      credentials: accounts[index % accounts.length] ?? {},
      agent: createAgent(),
      signal: ended,
    }
    while (!ended.aborted) {
      const result = await hostileInputs[input](client)
      if (ended.aborted) break
      results[result] = (results[result] ?? 0) + 1
      // A client that is rejected at once would otherwise only measure itself.
      await delay(20)
    }
    client.agent.destroy()
  }
  await Promise.all(Array.from({ length: clients }, (_, i) => run(i)))
  process.send?.(results, () => process.exit())
})
