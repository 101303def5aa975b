import type { Node } from '../../support/conformance.ts'
import type { Caller } from '../../support/service.ts'

/** An operation as it is documented, with its examples. */
export interface Operation {
  id: string
  method: string
  path: string
  role: string
  query: Record<string, string>
  headers: Record<string, string>
  body: Node | undefined
  /** The names in its path. */
  places: string[]
}

const exampleOf = ({ example, examples }: Node) => example ?? Object.values<Node>(examples ?? {})[0]?.value
/** Parameters that resume a list or wait. */
const leftOut = ['after_cursor', 'Last-Event-ID', 'wait', 'X-Service-Name', 'If-Match', 'If-None-Match']

/** The operations of an OpenAPI document that take credentials. */
export const operationsOf = (document: Node): Operation[] => {
  const resolved = (node: Node): Node =>
    node.$ref
      ? node.$ref
          .slice(2)
          .split('/')
          .reduce((at: Node, step: string) => at[step], document)
      : node
  return Object.entries<Node>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Node>(methods).flatMap(([method, operation]) => {
      const { operationId: id, parameters, responses, requestBody, security } = operation
      if (
        security?.length === 0 ||
        !parameters.some((parameter: Node) => resolved(parameter).name === 'X-Service-Name')
      )
        return []
      const input = (place: string) =>
        Object.fromEntries(
          parameters
            .map(resolved)
            .filter(
              (parameter: Node) =>
                parameter.in === place && !leftOut.includes(parameter.name) && exampleOf(parameter) !== undefined,
            )
            .map((parameter: Node) => [parameter.name, String(exampleOf(parameter))]),
        )
      const isStream = 'text/event-stream' in (resolved(responses['200'] ?? {}).content ?? {})
      return {
        id,
        method: isStream ? 'HEAD' : method.toUpperCase(),
        path,
        role: operation['x-required-role'],
        query: input('query'),
        headers: input('header'),
        body: requestBody && resolved(requestBody).content['application/json']?.example,
        places: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''),
      }
    }),
  )
}

export interface With {
  identifier?: string
  query?: Operation['query']
  body?: Node | undefined
}

/** An identifier that no record has. */
export const unknown = 'nobody-has-this'

/** Asks with the examples, but for what is given here. */
export function ask(
  by: Caller,
  { method, path, headers, ...own }: Operation,
  { identifier = unknown, ...more }: With = {},
) {
  const { query = own.query, body = own.body } = more
  const { 'Idempotency-Key': _, ...sent } = headers
  const text = String(new URLSearchParams(query))
  return by.request(`${path.replace(/\{\w+\}/, encodeURIComponent(identifier))}${text && `?${text}`}`, {
    method,
    headers: { ...sent, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
}

/** Each name in a body under which a text stands, with the body as it is with another text there; what is below the names to be passed over is. */
export function placesIn(
  body: unknown,
  isPassed: (name: string) => boolean = () => false,
  put: (inside: unknown) => unknown = inside => inside,
): Record<string, (text: string) => unknown> {
  const places: Record<string, (text: string) => unknown> = {}
  for (const [name, value] of Object.entries(body ?? {})) {
    const within = (inside: unknown) =>
      put(Array.isArray(body) ? body.with(Number(name), inside) : Object.assign({}, body, { [name]: inside }))
    if (typeof value === 'string') places[name] ??= within
    else if (typeof value === 'object' && !isPassed(name)) Object.assign(places, placesIn(value, isPassed, within))
  }
  return places
}
