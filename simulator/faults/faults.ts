import { matchesPath } from '../world/ledger.ts'
import { type FaultConditions, type FaultInput, type FaultState, readFault } from './fault.ts'

export interface Faults<Input extends FaultConditions = FaultInput> {
  /** Throws a TypeError if the fault is invalid. */
  add(fault: Input): Input & FaultState
  remove(id: number): boolean
  clear(): void
  list(): readonly (Input & FaultState)[]
  /** Returns the faults that apply to a request, and counts the request in each. */
  take(method: string, path: string): (Input & FaultState)[]
}

export const createApiFaults = (chance: (probability: number) => boolean): Faults => createFaults(chance, readFault)

/** Creates a list of faults, which `read` validates. */
export function createFaults<Input extends FaultConditions>(
  chance: (probability: number) => boolean,
  read: (value: unknown) => Input,
): Faults<Input> {
  let faults: (Input & FaultState)[] = []
  let last = 0
  return {
    add(input) {
      const fault = { ...read(input), id: ++last, matchCount: 0 }
      faults.push(fault)
      return fault
    },
    remove(id) {
      const before = faults.length
      faults = faults.filter(fault => fault.id !== id)
      return faults.length < before
    },
    clear() {
      faults = []
    },
    list: () => faults,
    take(method, path) {
      const matching = faults.filter(
        fault =>
          (fault.times === undefined || fault.matchCount < fault.times) &&
          (fault.method === undefined || fault.method.toUpperCase() === method) &&
          (fault.path === undefined || matchesPath(path, fault.path)) &&
          (fault.probability === undefined || chance(fault.probability)),
      )
      for (const fault of matching) fault.matchCount++
      // Expired faults stay listed with their count until they are cleared, so that tests can read it.
      return matching
    },
  }
}
