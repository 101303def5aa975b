import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { line } from '../../src/domain/values/characters.ts'
import { LocalTime, Money, UnitPrice } from '../../src/domain/values/fields.ts'
import { errorCodes } from '../../src/errors/api-error.ts'
import type { TestResponse } from './service.ts'

// biome-ignore lint/suspicious/noExplicitAny: a parsed JSON document without a type
export type Node = any

/** Returns a copy in which objects allow no undocumented properties. The document allows them, so that later releases can add some. */
const toClosedSchema = (node: Node): Node => {
  if (node === null || typeof node !== 'object') return node
  if (Array.isArray(node)) return node.map(toClosedSchema)
  const copy = Object.fromEntries(Object.entries(node).map(([key, child]) => [key, toClosedSchema(child)]))
  return node.type === 'object' || node.type?.includes?.('object') ? { additionalProperties: false, ...copy } : copy
}

/** Returns a document without `allOf`: each schema includes the properties of its base schema. */
export const flattenExtensions = (document: Node): Node => {
  const { schemas } = document.components ?? {}
  const flatten = (schema: Node): Node => {
    if (!schema.allOf) return schema
    const [base, own] = schema.allOf
    const { properties, required = [], ...keywords } = flatten(schemas[base.$ref.split('/').at(-1)])
    const merged = {
      properties: { ...properties, ...own.properties },
      required: [...required, ...(own.required ?? [])],
    }
    return { ...keywords, ...merged }
  }
  const flatSchemas = Object.entries(schemas ?? {}).map(([name, schema]) => [name, flatten(schema)])
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(flatSchemas) } }
}

/** Compiles schemas of an OpenAPI 3.1 document by their pointer. Its schemas are JSON Schema 2020-12. */
export function compileSchemas(document: object) {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
  addFormats.default(ajv)
  ajv.addFormat('single-line', new RegExp(line, 'u'))
  for (const { format, pattern } of [Money(''), UnitPrice(''), LocalTime('')] as Node[])
    ajv.addFormat(format, new RegExp(pattern, 'u'))
  ajv.addSchema(toClosedSchema(flattenExtensions(document)), 'openapi.json')
  const compiled = new Map<string, ValidateFunction>()
  /** Returns the errors of a value, by the schema at `pointer`. */
  return (pointer: string, value: unknown): string[] => {
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi.json#${pointer}` })
    compiled.set(pointer, validate)
    if (validate(value)) return []
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || 'the value'} ${message}`)
  }
}

export const toPointer = (...steps: (string | number)[]) =>
  steps.map(step => `/${encodeURI(String(step).replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')

/** Headers of the connection, which the document doesn't describe. */
const transportHeaders = new Set([
  'connection',
  'keep-alive',
  'date',
  'content-length',
  'transfer-encoding',
  'content-type',
])

/** Returns a function that checks the status, content type, headers and body of responses against the document. */
export function createConformanceCheck(document: Node) {
  const validateValue = compileSchemas(document)
  const resolve = (node: Node, pointer: string): { node: Node; pointer: string } => {
    if (!node?.$ref) return { node, pointer }
    const steps = node.$ref.slice(2).split('/')
    return { node: steps.reduce((at: Node, step: string) => at[step], document), pointer: toPointer(...steps) }
  }

  const getCodes = (response: Node): string[] => response['x-error-codes'] ?? []
  const commonCodes = Object.values<Node>(document.components.responses).flatMap(getCodes)
  const getStatus = (code: string) => errorCodes[code as keyof typeof errorCodes]?.status
  /** True if the default response has an error code with this status. */
  const isCovered = (status: number) =>
    getCodes(document.components.responses.Error).some(code => getStatus(code) === status)

  /** Returns the documented path that matches a request's path. Paths without parameters take precedence. */
  const findTemplate = (path: string) =>
    Object.keys(document.paths)
      .sort((a, b) => a.split('{').length - b.split('{').length)
      .find(template => new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`).test(path))

  return function check(
    method: string,
    path: string,
    response: TestResponse,
  ): { operation?: string; errors: string[] } {
    const template = findTemplate(path.split('?')[0] ?? '')
    const operation = template && document.paths[template][method.toLowerCase()]
    if (!operation) return { errors: ['no such operation'] }
    const status = operation.responses[response.status]
      ? response.status
      : isCovered(response.status)
        ? 'default'
        : response.status
    const steps = ['paths', template, method.toLowerCase(), 'responses', status]
    const { node: documented, pointer } = resolve(operation.responses[status], toPointer(...steps))
    if (!documented) return { operation: operation.operationId, errors: [`${response.status} is not documented`] }
    const errors = [
      ...checkHeaders(documented, method, response),
      ...checkBody(documented, pointer, response),
      ...checkCode(operation, response),
    ]
    return { operation: operation.operationId, errors }
  }

  /** Checks that an error has its own status, and a code of its operation or of all operations. */
  function checkCode(operation: Node, { headers, json, status }: TestResponse) {
    if (!String(headers['content-type']).startsWith('application/problem+json')) return []
    const allowed = [...(operation['x-error-codes'] ?? []), ...commonCodes]
    return allowed.includes(json.code) && getStatus(json.code) === status ? [] : [`${json.code} is not documented`]
  }

  function checkHeaders({ headers = {} }: Node, method: string, response: TestResponse) {
    const errors: string[] = []
    const isExport = response.headers['content-type'] === 'application/x-ndjson'
    const groups = ['everyResponse', ...(method === 'GET' ? [] : ['write']), ...(isExport ? ['bulkExport'] : [])]
    const common = groups.flatMap(group =>
      Object.entries<Node>(document['x-response-headers'][group]).map(([name, node]) => ({
        name,
        node,
        pointer: toPointer('x-response-headers', group, name),
      })),
    )
    const ownHeaders = Object.entries<Node>(headers).map(([name, header]) => ({ name, ...resolve(header, '') }))
    const documented = new Map([...common, ...ownHeaders].map(({ name, ...header }) => [name.toLowerCase(), header]))
    for (const [name, { node, pointer }] of documented) {
      const value = response.headers[name]
      if (value === undefined && node.required) errors.push(`${name} is missing`)
      if (value === undefined) continue
      const read = node.schema.type === 'integer' ? Number(value) : value
      errors.push(...validateValue(`${pointer}/schema`, read).map(error => `${name}: ${error}`))
    }
    for (const name of Object.keys(response.headers))
      if (!documented.has(name) && !transportHeaders.has(name)) errors.push(`${name} is not documented`)
    return errors
  }

  function checkBody({ content }: Node, pointer: string, { headers, text, json }: TestResponse) {
    const type = headers['content-type']?.split(';')[0]
    if (!content) return text ? ['the response has an undocumented body'] : []
    if (!type || !content[type]) return [`${type} is not documented`]
    return validateValue(pointer + toPointer('content', type, 'schema'), /[/+]json$/.test(type) ? json : text)
  }
}
