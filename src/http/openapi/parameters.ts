import { momentForms } from '../../domain/values/timestamp.ts'
import type { Operation, OwnHeaders } from '../routing/operation.ts'
import type { headerParameters } from './headers.ts'
import type { Schema } from './schema.ts'

/** Headers that any request may have. */
export const sentWithAny = ['RequestId', 'Traceparent'] as const satisfies (keyof typeof headerParameters)[]

/** The headers of a request that depend on what its operation does. */
export const requestHeaders = ({
  etag,
  errors,
  heedsStrict,
  method,
  repeatable,
}: Operation): (keyof typeof headerParameters)[] => [
  ...(etag && method === 'GET' ? (['IfNoneMatch'] as const) : []),
  ...(errors.includes('precondition_failed') ? (['IfMatch'] as const) : []),
  ...(repeatable ? (['IdempotencyKey'] as const) : []),
  ...(heedsStrict ? (['Prefer'] as const) : []),
  ...(method === 'GET' ? [] : (['Trial'] as const)),
  ...sentWithAny,
]

export const pathParameter = (name: string, description: string, example: string, keywords: Schema = {}) => ({
  name,
  in: 'path',
  description,
  required: true,
  schema: { type: 'string', minLength: 1, maxLength: 250, ...keywords, examples: [example] },
  example,
})

const anyText = { type: 'string' }

export const ownHeader = (
  name: string,
  { description, example, required = true, schema = anyText }: OwnHeaders[string],
) => ({
  name,
  in: 'header',
  description,
  required,
  schema: { ...schema, examples: [example] },
  example,
})

export function queryParameter(name: string, schema: Schema, required: boolean, isMoment: boolean) {
  const { description = '', ...rest } = schema
  const about = isMoment ? { description: `${description} Written as ${momentForms}.` } : { description }
  const shown = isMoment ? { examples: momentExamples } : { example: rest.examples?.[0] }
  const example = rest.examples ? shown : {}
  return { name, in: 'query', ...about, required, schema: rest, ...example }
}

const momentExamples = {
  instant: { summary: 'A moment in UTC, as `asOf` is.', value: '2026-11-21T09:31:27.803870Z' },
  offset: { summary: 'With an offset; `+` is `%2B` in a URL.', value: '2026-11-21T20:31:27+11:00' },
  wallClock: { summary: "On the clock of the service's time zone.", value: '2024-05-10 09:30:00' },
  day: { summary: 'The first moment of a day.', value: '2024-05-10' },
}

/** Parameters that are described once for all. */
export const referredTo = (names: readonly (keyof typeof headerParameters)[]) =>
  names.map(name => ({ $ref: `#/components/parameters/${name}` }))
