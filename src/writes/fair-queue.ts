import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError } from '../errors/api-error.ts'

/** Milliseconds that a transaction waits for its turn: as long as for a connection. */
const patienceMs = 5_000

interface Waiting {
  begin: () => void
}

/**
 * Shares out the connections that the transactions of writes have for as long as they last: services that wait take turns, so that
 * nobody's crowd holds others up. The answer gives the connection back; a turn that does not come is 503.
 */
export function writeTurns(connections: number) {
  const waiting = new Map<number, Set<Waiting>>()
  let busy = 0

  function end() {
    busy--
    const [first] = waiting
    if (!first) return
    const [id, line] = first
    const [next] = line
    waiting.delete(id)
    if (!next) return
    line.delete(next)
    // Behind all the others.
    if (line.size) waiting.set(id, line)
    busy++
    next.begin()
  }

  const take = async ({ id }: Service): Promise<() => void> => {
    if (busy < connections) {
      busy++
      return end
    }
    const line = waiting.get(id) ?? new Set<Waiting>()
    waiting.set(id, line)
    await new Promise<void>((resolve, reject) => {
      const one = {
        begin() {
          clearTimeout(timer)
          resolve()
        },
      }
      const timer = setTimeout(() => {
        line.delete(one)
        if (!line.size && waiting.get(id) === line) waiting.delete(id)
        reject(new ApiError('service_unavailable', undefined, { retryAfter: 2 }))
      }, patienceMs)
      line.add(one)
    })
    return end
  }
  /** How many wait. */
  const count = () => [...waiting.values()].reduce((sum, line) => sum + line.size, 0)
  return { take, waiting: count }
}
