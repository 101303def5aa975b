import { timestampFormats } from '../../domain/values/timestamp.ts'
import { Type } from '../../schemas/schemas.ts'
import type { Operation, Params, RequestHeaders } from '../routing/operation.ts'
import type { headerParameters } from './headers.ts'
import type { Schema } from './schema.ts'

/** Returns the headers of an operation's requests. */
export const getRequestHeaders = ({
  etag,
  errors,
  supportsStrict,
  method,
  repeatable,
}: Operation): (keyof typeof headerParameters)[] => [
  ...(etag && method === 'GET' ? (['IfNoneMatch'] as const) : []),
  ...(errors.includes('precondition_failed') ? (['IfMatch'] as const) : []),
  ...(repeatable ? (['IdempotencyKey'] as const) : []),
  ...(supportsStrict ? (['Prefer'] as const) : []),
  ...(method === 'GET' ? [] : (['DryRun'] as const)),
]

export const buildPathParameter = (name: string, description: string, example: string) => ({
  name,
  in: 'path',
  description,
  required: true,
  schema: { type: 'string', minLength: 1, maxLength: 250 },
  example,
})

/** Returns a path with the examples of its parameters: `/customers/65432`. */
export const buildExamplePath = (path: string, params: Params = {}) =>
  path.replace(/:(\w+)|\{(\w+)\}/g, (_, name, templateName) =>
    encodeURIComponent(params[name ?? templateName]?.example ?? ''),
  )

const anyString = { type: 'string' }

export const buildHeaderParameter = (
  name: string,
  { description, example, required = true }: RequestHeaders[string],
  schema: object = anyString,
) => ({
  name,
  in: 'header',
  description,
  ...(required && { required }),
  schema,
  ...(example !== undefined && { example }),
})

/** The schema of every timestamp in a query. */
export const TimestampFilter = Type.String({
  $id: 'TimestampFilter',
  description: `${timestampFormats}. Encode \`+\` as \`%2B\` in a URL.`,
  format: 'timestamp',
  maxLength: 40,
  examples: ['2026-11-21T09:31:27.803870Z', '2026-11-21T20:31:27+11:00', '2024-05-10 09:30:00', '2024-05-10'],
})

export function queryParameter(name: string, schema: Schema, required: boolean) {
  const { description, examples, ...keywords } = schema
  const [example] = examples ?? []
  return {
    name,
    in: 'query',
    description,
    ...(required && { required }),
    schema: keywords,
    ...(example !== undefined && { example }),
  }
}

/** Returns references to shared parameters. */
export const referToParameters = (names: readonly (keyof typeof headerParameters)[]) =>
  names.map(name => ({ $ref: `#/components/parameters/${name}` }))

/** Query parameters that samples send although they are optional: one of several is required. */
export const sampleQueries: Readonly<Record<string, readonly string[]>> = { findCustomers: ['email'] }
