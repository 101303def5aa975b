import type { Connection } from './connection.ts'
import { Failure } from './failure.ts'
import type { Stage } from './stages.ts'

/** Tells what becomes of user and password: the first time, and each time that it changes. */
export function credentialsTold(tell: Connection['onCredentials']): Stage {
  let told: 'accepted' | 'refused' | undefined
  const note = (state: 'accepted' | 'refused') => {
    if (told === state) return
    told = state
    tell?.(state)
  }
  return ({ path }) =>
    error => {
      if (error instanceof Failure && error.kind === 'denied') note('refused')
      // The page at the root is for everybody.
      else if (!(error instanceof Failure) && path.length) note('accepted')
    }
}
