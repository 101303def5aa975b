import { timestampFormats } from '../../domain/values/timestamp.ts'
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

export const pathParameter = (name: string, description: string, example: string) => ({
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

export const headerParameter = (
  name: string,
  { description, example, required = true, schema = anyString }: RequestHeaders[string],
) => ({
  name,
  in: 'header',
  description,
  ...(required && { required }),
  schema,
  ...(example !== undefined && { example }),
})

export function queryParameter(name: string, schema: Schema, required: boolean, isTimestamp: boolean) {
  const { description = '', examples, ...keywords } = schema
  const about = isTimestamp ? { description: `${description} Format: ${timestampFormats}.` } : { description }
  const shown = isTimestamp ? { examples: timestampExamples } : { example: examples?.[0] }
  return { name, in: 'query', ...about, ...(required && { required }), schema: keywords, ...(examples ? shown : {}) }
}

const timestampExamples = {
  instant: { summary: 'A time in UTC, like `asOf`.', value: '2026-11-21T09:31:27.803870Z' },
  offset: { summary: 'With an offset. Encode `+` as `%2B` in a URL.', value: '2026-11-21T20:31:27+11:00' },
  wallClock: { summary: "In the service's time zone.", value: '2024-05-10 09:30:00' },
  day: { summary: 'The beginning of a day.', value: '2024-05-10' },
}

/** Returns references to shared parameters. */
export const referToParameters = (names: readonly (keyof typeof headerParameters)[]) =>
  names.map(name => ({ $ref: `#/components/parameters/${name}` }))
