import { LocalDate, Words } from '../../domain/values/fields.ts'
import { type ErrorCode, errorCodes } from '../../errors/api-error.ts'
import { type TSchema, Type } from '../../schemas/schemas.ts'
import type { Tag } from '../routing/operation.ts'
import type { AnswerHeader } from './headers.ts'
import { DataResponse } from './responses.ts'

/** One answer of a page: JSON of a shape, or HTML. */
export interface PageAnswer {
  description: string
  /** Absent: HTML. */
  shape?: TSchema
  headers?: readonly AnswerHeader[]
}

/** An operation that needs no credentials (`public.ts`). */
export interface PageOperation {
  path: string
  operationId: string
  summary: string
  description: string
  params?: Record<string, { description: string; example: string; words: readonly string[] }>
  answers: Record<number, PageAnswer>
  errors?: readonly ErrorCode[]
}

export const pagesTag: Tag = 'Health and documentation'

const Status = (name: string, word: string) =>
  DataResponse(Type.Object({ status: Words('How it is.', [word]) }, { $id: name, additionalProperties: false }))

const Change = Type.Object(
  {
    date: LocalDate('When it was released.', '2026-11-21'),
    category: Words('What kind of change it is.', ['ADDED', 'FIXED', 'BREAKING', 'ANNOUNCEMENT']),
    change: Type.String({ description: 'What has changed.', examples: ['Stores and staff can be read.'] }),
  },
  { $id: 'ApiChange', additionalProperties: false },
)

const Changelog = DataResponse(Type.Array(Change))

const Document = Type.Object(
  { openapi: Type.String({ description: 'The version of OpenAPI.', examples: ['3.1.1'] }) },
  { $id: 'OpenApiDocument', description: 'An OpenAPI document.', additionalProperties: true },
)

/** What anyone may ask for (contract 9). */
export const pages: readonly PageOperation[] = [
  {
    path: '/health/live',
    operationId: 'checkLive',
    summary: 'Liveness check',
    description: 'For who restarts it where there is no answer. Nothing else is looked at.',
    answers: { 200: { description: 'It runs.', shape: Status('Liveness', 'live') } },
  },
  {
    path: '/health/ready',
    operationId: 'checkReady',
    summary: 'Readiness check',
    description: 'Not while the database cannot be reached, nor once the process is on its way out.',
    answers: {
      200: { description: 'They can.', shape: Status('Readiness', 'ready') },
      503: {
        description: 'They cannot, for now.',
        shape: Status('Unreadiness', 'not ready'),
        headers: ['Retry-After'],
      },
    },
  },
  {
    path: '/openapi.json',
    operationId: 'getOpenApi',
    summary: 'Get the OpenAPI document',
    description: 'OpenAPI 3.1, made from what the service itself runs on.',
    answers: { 200: { description: 'The OpenAPI document.', shape: Document } },
  },
  {
    path: '/docs',
    operationId: 'readDocs',
    summary: 'Read the API reference',
    description: 'All its files are served from here, under `/docs/`.',
    answers: { 200: { description: 'A page for a browser.', headers: ['Content-Security-Policy', 'Referrer-Policy'] } },
  },
  {
    path: '/errors/{code}',
    operationId: 'explainError',
    summary: 'Get an error page',
    description: 'What the error means, and what to do.',
    params: {
      code: { description: 'The code of the error.', example: 'not_found', words: Object.keys(errorCodes) },
    },
    answers: { 200: { description: 'The page.' } },
    errors: ['not_found'],
  },
  {
    path: '/changelog',
    operationId: 'listApiChanges',
    summary: 'Get the changelog',
    description: 'The changes of the API, dated: what was added, fixed, broken or announced.',
    answers: { 200: { description: 'The changelog.', shape: Changelog } },
  },
]
