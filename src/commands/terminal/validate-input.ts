import { throwIfAny } from '../../errors/throw-if-any.ts'
import { withoutEmptyTexts } from '../../http/body/empty-strings.ts'
import { validateBody } from '../../http/body/validate.ts'
import type { Static, TSchema } from '../../schemas/schemas.ts'

/** What was given to a command, as the API would take it in a body. Throws all that is wrong with it. */
export function judged<S extends TSchema>(shape: S, given: object): Static<S> {
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const value = withoutEmptyTexts(shape, said)
  // Amounts, which would need the currency of a service, are not among what commands are given so.
  throwIfAny(validateBody(shape, value, { currency: 'USD' }))
  return value as Static<S>
}
