import { withoutEmptyTexts } from '../../http/body/empty-texts.ts'
import { faultsOf } from '../../http/body/shape.ts'
import { refuse } from '../../refuse.ts'
import type { Static, TSchema } from '../../shapes/shapes.ts'

/** What was given to a command, as the API would take it in a body. Throws all that is wrong with it. */
export function judged<S extends TSchema>(shape: S, given: object): Static<S> {
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const value = withoutEmptyTexts(shape, said)
  // Amounts, which would need the currency of a service, are not among what commands are given so.
  refuse(faultsOf(shape, value, { currency: 'USD' }))
  return value as Static<S>
}
