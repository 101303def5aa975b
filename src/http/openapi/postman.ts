import { sampleQueries } from './parameters.ts'
import { mapValues } from './shared-components.ts'

interface Parameter {
  $ref?: string
  name: string
  required?: boolean
  example?: unknown
}

interface RequestBody {
  $ref?: string
  content?: Record<string, { example?: unknown }>
}

interface ImportedOperation {
  operationId: string
  parameters?: Parameter[]
  requestBody?: RequestBody
}

interface ImportedDocument {
  paths: Record<string, Record<string, ImportedOperation>>
  components: Record<string, Record<string, unknown>>
}

/** Headers whose value is a variable of Postman: the service, and a new key for each request. */
const variables: Readonly<Record<string, string>> = { 'X-Service-Name': '{{service}}', 'Idempotency-Key': '{{$guid}}' }

/**
 * Returns a document for Postman's importer. With its default settings, it sends every optional parameter, and it fills parameters and bodies
 * with placeholders unless their schemas have a default. So optional parameters are left out, and examples become defaults.
 */
export function toPostmanDocument<T extends object>(document: T): T {
  const { paths, components } = document as T & ImportedDocument
  const resolve = <Part extends { $ref?: string }>(part: Part): Part => {
    const [kind = '', name = ''] = part.$ref?.split('/').slice(2) ?? []
    return part.$ref === undefined ? part : (components[kind]?.[name] as Part)
  }
  const convert = ({ parameters = [], requestBody, ...operation }: ImportedOperation) => ({
    ...operation,
    parameters: parameters
      .map(resolve)
      .filter(
        ({ name, required }) => required || name in variables || sampleQueries[operation.operationId]?.includes(name),
      )
      .map(parameter => ({ ...parameter, schema: toSchema(variables[parameter.name] ?? parameter.example) })),
    ...(requestBody && { requestBody: convertBody(resolve(requestBody)) }),
  })
  return Object.assign({}, document, { paths: mapValues(paths, methods => mapValues(methods, convert)) })
}

const convertBody = ({ content = {}, ...body }: RequestBody) => ({
  ...body,
  content: mapValues(content, ({ example }) => ({ schema: toSchema(example) })),
})

const toSchema = (value: unknown) => ({ type: typeof value, default: value })
