import { getRefName, type Node, renderDocstring, renderMembers, renderType } from './types.ts'

/** An operation of the document, with its path and method. */
export interface OperationDefinition {
  method: string
  path: string
  operation: Node
}

interface OperationParts {
  params: string[]
  query: Node
  specificHeaders: Node[]
  body: Node | undefined
  isList: boolean
  /** The schema of `data` in the response; absent if the response has no body. */
  data: Node | undefined
}

const toCamelCase = (name: string) => name.replace(/[_-]+(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Headers that the client sets automatically or accepts as options of all operations. */
const commonHeaders = /^(X-Service-Name|X-Request-Id|traceparent|If-(None-)?Match|Idempotency-Key|Prefer)$/
const toOptionName = (name: string) => toCamelCase(name.replace(/^X-/, '').toLowerCase())

/** Returns the parameters, body and response of an operation of the document. */
export function analyzeOperation(
  { operation }: OperationDefinition,
  { parameters, schemas, requestBodies }: Node,
): OperationParts {
  const allParameters: Node[] = operation.parameters.map((parameter: Node) =>
    parameter.$ref ? parameters[getRefName(parameter)] : parameter,
  )
  const filterByPlace = (place: string) => allParameters.filter(parameter => parameter.in === place)
  const isList = filterByPlace('query').some(parameter => parameter.name === 'after_cursor')
  const filters = filterByPlace('query').filter(
    parameter => !isList || !['limit', 'after_cursor'].includes(parameter.name),
  )
  const properties = Object.fromEntries(filters.map(filter => [toCamelCase(filter.name), toQuerySchema(filter)]))
  const required = filters.filter(filter => filter.required)
  const response = Object.entries<Node>(operation.responses).find(([status]) => status.startsWith('2'))?.[1]
  const envelope = response.content && schemas[getRefName(response.content['application/json']?.schema)]
  const body = getBody(operation, requestBodies)?.content['application/json'].schema
  return {
    params: filterByPlace('path').map(parameter => parameter.name),
    query: { properties, required: required.map(parameter => toCamelCase(parameter.name)) },
    isList,
    specificHeaders: filterByPlace('header').filter(parameter => !commonHeaders.test(parameter.name)),
    body: body && getRefName(body) !== 'EmptyBody' ? body : undefined,
    data: envelope?.properties.data,
  }
}

const getBody = ({ requestBody }: Node, requestBodies: Node): Node =>
  requestBody?.$ref ? requestBodies[getRefName(requestBody)] : requestBody

/** Lets callers pass a timestamp as a `Date`. */
const toQuerySchema = ({ schema, description }: Node) =>
  schema.$ref && getRefName(schema) === 'TimestampFilter'
    ? { type: 'timestamp', description }
    : { ...schema, description }

/** Returns the signature of the method in the group's interface. */
export function renderSignature(name: string, operation: OperationDefinition, components: Node): string {
  const { params, query, specificHeaders, body, isList, data } = analyzeOperation(operation, components)
  const { summary, description } = operation.operation
  const needsQuery = query.required.length > 0
  const needsHeaders = specificHeaders.some(header => header.required)
  const headerSchemas = specificHeaders.map(
    ({ name: parameterName, description: parameterText, required }) =>
      [toOptionName(parameterName), { type: 'string', description: parameterText }, required] as const,
  )
  const headerOptions = {
    properties: Object.fromEntries(headerSchemas.map(([option, schema]) => [option, schema])),
    required: headerSchemas.flatMap(([option, , required]) => (required ? [option] : [])),
  }
  const hasFilters = Object.keys(query.properties).length > 0
  const queryTypes = [...(isList ? ['Paging'] : []), ...(hasFilters ? [renderMembers(query, 'sent', '  ')] : [])]
  const options = operation.method === 'GET' ? 'CallOptions' : 'WriteOptions'
  const input = [
    ...params.map(param => `${param}: string`),
    ...(queryTypes.length ? [`query${needsQuery || needsHeaders ? '' : '?'}: ${queryTypes.join(' & ')}`] : []),
    ...(body ? [`body: ${renderType(body, 'sent')}`] : []),
    `options${needsHeaders ? '' : '?'}: ${options}${headerSchemas.length ? ` & ${renderMembers(headerOptions, 'sent', '  ')}` : ''}`,
  ]
  const response = isList
    ? `Paginator<${renderType(data.items, 'read')}>`
    : `Promise<${data ? renderType(data, 'read') : 'void'}>`
  return `${renderDocstring(`${summary}. ${description}`, '  ')}  ${name}(${input.join(', ')}): ${response}\n`
}

export function renderMethod(name: string, operation: OperationDefinition, components: Node): string {
  const { params, query, body, isList } = analyzeOperation(operation, components)
  const path = operation.path.replace(/\{(\w+)\}/g, (_, param) => `\${segment(${param})}`)
  const url = params.length ? `\`${path}\`` : `'${path}'`
  const hasQuery = isList || Object.keys(query.properties).length > 0
  const parameters = [...params, ...(hasQuery ? ['query'] : []), ...(body ? ['body'] : []), 'options']
  const hasIdempotencyKey = operation.operation.parameters.some((parameter: Node) =>
    parameter.$ref?.endsWith('/IdempotencyKey'),
  )
  const call = {
    GET: isList ? 'list' : 'get',
    POST: 'post',
    PUT: hasIdempotencyKey ? 'putOnce' : 'put',
    DELETE: 'delete',
  }[operation.method]
  const argument = operation.method === 'GET' ? (hasQuery ? 'query' : '{}') : body ? 'body' : 'undefined'
  return `  ${name}: (${parameters.join(', ')}) => call.${call}(${url}, ${argument}, options),\n`
}
