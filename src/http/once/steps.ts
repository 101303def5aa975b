import { setTimeout as delay } from 'node:timers/promises'
import { isContention } from '../../connections/contention.ts'
import type { Database, Db } from '../../db.ts'
import type { Holding } from '../../domain/write.ts'
import { ApiError } from '../../errors.ts'
import { CommitUnknown } from '../../outages.ts'
import type { Keys } from '../../secrets.ts'
import type { Service } from '../../settings.ts'
import { keepHolds, takeHolds } from '../../store/running/intents.ts'

/** Where writes are carried out. */
export interface Site {
  db: Database
  keys: Keys
  /** Waits until a transaction of the service may have a connection; the answer gives it back. */
  turn?: (service: Service) => Promise<() => void>
}

/** How often a transaction is begun that others stand in the way of, or whose commit nobody knows. */
const attempts = 4
/** Milliseconds that something which another one holds is waited for. */
const patienceMs = 5_000
/** Milliseconds between two looks at it, where no process here has it. */
const lookMs = 250

/** Another one holds it. */
class Held extends Error {
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

/**
 * Runs a short transaction of a service when its turn has come, and anew where another one stood in its way, or had what it takes. With
 * `isResumable` it can tell whether it was committed, and is begun anew where nobody knows. `before`: what the attempt before ended in. Throws
 * `concurrent_update` in the end.
 */
export async function transact<T>(
  site: Pick<Site, 'db' | 'turn'>,
  service: Service,
  work: (tx: Db, before: unknown) => Promise<T>,
  isResumable = false,
): Promise<T> {
  let before: unknown
  const latest = performance.now() + patienceMs
  const inTurn = async () => {
    const end = await site.turn?.(service)
    return site.db.transaction(tx => work(tx, before)).finally(end)
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTurn()
    } catch (error) {
      before = error
      if (error instanceof Held) {
        if (performance.now() > latest) throw inTheWay()
        await released(service, error.names)
        // Nothing was in the way of the transaction itself.
        attempt--
        continue
      }
      const isContended = isContention(error)
      if (!isContended && !(isResumable && error instanceof CommitUnknown)) throw error
      if (attempt === attempts) throw isContended ? inTheWay() : error
      await delay(attempt * (isContended ? 10 + Math.random() * 40 : 500))
    }
  }
}

export const inTheWay = () => new ApiError('concurrent_update', undefined, { retryAfter: 1 })

/** What one write, or one reading, holds by names, from the first of its steps that takes it. */
export function holdingsOf({ keys }: Pick<Site, 'keys'>, service: Service, owner: string) {
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
    released() {
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
async function released(service: Service, names: readonly string[]) {
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
