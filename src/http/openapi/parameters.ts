import { timestampFormats } from '../../domain/values/timestamp.ts'
import type { Operation, RequestHeaders } from '../routing/operation.ts'
import type { headerParameters } from './headers.ts'
import type { Schema } from './schema.ts'

/** Headers that every request can have. */
export const commonHeaders = ['RequestId', 'Traceparent'] as const satisfies (keyof typeof headerParameters)[]

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
  ...(method === 'GET' ? [] : (['Trial'] as const)),
  ...commonHeaders,
]

export const pathParameter = (name: string, description: string, example: string, keywords: Schema = {}) => ({
  name,
  in: 'path',
  description,
  required: true,
  schema: { type: 'string', minLength: 1, maxLength: 250, ...keywords, examples: [example] },
  example,
})

const anyString = { type: 'string' }

export const headerParameter = (
  name: string,
  { description, example, required = true, schema = anyString }: RequestHeaders[string],
) => ({
  name,
  in: 'header',
  description,
  required,
  schema: { ...schema, examples: [example] },
  example,
})

export function queryParameter(name: string, schema: Schema, required: boolean, isTimestamp: boolean) {
  const { description = '', ...keywords } = schema
  const about = isTimestamp ? { description: `${description} Format: ${timestampFormats}.` } : { description }
  const shown = isTimestamp ? { examples: timestampExamples } : { example: keywords.examples?.[0] }
  const example = keywords.examples ? shown : {}
  return { name, in: 'query', ...about, required, schema: keywords, ...example }
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
