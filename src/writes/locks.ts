import type { Keys } from '../crypto/keys.ts'
import type { Db } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import type { Holding } from '../store/writes/intents.ts'
import { keepHolds, takeHolds } from '../store/writes/intents.ts'

/** Milliseconds between two looks at it, where no process here has it. */
const lookMs = 250

/** Another one holds it. */
export class Held extends Error {
  readonly names: readonly string[]
  constructor(names: readonly string[]) {
    super('Another one holds it.')
    this.names = names
  }
}

/** An attempt that thought for too long: what it had is another one's, and so is what it has done to be finished. */
export class TakenOver extends Error {}

/** Who in this process waits for what is held, in the order in which they came. */
const waiting = new Map<string, Set<() => void>>()

export type Holdings = ReturnType<typeof holdingsOf>

/** What one write, or one reading, holds by names, from the first of its steps that takes it. */
export function holdingsOf(keys: Keys, service: Service, owner: string) {
  const held = new Set<string>()
  return {
    async take(tx: Db, { names, untilKnown = false }: Holding = { names: [] }) {
      if (!names.length) return
      if (!(await takeHolds(tx, keys, service, owner, { names, untilKnown }))) throw new Held(names)
    },
    /** Whether all that was taken before is still its own, and stays so until the transaction ends. */
    keeps: async (tx: Db) => held.size === 0 || (await keepHolds(tx, service, owner)) >= held.size,
    /** What was taken is committed. */
    taken({ names }: Holding = { names: [] }) {
      for (const name of names) held.add(name)
    },
    /** All of it is free: whoever waits here longest may look. */
    letGo() {
      for (const name of held) {
        const line = waiting.get(keyOf(service, name))
        const [next] = line ?? []
        if (next) line?.delete(next)
        next?.()
      }
    },
  }
}

/** Waits until one of the names may be free: told by who has it here, or for a while where that is another process. */
export async function untilFree(service: Service, names: readonly string[]) {
  const keys = names.map(name => keyOf(service, name))
  await new Promise<void>(resolve => {
    const go = () => {
      clearTimeout(timer)
      for (const key of keys) {
        waiting.get(key)?.delete(go)
        if (waiting.get(key)?.size === 0) waiting.delete(key)
      }
      resolve()
    }
    const timer = setTimeout(go, lookMs * (1 + Math.random()))
    for (const key of keys) waiting.set(key, (waiting.get(key) ?? new Set()).add(go))
  })
}

const keyOf = ({ id }: Service, name: string) => `${id} ${name}`
