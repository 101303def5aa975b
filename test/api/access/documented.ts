import type { Node } from '../../support/conformance.ts'
import type { Caller } from '../../support/service.ts'

/** An operation of the OpenAPI document, with its examples. */
export interface Operation {
  id: string
  method: string
  path: string
  role: string
  query: Record<string, string>
  headers: Record<string, string>
  body: Node | undefined
}

const getExample = ({ example, examples }: Node) => example ?? Object.values<Node>(examples ?? {})[0]?.value
/** Parameters that resume a list or wait. */
const excludedParameters = ['after_cursor', 'Last-Event-ID', 'wait', 'X-Service-Name', 'If-Match', 'If-None-Match']

/** Lists the operations of an OpenAPI document that require credentials. */
export const listOperations = (document: Node): Operation[] => {
  const resolve = (node: Node): Node =>
    node.$ref
      ? node.$ref
          .slice(2)
          .split('/')
          .reduce((at: Node, step: string) => at[step], document)
      : node
  return Object.entries<Node>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Node>(methods).flatMap(([method, operation]) => {
      const { operationId: id, parameters, responses, requestBody, security } = operation
      if (security?.length === 0 || !parameters.some((parameter: Node) => resolve(parameter).name === 'X-Service-Name'))
        return []
      const getExamples = (place: string) =>
        Object.fromEntries(
          parameters
            .map(resolve)
            .filter(
              (parameter: Node) =>
                parameter.in === place &&
                !excludedParameters.includes(parameter.name) &&
                getExample(parameter) !== undefined,
            )
            .map((parameter: Node) => [parameter.name, String(getExample(parameter))]),
        )
      const isStream = 'text/event-stream' in (resolve(responses['200'] ?? {}).content ?? {})
      return {
        id,
        method: isStream ? 'HEAD' : method.toUpperCase(),
        path,
        role: operation['x-required-role'],
        query: getExamples('query'),
        headers: getExamples('header'),
        body: requestBody && resolve(requestBody).content['application/json']?.example,
      }
    }),
  )
}

/** The changes of a request to the examples of its operation. */
export interface RequestChanges {
  identifier?: string
  query?: Operation['query']
  body?: Node | undefined
}

/** An identifier that no record has. */
export const unknownId = 'nobody-has-this'

/** Sends a request of an operation with its examples, except for the given ID, query and body. */
export function callOperation(
  caller: Caller,
  { method, path, headers, ...own }: Operation,
  { identifier = unknownId, ...more }: RequestChanges = {},
) {
  const { query = own.query, body = own.body } = more
  const { 'Idempotency-Key': _, ...sent } = headers
  const text = String(new URLSearchParams(query))
  return caller.request(`${path.replace(/\{\w+\}/, encodeURIComponent(identifier))}${text && `?${text}`}`, {
    method,
    headers: { ...sent, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
}

/**
 * Finds the string fields of a body, at any depth. Returns a function for each field name, which returns a copy of the
 * body with another string in that field. Fields inside those for which `isSkipped` is true are skipped.
 */
export function findStringFields(
  body: unknown,
  isSkipped: (name: string) => boolean = () => false,
  put: (inside: unknown) => unknown = inside => inside,
): Record<string, (text: string) => unknown> {
  const fields: Record<string, (text: string) => unknown> = {}
  for (const [name, value] of Object.entries(body ?? {})) {
    const replaceInside = (inside: unknown) =>
      put(Array.isArray(body) ? body.with(Number(name), inside) : Object.assign({}, body, { [name]: inside }))
    if (typeof value === 'string') fields[name] ??= replaceInside
    else if (typeof value === 'object' && !isSkipped(name))
      Object.assign(fields, findStringFields(value, isSkipped, replaceInside))
  }
  return fields
}
