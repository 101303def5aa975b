import type { FieldError } from '../../errors/api-error.ts'
import type { TSchema } from '../../schemas/schemas.ts'
import type { Operation } from '../routing/operation.ts'

/** Fields of an error that are logged. */
const maxFields = 5

interface NamedParts {
  properties?: Record<string, TSchema>
  items?: TSchema
  anyOf?: TSchema[]
}

/**
 * Returns a function that lists the distinct fields of errors for the request log: pointers and parameters. Positions in lists and names that
 * no operation documents are `*`, because a client can send personal data as a name.
 */
export function createFieldList(operations: readonly Pick<Operation, 'params' | 'query' | 'headers' | 'body'>[]) {
  const names = new Set<string>()
  const add = (schema: TSchema) => {
    const { properties = {}, items, anyOf = [] } = schema as NamedParts
    for (const [name, member] of Object.entries(properties)) {
      names.add(name)
      add(member)
    }
    for (const part of [...anyOf, ...(items ? [items] : [])]) add(part)
  }
  for (const { params, query, headers, body } of operations) {
    for (const name of [...Object.keys(params), ...Object.keys(headers)]) names.add(name)
    add(query)
    if (body) add(body)
  }
  const mask = (path: string) =>
    path
      .split('/')
      .map(name => (name === '' || names.has(name) ? name : '*'))
      .join('/')
  return (errors: readonly FieldError[]): string[] =>
    [...new Set(errors.flatMap(({ pointer, parameter }) => pointer ?? parameter ?? []).map(mask))].slice(0, maxFields)
}
