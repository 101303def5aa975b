import { throwIfAny } from '../../errors/throw-if-any.ts'
import { normalizeBody } from '../../http/body/normalize.ts'
import { validateBody } from '../../http/body/validate.ts'
import type { Static, TSchema } from '../../schemas/schemas.ts'

/** Validates the arguments of a command like a request body of the API. Throws an error with every problem. */
export function validateInput<S extends TSchema>(schema: S, input: object): Static<S> {
  const defined = Object.fromEntries(Object.entries(input).filter(([, field]) => field !== undefined))
  const value = normalizeBody(schema, defined)
  // The currency is never used: these arguments contain no amounts.
  throwIfAny(validateBody(schema, value, { currency: 'USD' }))
  return value as Static<S>
}

/** Throws if the name of a service or shard is invalid. */
export function requireName(type: 'service' | 'shard', name: string) {
  if (!/^[\w.-]{1,60}$/.test(name))
    throw new Error(`The name of a ${type} must have 1 to 60 characters: letters, digits, dots, dashes or underscores.`)
}
