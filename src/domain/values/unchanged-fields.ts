import type { FieldError } from '../../errors/api-error.ts'

/** Removes the errors of unchanged fields: a stored value can be sent back even if it violates a rule. */
export const omitUnchanged = (errors: readonly FieldError[], body: unknown, record: unknown) =>
  errors.filter(
    ({ code, pointer }) =>
      code !== 'invalid_field' || pointer === undefined || getValue(body, pointer) !== getValue(record, pointer),
  )

/** Returns the part of a document that a JSON pointer names, or undefined. */
export const getValue = (document: unknown, pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .map(name => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((part, name) => (part as Record<string, unknown> | null | undefined)?.[name], document)
