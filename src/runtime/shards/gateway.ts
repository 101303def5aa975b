import { trusting, trustMs } from '../../auth/sign-in.ts'
import type { Elsewhere, Gate } from '../../http/admission/admit.ts'
import { readService } from '../../store/tenancy/services.ts'
import { writeTurns } from '../../writes/fair-queue.ts'
import type { Databases, DataDatabase } from './shards.ts'

type Turns = ReturnType<typeof writeTurns>

/** The gates of data databases, as they are asked for. */
export function elsewhere(databases: Databases, gateOf: (at: DataDatabase, turn: Turns['take']) => Gate) {
  const known = new WeakMap<DataDatabase, Elsewhere & { turns: Turns }>()

  function begin(at: DataDatabase) {
    const turns = writeTurns((at.pools?.writes ?? at.db.pool).options.max)
    const services = trusting(id => readService(at.db, Number(id)))
    const service = (id: number) => services.read(String(id), performance.now() - trustMs)
    const one = { gate: gateOf(at, turns.take), service, turns }
    known.set(at, one)
    return one
  }

  return {
    async of(name: string): Promise<Elsewhere> {
      const at = await databases.open(name)
      return known.get(at) ?? begin(at)
    },
    /** What this process has open, for its figures. */
    reached: () => databases.opened().map(at => ({ ...at, waitingWrites: known.get(at)?.turns.waiting() ?? 0 })),
  }
}
