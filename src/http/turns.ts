import { ApiError } from '../errors.ts'
import type { Service } from '../settings.ts'

/** Milliseconds that a write waits for its turn: as long as for a connection. */
const patienceMs = 5_000

interface Waiting {
  begin: () => void
}

/**
 * Shares out the connections that writes hold until they end. A write of a service with a remote back office holds one while it waits
 * for that, so such a service may hold no more than it leaves free: whatever hangs, others find some. (The threshold that
 * switches share their buffers by: Choudhury and Hahne, 1998.) The others, which wait for nobody, may hold all that are free. Services
 * that wait take turns. The answer gives the connection back; a turn that does not come is 503.
 */
export function writeTurns(connections: number, isRemote: (service: Service) => boolean) {
  const held = new Map<number, number>()
  const waiting = new Map<number, { service: Service; line: Set<Waiting> }>()
  let busy = 0

  const mayBegin = (service: Service) => {
    const free = connections - busy
    return isRemote(service) ? (held.get(service.id) ?? 0) < free : free > 0
  }
  function begin({ id }: Service) {
    busy++
    held.set(id, (held.get(id) ?? 0) + 1)
  }
  function end({ id }: Service) {
    busy--
    const left = (held.get(id) ?? 0) - 1
    if (left > 0) held.set(id, left)
    else held.delete(id)
    for (const [each, { service, line }] of [...waiting]) {
      const [next] = line
      if (!next || !mayBegin(service)) continue
      line.delete(next)
      waiting.delete(each)
      // Behind all the others.
      if (line.size) waiting.set(each, { service, line })
      begin(service)
      next.begin()
    }
  }
  const ending = (service: Service) => {
    let ended = false
    return () => {
      if (!ended) end(service)
      ended = true
    }
  }

  const take = async (service: Service): Promise<() => void> => {
    const known = waiting.get(service.id)
    if (!known && mayBegin(service)) {
      begin(service)
      return ending(service)
    }
    const { line } = known ?? { line: new Set<Waiting>() }
    if (!known) waiting.set(service.id, { service, line })
    await new Promise<void>((resolve, reject) => {
      const one = {
        begin() {
          clearTimeout(timer)
          resolve()
        },
      }
      const timer = setTimeout(() => {
        line.delete(one)
        if (!line.size && waiting.get(service.id)?.line === line) waiting.delete(service.id)
        reject(new ApiError('service_unavailable', undefined, { retryAfter: 2 }))
      }, patienceMs)
      line.add(one)
    })
    return ending(service)
  }
  /** How many writes wait. */
  const count = () => [...waiting.values()].reduce((sum, { line }) => sum + line.size, 0)
  return { take, waiting: count }
}
