import type { FieldError } from '../../errors/api-error.ts'

/** The faults of a body in which a record is changed: what is as the record has it can be sent back, whatever rule it breaks. */
export const omitUnchanged = (faults: readonly FieldError[], body: unknown, record: unknown) =>
  faults.filter(
    ({ code, pointer }) =>
      code !== 'invalid_field' || pointer === undefined || valueAt(body, pointer) !== valueAt(record, pointer),
  )

const valueAt = (whole: unknown, pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .map(name => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((part, name) => (part as Record<string, unknown> | null | undefined)?.[name], whole)
