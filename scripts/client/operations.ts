import { documented, membersOf, type Node, nameOf, typeOf } from './types.ts'

/** An operation of the document, with its path and method. */
export interface OperationDefinition {
  method: string
  path: string
  operation: Node
}

interface Parts {
  params: string[]
  query: Node
  ownHeaders: Node[]
  body: Node | undefined
  isList: boolean
  /** Absent if the response has no body. */
  data: Node | undefined
}

const camelCase = (name: string) => name.replace(/[_-]+(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Headers that the client sets automatically or accepts as options of all operations. */
const usualHeaders = /^(X-Service-Name|X-Request-Id|traceparent|If-(None-)?Match|Idempotency-Key|Prefer)$/
const headerOption = (name: string) => camelCase(name.replace(/^X-/, '').toLowerCase())

/** Returns the parameters, body and response of an operation of the document. */
export function partsOf({ operation }: OperationDefinition, { parameters, schemas, requestBodies }: Node): Parts {
  const all: Node[] = operation.parameters.map((parameter: Node) =>
    parameter.$ref ? parameters[nameOf(parameter)] : parameter,
  )
  const inside = (place: string) => all.filter(parameter => parameter.in === place)
  const isList = inside('query').some(parameter => parameter.name === 'after_cursor')
  const filters = inside('query').filter(parameter => !isList || !['limit', 'after_cursor'].includes(parameter.name))
  const properties = Object.fromEntries(filters.map(filter => [camelCase(filter.name), querySchema(filter)]))
  const required = filters.filter(filter => filter.required)
  const response = Object.entries<Node>(operation.responses).find(([status]) => status.startsWith('2'))?.[1]
  const envelope = response.content && schemas[nameOf(response.content['application/json']?.schema)]
  const body = getBody(operation, requestBodies)?.content['application/json'].schema
  return {
    params: inside('path').map(parameter => parameter.name),
    query: { properties, required: required.map(parameter => camelCase(parameter.name)) },
    isList,
    ownHeaders: inside('header').filter(parameter => !usualHeaders.test(parameter.name)),
    body: body && nameOf(body) !== 'EmptyBody' ? body : undefined,
    data: envelope?.properties.data,
  }
}

const getBody = ({ requestBody }: Node, requestBodies: Node): Node =>
  requestBody?.$ref ? requestBodies[nameOf(requestBody)] : requestBody

/** A time may be given as a `Date`. */
const querySchema = ({ schema, description }: Node) =>
  schema.$ref && nameOf(schema) === 'TimestampFilter' ? { type: 'timestamp', description } : { ...schema, description }

/** Returns the signature of the method in the group's interface. */
export function renderSignature(name: string, operation: OperationDefinition, components: Node): string {
  const { params, query, ownHeaders, body, isList, data } = partsOf(operation, components)
  const { summary, description } = operation.operation
  const mustAsk = query.required.length > 0
  const mustSay = ownHeaders.some(header => header.required)
  const own = ownHeaders.map(
    ({ name: parameterName, description: parameterText, required }) =>
      [headerOption(parameterName), { type: 'string', description: parameterText }, required] as const,
  )
  const ownOptions = {
    properties: Object.fromEntries(own.map(([option, schema]) => [option, schema])),
    required: own.flatMap(([option, , required]) => (required ? [option] : [])),
  }
  const hasFilters = Object.keys(query.properties).length > 0
  const queryTypes = [...(isList ? ['Paging'] : []), ...(hasFilters ? [membersOf(query, 'sent', '  ')] : [])]
  const options = operation.method === 'GET' ? 'CallOptions' : 'WriteOptions'
  const input = [
    ...params.map(param => `${param}: string`),
    ...(queryTypes.length ? [`query${mustAsk || mustSay ? '' : '?'}: ${queryTypes.join(' & ')}`] : []),
    ...(body ? [`body: ${typeOf(body, 'sent')}`] : []),
    `options${mustSay ? '' : '?'}: ${options}${own.length ? ` & ${membersOf(ownOptions, 'sent', '  ')}` : ''}`,
  ]
  const response = isList
    ? `Paginator<${typeOf(data.items, 'read')}>`
    : `Promise<${data ? typeOf(data, 'read') : 'void'}>`
  return `${documented(`${summary}. ${description}`, '  ')}  ${name}(${input.join(', ')}): ${response}\n`
}

export function renderMethod(name: string, operation: OperationDefinition, components: Node): string {
  const { params, query, body, isList } = partsOf(operation, components)
  const path = operation.path.replace(/\{(\w+)\}/g, (_, param) => `\${segment(${param})}`)
  const url = params.length ? `\`${path}\`` : `'${path}'`
  const asks = isList || Object.keys(query.properties).length > 0
  const parameters = [...params, ...(asks ? ['query'] : []), ...(body ? ['body'] : []), 'options']
  const isKeyed = operation.operation.parameters.some((parameter: Node) => parameter.$ref?.endsWith('/IdempotencyKey'))
  const call = { GET: isList ? 'list' : 'get', POST: 'post', PUT: isKeyed ? 'putOnce' : 'put', DELETE: 'delete' }[
    operation.method
  ]
  const handed = operation.method === 'GET' ? (asks ? 'query' : '{}') : body ? 'body' : 'undefined'
  return `  ${name}: (${parameters.join(', ')}) => call.${call}(${url}, ${handed}, options),\n`
}
