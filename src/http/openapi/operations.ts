import { STATUS_CODES } from 'node:http'
import { type ErrorCode, errorCodes } from '../../errors/api-error.ts'
import { isEmptyBody } from '../body/body.ts'
import { describeDeprecation } from '../deprecations.ts'
import type { Operation } from '../routing/operation.ts'
import type { fileTypes } from '../routing/uploads.ts'
import { errorsOfEveryWrite, errorsOfRepeatable } from '../routing/writes.ts'
import type { Writer } from './document-writer.ts'
import { errorsOfEveryOperation, getOwnErrors } from './errors.ts'
import type { SampleRequest } from './generated-samples.ts'
import { referToHeaders } from './headers.ts'
import {
  buildExamplePath,
  buildHeaderParameter,
  buildPathParameter,
  getRequestHeaders,
  queryParameter,
  referToParameters,
  sampleQueries,
  TimestampFilter,
} from './parameters.ts'
import { buildNdjsonContent, DataResponse, ResponseWithWarnings } from './responses.ts'
import { getCodeSamples } from './samples.ts'
import type { Use } from './schemas.ts'
import { isForAdmins } from './slice.ts'
import { toHeading } from './texts.ts'

/** Returns the OpenAPI operation of a route. */
export const writeOperation = (writer: Writer, operation: Operation) => ({
  operationId: operation.operationId,
  tags: [operation.tag],
  summary: toHeading(operation.summary),
  description: [
    ...(operation.deprecated ? [describeDeprecation(operation.deprecated)] : []),
    operation.description,
    ...describeGenerated(operation),
  ].join(' '),
  ...(operation.deprecated && { deprecated: true }),
  parameters: [
    ...referToParameters(['ServiceName']),
    ...Object.entries(operation.params).map(([name, { description, example }]) =>
      buildPathParameter(name, description, example),
    ),
    ...Object.entries(operation.query.properties).map(([name, schema]) => ({
      ...queryParameter(name, writer.write(schema, 'query'), operation.query.required?.includes(name) ?? false),
      ...(isTimestamp(schema) && { schema: writer.write(TimestampFilter, 'query') }),
    })),
    ...Object.entries(operation.headers).map(([name, header]) =>
      buildHeaderParameter(name, header, header.schema && writer.write(header.schema, 'query')),
    ),
    ...referToParameters(getRequestHeaders(operation)),
  ],
  // The body of a DELETE has no defined meaning (RFC 9110, section 9.3.5).
  ...(operation.body &&
    operation.method !== 'DELETE' && {
      requestBody: isEmptyBody(operation.body)
        ? { $ref: '#/components/requestBodies/Empty' }
        : {
            required: true,
            content: writer.body(operation.body, getBodyUse(operation)),
          },
    }),
  ...(operation.files && { requestBody: { required: true, content: fileContent } }),
  responses: buildResponses(writer, operation),
  ...(operation.role === undefined ? {} : { 'x-required-role': operation.role }),
  ...describeOwnErrors(getErrors(operation)),
  ...(writer.hasSamples && getCodeSamples(operation.operationId, buildSampleRequest(writer, operation))),
})

const getBodyUse = ({ keepsEmptyTexts }: Operation): Use => (keepsEmptyTexts ? 'body' : 'body, empty is null')

/** Returns the request of an operation's sample. Returns undefined for operations that a shop doesn't need. */
function buildSampleRequest(writer: Writer, operation: Operation): SampleRequest | undefined {
  const { method, path, params, query, headers, body, role, tag, operationId, repeatable, media } = operation
  if (isForAdmins({ tags: [tag], ...(role !== undefined && { 'x-required-role': role }) })) return
  const queryNames = [...(query.required ?? []), ...(sampleQueries[operationId] ?? [])]
  const search = new URLSearchParams(
    queryNames.map(name => [
      name,
      String((query.properties[name] as { examples?: unknown[] } | undefined)?.examples?.[0]),
    ]),
  )
  const ownHeaders = Object.entries(headers).flatMap(([name, { required = true, example }]) =>
    required && example !== undefined ? [[name, String(example)] as const] : [],
  )
  const content =
    body && method !== 'DELETE' && !isEmptyBody(body) ? writer.body(body, getBodyUse(operation)) : undefined
  return {
    method,
    path: buildExamplePath(path, params) + (queryNames.length ? `?${search}` : ''),
    headers: Object.fromEntries(ownHeaders),
    ...(content && { body: content['application/json'].example }),
    isRepeatable: Boolean(repeatable),
    isStream: media[0] === 'events',
  }
}

function buildContent({ write, content, json }: Writer, operation: Operation) {
  const { response, media, exportLine, warns } = operation
  if (media[0] === 'events') return content('text/event-stream', response)
  const defaultContent = json(isList(operation) ? response : (warns ? ResponseWithWarnings : DataResponse)(response))
  return exportLine
    ? { ...defaultContent, 'application/x-ndjson': buildNdjsonContent(write(exportLine)) }
    : defaultContent
}

function buildResponses(writer: Writer, operation: Operation) {
  const { method, statuses, media, etag } = operation
  const content = buildContent(writer, operation)
  const etagHeaders = etag ? ([isList(operation) ? 'ETag.poll' : 'ETag'] as const) : []
  const streamHeaders = media[0] === 'events' ? (['X-Accel-Buffering'] as const) : []
  const buildSuccess = (status: number) => {
    const locationHeaders = status === 201 || status === 202 ? (['Location'] as const) : []
    const headers = referToHeaders(...etagHeaders, ...streamHeaders, ...locationHeaders)
    return { description: STATUS_CODES[status], ...(Object.keys(headers).length && { headers }), content }
  }
  return {
    ...Object.fromEntries(statuses.map(status => [status, buildSuccess(status)])),
    ...(etag &&
      method === 'GET' && {
        304: { $ref: '#/components/responses/NotModified' },
      }),
    ...writer.errors.write(getErrors(operation), buildExamplePath(operation.path, operation.params)),
  }
}

const describeOwnErrors = (codes: readonly ErrorCode[]) => {
  const ownErrors = getOwnErrors(codes)
  return ownErrors.length ? { 'x-error-codes': ownErrors } : {}
}

/** An example file for each content type. The order matters: a generated Python client sends every file as the last type. */
const fileExamples: Readonly<Record<keyof typeof fileTypes, string>> = {
  'application/x-ndjson': '{"storeId":"1001","storeNumber":"101","name":"Collins Street"}\n',
  'text/csv': 'storeId,storeNumber,name\n1001,101,Collins Street\n',
}
const fileContent = Object.fromEntries(
  Object.entries(fileExamples).map(([type, example]) => [
    type,
    { schema: { type: 'string', format: 'binary' }, example },
  ]),
)

const isList = ({ query }: Operation) => 'after_cursor' in query.properties
const isTimestamp = (schema: unknown) => (schema as { format?: string }).format === 'timestamp'

/** Returns every error of an operation, in the order of the catalogue. */
export function getErrors(operation: Operation): ErrorCode[] {
  const { params, query, role, errors, body, repeatable } = operation
  const codes = new Set<ErrorCode>([...errorsOfEveryOperation, ...errors])
  if (body) for (const code of errorsOfEveryWrite) codes.add(code)
  if (repeatable) for (const code of errorsOfRepeatable) codes.add(code)
  if (isList(operation)) codes.add('invalid_cursor')
  if (operation.exportLine) codes.add('too_many_exports')
  if (Object.values(query.properties).some(isTimestamp)) codes.add('invalid_timestamp')
  if (Object.keys(params).length) codes.add('not_found')
  if (role !== undefined && role !== 'visitor') codes.add('insufficient_role')
  return (Object.keys(errorCodes) as ErrorCode[]).filter(code => codes.has(code))
}

/** Describes the fields that are null in the response of a dry run. */
const describeGenerated = ({ generated = [] }: Operation) =>
  generated.length ? [`Null in a dry run unless sent: ${generated.map(name => `\`${name}\``).join(', ')}.`] : []
