import type { Keys } from '../crypto/keys.ts'
import type { Db } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { lockReservations, type Reservation, reserveNames } from '../store/writes/intents.ts'

/** Milliseconds between two checks of a name that another process has reserved. */
const pollIntervalMs = 250

/** Thrown if another write has reserved one of the names. */
export class LockNotAvailable extends Error {
  readonly names: readonly string[]
  constructor(names: readonly string[]) {
    super(`reserved by another write: ${names.join(', ')}`)
    this.names = names
  }
}

/**
 * Thrown when this attempt's lease expired and another attempt took over. The new owner has the reservations and finishes the write.
 */
export class LeaseLost extends Error {}

/** The transactions of this process that wait for a reserved name, first come first. */
const waiting = new Map<string, Set<() => void>>()

export type Reservations = ReturnType<typeof createReservations>

/** Creates the reservations of one write or look-up. `owner` is its ID. */
export function createReservations(keys: Keys, service: Service, owner: string) {
  const reserved = new Set<string>()
  return {
    /** Reserves names in a transaction. Throws `LockNotAvailable` if another write has one of them. */
    async reserve(tx: Db, { names, untilResolved = false }: Reservation = { names: [] }) {
      if (!names.length) return
      if (!(await reserveNames(tx, keys, service, owner, { names, untilResolved }))) throw new LockNotAvailable(names)
    },
    /** Locks all reservations until the transaction ends. Returns false if one of them expired and belongs to another write. */
    renew: async (tx: Db) => reserved.size === 0 || (await lockReservations(tx, service, owner)) >= reserved.size,
    /** Call after the transaction that reserved the names was committed. */
    onCommitted({ names }: Reservation = { names: [] }) {
      for (const name of names) reserved.add(name)
    },
    /** Wakes the transaction of this process that has waited longest for each name. */
    release() {
      for (const name of reserved) {
        const queue = waiting.get(buildKey(service, name))
        const [next] = queue ?? []
        if (next) queue?.delete(next)
        next?.()
      }
    },
  }
}

/** Waits until one of the names may be free: a write of this process released it, or it is time to poll for other processes. */
export async function waitUntilReleased(service: Service, names: readonly string[]) {
  const keys = names.map(name => buildKey(service, name))
  await new Promise<void>(resolve => {
    const stopWaiting = () => {
      clearTimeout(timer)
      for (const key of keys) {
        waiting.get(key)?.delete(stopWaiting)
        if (waiting.get(key)?.size === 0) waiting.delete(key)
      }
      resolve()
    }
    const timer = setTimeout(stopWaiting, pollIntervalMs * (1 + Math.random()))
    for (const key of keys) waiting.set(key, (waiting.get(key) ?? new Set()).add(stopWaiting))
  })
}

const buildKey = ({ id }: Service, name: string) => `${id} ${name}`
