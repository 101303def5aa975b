import manifest from '../../../package.json' with { type: 'json' }
import { Reference } from '../../domain/references.ts'
import { momentForms } from '../../domain/timestamp.ts'
import { catalogue, type ErrorCode } from '../../errors.ts'
import type { TSchema } from '../../shapes/shapes.ts'
import { isNoBody } from '../body/body.ts'
import { ListMeta, Warning } from '../lists.ts'
import type { Operation, OwnHeaders } from '../operation.ts'
import { Problem } from '../problem.ts'
import type { fileTypes } from '../uploads.ts'
import { errorsOfEveryWrite, errorsOfRepeatable } from '../writes.ts'
import { Answer, AnswerWithWarnings, linesOf } from './answers.ts'
import { errorsOfEveryOperation, errorsOfEveryRequest, errorWriter } from './errors.ts'
import { exampleOf } from './examples.ts'
import {
  answerHeaders,
  headerParameters,
  headersOf,
  rateLimitHeaders,
  requestHeaders,
  sentWithAny,
  wholeHeaders,
} from './headers.ts'
import { type PageAnswer, type PageOperation, pages, pagesTag } from './pages.ts'
import type { Schema } from './schema.ts'
import { schemaWriter, type Use } from './shapes.ts'
import { introduction, tagDescriptions } from './texts.ts'

/** The OpenAPI document of the operations and of the public pages, all of it made from what the server itself runs on. */
export function openApiDocument(operations: readonly Operation[], publicUrl: string): object {
  const { write, components } = schemaWriter()
  const errors = errorWriter(publicUrl)
  // Shapes that others name but do not hold.
  for (const shape of [Problem, ListMeta, Warning, Reference]) write(shape)

  const content = (type: string, shape: TSchema, ...use: Use[]) => {
    const schema = write(shape, ...use)
    return { [type]: { schema, example: exampleOf(schema, components) } }
  }
  const json = (shape: TSchema, ...use: Use[]) => content('application/json', shape, ...use)

  const answerContent = (operation: Operation) => {
    const { answer, media, line, warns } = operation
    if (media[0] === 'events') return content('text/event-stream', answer)
    const usual = json(isList(operation) ? answer : (warns ? AnswerWithWarnings : Answer)(answer))
    return line ? { ...usual, 'application/x-ndjson': linesOf(write(line), components) } : usual
  }

  const answers = (operation: Operation) => {
    const { method, statuses, media, line, etag, repeatable } = operation
    const content = answerContent(operation)
    const tagged = etag ? (['ETag'] as const) : []
    const unbuffered = media[0] === 'events' ? (['X-Accel-Buffering'] as const) : []
    const tried = method === 'GET' ? [] : (['Preference-Applied'] as const)
    const repeated = repeatable ? (['Idempotent-Replayed'] as const) : []
    const answered = (status: number) => {
      const located = status === 201 || status === 202 ? (['Location'] as const) : []
      const ofWhole = line ? wholeHeaders(operation.operationId === 'listChanges') : []
      const headers = headersOf(
        ...rateLimitHeaders,
        ...tagged,
        ...unbuffered,
        ...repeated,
        ...tried,
        ...located,
        ...ofWhole,
      )
      return { description: operation.summary, headers, content }
    }
    return {
      ...Object.fromEntries(statuses.map(status => [status, answered(status)])),
      ...(etag &&
        method === 'GET' && { 304: { description: notModified, headers: headersOf(...rateLimitHeaders, ...tagged) } }),
      ...errors.write(errorsOf(operation)),
    }
  }

  const ownOperation = (operation: Operation) => ({
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: heading(operation.summary),
    description: [operation.description, ...madeOf(operation)].join(' '),
    parameters: [
      { $ref: '#/components/parameters/ServiceName' },
      ...Object.entries(operation.params).map(([name, { description, example }]) =>
        pathParameter(name, description, example),
      ),
      ...Object.entries(operation.query.properties).map(([name, shape]) =>
        queryParameter(name, write(shape, 'query'), operation.query.required?.includes(name) ?? false, isMoment(shape)),
      ),
      ...Object.entries(operation.headers).map(([name, header]) => ownHeader(name, header)),
      ...requestHeaders(operation).map(name => ({ $ref: `#/components/parameters/${name}` })),
    ],
    // What a body of a DELETE would mean is nowhere said (RFC 9110, section 9.3.5).
    ...(operation.body &&
      operation.method !== 'DELETE' && {
        requestBody: {
          description: operation.summary,
          required: !isNoBody(operation.body),
          content: json(operation.body, operation.keepsEmptyTexts ? 'body' : 'body, empty is null'),
        },
      }),
    ...(operation.files && { requestBody: { description: operation.summary, required: true, content: fileContent } }),
    responses: answers(operation),
  })

  const pageAnswer = ({ description, shape, headers = [] }: PageAnswer) => ({
    description,
    headers: headersOf(...headers),
    content: shape ? json(shape) : html,
  })

  const pageOperation = (page: PageOperation) => ({
    operationId: page.operationId,
    tags: [pagesTag],
    summary: heading(page.summary),
    description: page.description,
    security: [],
    parameters: [
      ...Object.entries(page.params ?? {}).map(([name, { description, example, words }]) =>
        pathParameter(name, description, example, { enum: words }),
      ),
      ...sentWithAny.map(name => ({ $ref: `#/components/parameters/${name}` })),
    ],
    responses: {
      ...Object.fromEntries(Object.entries(page.answers).map(([status, answer]) => [status, pageAnswer(answer)])),
      ...errors.write([...errorsOfEveryRequest, ...(page.errors ?? [])]),
    },
  })

  const methodsOf = (mine: readonly Operation[]) =>
    Object.fromEntries(mine.map(each => [each.method.toLowerCase(), ownOperation(each)]))
  const paths = Object.fromEntries([
    ...[...Map.groupBy(operations, each => documentedPath(each.path))].map(([path, mine]) => [path, methodsOf(mine)]),
    ...pages.map(each => [each.path, { get: pageOperation(each) }]),
  ])
  const tags = new Set([...operations.map(({ tag }) => tag), pagesTag])
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tillbridge',
      version: manifest.version,
      summary: manifest.description,
      description: introduction(),
      contact: { name: 'Whoever runs this service' },
    },
    servers: [{ url: publicUrl }],
    security: [{ basic: [] }],
    tags: [...tags].map(name => ({ name, description: tagDescriptions[name] })),
    paths,
    components: {
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic', description: 'Username and password of an account.' },
      },
      parameters: headerParameters,
      headers: answerHeaders,
      responses: errors.components,
      schemas: components,
    },
  }
}

/** A file, of each of the types that it may have. A client in Python that is generated sends any as the last one. */
const fileExamples: Readonly<Record<keyof typeof fileTypes, string>> = {
  'application/x-ndjson': '{"storeId":"1001","storeNumber":"101","name":"Collins Street"}\n',
  'text/csv': 'storeId,storeNumber,name\n1001,101,Collins Street\n',
}
const fileContent = Object.fromEntries(
  Object.entries(fileExamples).map(([type, example]) => [
    type,
    { schema: { type: 'string', format: 'binary', examples: [example] }, example },
  ]),
)

const notModified = 'The record is still the one that `If-None-Match` names.'

const isList = ({ query }: Operation) => 'after_cursor' in query.properties
const isMoment = (shape: unknown) => (shape as { format?: string }).format === 'moment'

/** Every error that the operation can end in. */
function errorsOf(operation: Operation): ErrorCode[] {
  const { params, query, role, errors, body, repeatable } = operation
  const found = new Set<ErrorCode>([...errorsOfEveryOperation, ...errors])
  if (body) for (const code of errorsOfEveryWrite) found.add(code)
  if (repeatable) for (const code of errorsOfRepeatable) found.add(code)
  if (isList(operation)) found.add('invalid_cursor')
  if (operation.line) found.add('too_many_whole_lists')
  if (Object.values(query.properties).some(isMoment)) found.add('invalid_timestamp')
  if (Object.keys(params).length) found.add('not_found')
  if (role !== undefined && role !== 'visitor') found.add('insufficient_role')
  // In the order of the catalogue, so that the document does not depend on where an error was named.
  return (Object.keys(catalogue) as ErrorCode[]).filter(code => found.has(code))
}

/** What is said of the answer to a trial. */
const madeOf = ({ made = [] }: Operation) =>
  made.length
    ? [`In the answer to a trial null, unless the body says it: ${made.map(name => `\`${name}\``).join(', ')}.`]
    : []

const pathParameter = (name: string, description: string, example: string, keywords: Schema = {}) => ({
  name,
  in: 'path',
  description,
  required: true,
  schema: { type: 'string', minLength: 1, maxLength: 250, ...keywords, examples: [example] },
  example,
})

const anyText = { type: 'string' }

const ownHeader = (name: string, { description, example, required = true, schema = anyText }: OwnHeaders[string]) => ({
  name,
  in: 'header',
  description,
  required,
  schema: { ...schema, examples: [example] },
  example,
})

function queryParameter(name: string, schema: Schema, required: boolean, moment: boolean) {
  const { description = '', ...rest } = schema
  const about = moment ? { description: `${description} Written as ${momentForms}.` } : { description }
  const shown = moment ? { examples: momentExamples } : { example: rest.examples?.[0] }
  const example = rest.examples ? shown : {}
  return { name, in: 'query', ...about, required, schema: rest, ...example }
}

const momentExamples = {
  instant: { summary: 'A moment in UTC, as `asOf` is.', value: '2026-11-21T09:31:27.803870Z' },
  offset: { summary: 'With an offset; `+` is `%2B` in a URL.', value: '2026-11-21T20:31:27+11:00' },
  wallClock: { summary: "On the clock of the service's time zone.", value: '2024-05-10 09:30:00' },
  day: { summary: 'The first moment of a day.', value: '2024-05-10' },
}

const html = {
  'text/html': { schema: { type: 'string', examples: ['<!doctype html>…'] }, example: '<!doctype html>…' },
}

/** A sentence as a heading. */
const heading = (sentence: string) => sentence.replace(/\.$/, '')

/** `:id` is `{id}`. */
const documentedPath = (path: string) => path.replace(/:(\w+)/g, '{$1}')
