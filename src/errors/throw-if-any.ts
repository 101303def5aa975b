import { type Fault, faulty } from './api-error.ts'

/** Throws all that is wrong with a request as one error; returns where nothing is. */
export function refuse(faults: readonly Fault[]) {
  const [first, ...more] = faults
  if (first) throw faulty([first, ...more])
}
