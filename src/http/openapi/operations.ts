import { type ErrorCode, errorCodes } from '../../errors/api-error.ts'
import { isNoBody } from '../body/body.ts'
import type { Operation } from '../routing/operation.ts'
import type { fileTypes } from '../routing/uploads.ts'
import { errorsOfEveryWrite, errorsOfRepeatable } from '../routing/writes.ts'
import type { Writer } from './document-writer.ts'
import { errorsOfEveryOperation } from './errors.ts'
import { headersOf, rateLimitHeaders, wholeHeaders } from './headers.ts'
import { ownHeader, pathParameter, queryParameter, referredTo, requestHeaders } from './parameters.ts'
import { AnswerWithWarnings, DataResponse, linesOf } from './responses.ts'
import { heading } from './texts.ts'

/** An operation of a resource as the document has it. */
export const writeOperation = (writer: Writer, operation: Operation) => ({
  operationId: operation.operationId,
  tags: [operation.tag],
  summary: heading(operation.summary),
  description: [operation.description, ...madeOf(operation)].join(' '),
  parameters: [
    ...referredTo(['ServiceName']),
    ...Object.entries(operation.params).map(([name, { description, example }]) =>
      pathParameter(name, description, example),
    ),
    ...Object.entries(operation.query.properties).map(([name, shape]) =>
      queryParameter(
        name,
        writer.write(shape, 'query'),
        operation.query.required?.includes(name) ?? false,
        isMoment(shape),
      ),
    ),
    ...Object.entries(operation.headers).map(([name, header]) => ownHeader(name, header)),
    ...referredTo(requestHeaders(operation)),
  ],
  // What a body of a DELETE would mean is nowhere said (RFC 9110, section 9.3.5).
  ...(operation.body &&
    operation.method !== 'DELETE' && {
      requestBody: {
        description: operation.summary,
        required: !isNoBody(operation.body),
        content: writer.json(operation.body, operation.keepsEmptyTexts ? 'body' : 'body, empty is null'),
      },
    }),
  ...(operation.files && { requestBody: { description: operation.summary, required: true, content: fileContent } }),
  responses: responsesOf(writer, operation),
})

function answerContent({ write, components, content, json }: Writer, operation: Operation) {
  const { answer, media, whole, warns } = operation
  if (media[0] === 'events') return content('text/event-stream', answer)
  const usual = json(isList(operation) ? answer : (warns ? AnswerWithWarnings : DataResponse)(answer))
  return whole ? { ...usual, 'application/x-ndjson': linesOf(write(whole.item), components) } : usual
}

function responsesOf(writer: Writer, operation: Operation) {
  const { method, statuses, media, whole, etag, repeatable } = operation
  const content = answerContent(writer, operation)
  const tagged = etag ? (['ETag'] as const) : []
  const unbuffered = media[0] === 'events' ? (['X-Accel-Buffering'] as const) : []
  const tried = method === 'GET' ? [] : (['Preference-Applied'] as const)
  const repeated = repeatable ? (['Idempotent-Replayed'] as const) : []
  const answered = (status: number) => {
    const located = status === 201 || status === 202 ? (['Location'] as const) : []
    const ofWhole = whole ? wholeHeaders(whole) : []
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
    ...writer.errors.write(errorsOf(operation)),
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
  if (operation.whole) found.add('too_many_exports')
  if (Object.values(query.properties).some(isMoment)) found.add('invalid_timestamp')
  if (Object.keys(params).length) found.add('not_found')
  if (role !== undefined && role !== 'visitor') found.add('insufficient_role')
  // In the order of the catalogue, so that the document does not depend on where an error was named.
  return (Object.keys(errorCodes) as ErrorCode[]).filter(code => found.has(code))
}

/** What is said of the answer to a trial. */
const madeOf = ({ made = [] }: Operation) =>
  made.length
    ? [`In the answer to a trial null, unless the body says it: ${made.map(name => `\`${name}\``).join(', ')}.`]
    : []
