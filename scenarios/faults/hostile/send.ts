import { setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { createAgent, type HostileClient, hostileInputs } from './inputs.ts'

// Sends one input with many clients from a separate process, so that it doesn't delay the requests that are measured.

export interface HostileTask {
  input: keyof typeof hostileInputs
  clients: number
  seconds: number
  baseUrl: string
  /** Headers that identify each account. Each account has two clients. */
  accounts: readonly Record<string, string>[]
}

/** The number of responses and disconnections by result, such as `400` or `disconnected`. */
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
      // Otherwise, clients that are rejected immediately would use all of the CPU.
      await delay(20)
    }
    client.agent.destroy()
  }
  await Promise.all(Array.from({ length: clients }, (_, i) => run(i)))
  process.send?.(results, () => process.exit())
})
