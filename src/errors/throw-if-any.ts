import { type FieldError, toApiError } from './api-error.ts'

/** Throws all errors of a request as one ApiError. Returns if there are none. */
export function throwIfAny(errors: readonly FieldError[]) {
  const [first, ...further] = errors
  if (first) throw toApiError([first, ...further])
}
