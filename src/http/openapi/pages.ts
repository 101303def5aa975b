import { LocalDate, OneOf } from '../../domain/values/fields.ts'
import type { ErrorCode } from '../../errors/api-error.ts'
import { type TObject, type TSchema, Type } from '../../schemas/schemas.ts'
import { Code } from '../problem.ts'
import type { Tag } from '../routing/operation.ts'
import type { ResponseHeader } from './headers.ts'
import { DataResponse } from './responses.ts'
import { sliceQuery } from './slice.ts'

export interface PublicPageResponse {
  description: string
  /** The schema of a JSON response. Without it, the response is HTML. */
  schema?: TSchema
  /** True if the page is also available as Markdown. */
  hasMarkdown?: true
  headers?: readonly ResponseHeader[]
}

/** An operation that needs no credentials (docs/public.ts). */
export interface PageOperation {
  path: string
  operationId: string
  summary: string
  description: string
  params?: Record<string, { description: string; example: string; schema: TSchema }>
  query?: TObject
  responses: Record<number, PublicPageResponse>
  errors?: readonly ErrorCode[]
}

export const pagesTag: Tag = 'Health and documentation'

const Status = (name: string, word: string) =>
  DataResponse(
    Type.Object({ status: OneOf('The result of the check.', [word]) }, { $id: name, additionalProperties: false }),
  )

const Readiness = DataResponse(
  Type.Object(
    {
      status: OneOf('The result of the check.', ['ready']),
      writes: OneOf('`waiting` if commits wait for a lost standby. Reads work.', ['ready', 'waiting']),
      warning: Type.Optional(
        Type.String({
          description: 'A condition that an operator must know about. Requests are served.',
          examples: ['The clock of PostgreSQL was ahead and was set back.'],
        }),
      ),
    },
    { $id: 'Readiness', additionalProperties: false },
  ),
)

const Change = Type.Object(
  {
    date: LocalDate('The date of the release.', '2026-11-21'),
    category: OneOf('The category of the change.', ['ADDED', 'FIXED', 'BREAKING', 'ANNOUNCEMENT']),
    change: Type.String({ description: 'The change.', examples: ['Stores and staff can be read.'] }),
  },
  { $id: 'ApiChange', additionalProperties: false },
)

const Changelog = DataResponse(Type.Array(Change))

const Document = Type.Object(
  { openapi: Type.String({ description: 'The version of OpenAPI.', examples: ['3.1.1'] }) },
  { $id: 'OpenApiDocument', description: 'An OpenAPI document.', additionalProperties: true },
)

const fileHeaders: readonly ResponseHeader[] = ['ETag', 'Vary', 'Content-Encoding']

/** The operations that need no credentials. */
export const pages: readonly PageOperation[] = [
  {
    path: '/health/live',
    operationId: 'checkLive',
    summary: 'Liveness check',
    description: 'For process supervisors: restart Tillbridge if there is no response. Checks nothing else.',
    responses: { 200: { description: 'The process is running.', schema: Status('Liveness', 'live') } },
  },
  {
    path: '/health/ready',
    operationId: 'checkReady',
    summary: 'Readiness check',
    description:
      'For load balancers. Tillbridge is not ready if the database is unreachable or the process is shutting down.',
    responses: {
      200: { description: 'Requests can be served.', schema: Readiness },
      503: {
        description: 'Tillbridge is temporarily not ready.',
        schema: Status('Unreadiness', 'not ready'),
        headers: ['Retry-After'],
      },
    },
  },
  {
    path: '/openapi.json',
    operationId: 'getOpenApi',
    summary: 'Get the OpenAPI document',
    description:
      'OpenAPI 3.1, generated from the definitions that the server runs on. With `view` or `tag`, a part of the document. With `samples`, code in four languages.',
    query: sliceQuery,
    responses: {
      200: { description: 'The OpenAPI document.', schema: Document, headers: fileHeaders },
      304: {
        description: 'The document has not changed since the response that `If-None-Match` names.',
        headers: fileHeaders,
      },
    },
    errors: ['invalid_parameter'],
  },
  {
    path: '/docs',
    operationId: 'readDocs',
    summary: 'Read the documentation',
    description:
      'An HTML page with links to all others. `/docs/api` is the API reference, `/llms.txt` the documentation for language models.',
    responses: {
      200: {
        description: 'The documentation as HTML.',
        headers: [...fileHeaders, 'Content-Security-Policy', 'Referrer-Policy'],
      },
      304: {
        description: 'The page has not changed since the response that `If-None-Match` names.',
        headers: fileHeaders,
      },
    },
  },
  {
    path: '/errors/{code}',
    operationId: 'explainError',
    summary: 'Get an error page',
    description:
      'The meaning of the error and its remedy: an HTML page, or Markdown with `Accept: text/markdown` or if the path ends with `.md`. The Markdown begins with `next`, the next action of a program.',
    params: {
      code: { description: 'The code of the error.', example: 'not_found', schema: Code },
    },
    responses: {
      200: {
        description: 'The error page.',
        headers: ['Content-Security-Policy', 'Referrer-Policy', 'Vary'],
        hasMarkdown: true,
      },
    },
    errors: ['not_found'],
  },
  {
    path: '/changelog',
    operationId: 'listApiChanges',
    summary: 'Get the changelog',
    description: 'The dated changes of the API, newest first.',
    responses: { 200: { description: 'The changelog.', schema: Changelog } },
  },
]
