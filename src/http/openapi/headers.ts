import { formatRateLimitHeaders } from '../limits/rate-limit.ts'
import { defaultHeaders } from '../problem.ts'
import { pageSecurityHeaders } from '../security-headers.ts'
import type { Schema } from './schema.ts'

export const exampleRequestId = '0f8fad5b-d9cb-469f-a165-70867728950e'
const exampleTag = '"c2hvcHMgYXJlIGZ1biEhIQ"'
const exampleRateLimit = formatRateLimitHeaders({
  policy: 'read',
  quota: 24_000,
  remaining: 23_990,
  resetsIn: 12,
  exceeded: false,
})

/** The keys that `readIdempotencyKey` accepts. */
const keyPattern = '^("[ !#-~]{1,255}"|[!#-~][ !#-~]{0,254})$'

const buildStringValue = (example: string, keywords: Schema = {}) => ({
  schema: { type: 'string', ...keywords },
  example,
})

const requestHeader = (name: string, description: string, value: object, required = false) => ({
  name,
  in: 'header',
  description,
  ...(required && { required }),
  ...value,
})

const anyString = { schema: { type: 'string' } }

/**
 * Request headers, as shared parameters. Headers that change the effect of a write have no example: tools send examples without asking.
 */
export const headerParameters = {
  ServiceName: requestHeader(
    'X-Service-Name',
    'The name of the service that the request is for. The account must have access to it.',
    buildStringValue('luma', { minLength: 1 }),
    true,
  ),
  IfNoneMatch: requestHeader(
    'If-None-Match',
    'The `ETag` of a previous response. If the data has not changed, the response is 304 without a body.',
    buildStringValue(exampleTag),
  ),
  IfMatch: requestHeader(
    'If-Match',
    'The `ETag` of the record that you read. If the record has changed since, the response is 412. Without this header, fields that the body does not mention are still kept.',
    anyString,
  ),
  IdempotencyKey: requestHeader(
    'Idempotency-Key',
    'A unique key for this write, so that you can retry it safely. Within 24 hours, the same request with the same key takes effect once and returns the first response. 1 to 255 printable ASCII characters, with or without quotes.',
    { schema: { type: 'string', pattern: keyPattern } },
  ),
  Prefer: requestHeader(
    'Prefer',
    '`handling=strict` (RFC 7240): if the back office does not support the request, return an error instead of an empty list with a warning.',
    anyString,
  ),
  DryRun: requestHeader(
    'Prefer',
    '`tx=rollback` (dry run): validate and compute the write without saving anything, in Tillbridge or in the back office. Generated fields are null in the response.',
    anyString,
  ),
}

const buildResponseHeader = (description: string, value: object, required = false) => ({
  description,
  ...(required && { required }),
  ...value,
})
const rateLimitNote = 'Absent if the limit is off, and in errors before the request is counted.'

const constantHeaderReasons: Record<keyof typeof defaultHeaders, string> = {
  'cache-control': 'Responses belong to one caller, so shared caches must not store them.',
  'x-content-type-options': 'Browsers must not guess another content type.',
  'strict-transport-security': 'Browsers must use HTTPS from now on.',
}

const constantHeaders = Object.entries(defaultHeaders).map(([name, value]) => {
  const wireName = name.replace(/(^|-)[a-z]/g, letter => letter.toUpperCase())
  const reason = constantHeaderReasons[name as keyof typeof defaultHeaders]
  return [wireName, buildResponseHeader(reason, buildStringValue(value, { const: value }), true)] as const
})

const seconds = { schema: { type: 'integer', minimum: 0 }, example: 2 }

/** Headers of every response. The document describes them once. */
export const commonResponseHeaders = {
  'X-Request-Id': buildResponseHeader(
    'The ID of this request: yours, or a generated one.',
    buildStringValue(exampleRequestId),
    true,
  ),
  'RateLimit-Policy': buildResponseHeader(
    `The limit: its name, the number of requests (\`q\`) and the window in seconds (\`w\`). ${rateLimitNote}`,
    buildStringValue(exampleRateLimit['ratelimit-policy'], { pattern: '^"(read|write)";q=\\d+;w=\\d+$' }),
  ),
  RateLimit: buildResponseHeader(
    `The remaining requests (\`r\`) and the seconds until the window ends (\`t\`). ${rateLimitNote}`,
    buildStringValue(exampleRateLimit.ratelimit, { pattern: '^"(read|write)";r=\\d+;t=\\d+$' }),
  ),
  ...Object.fromEntries<(typeof constantHeaders)[number][1]>(constantHeaders),
}

const contentEncoding = buildResponseHeader(
  'The compression, if `Accept-Encoding` requests one.',
  buildStringValue('zstd', { enum: ['zstd', 'gzip'] }),
)

/** Headers of every bulk export. The document describes them once. */
export const exportHeaders = {
  'Content-Encoding': contentEncoding,
  'X-As-Of': buildResponseHeader(
    'The instant up to which the list contains changes, like `meta.asOf` of a page.',
    buildStringValue('2026-11-21T09:31:27.803870Z', { format: 'date-time' }),
  ),
  'X-Time-Zone': buildResponseHeader(
    'The time zone of the local times in the records.',
    buildStringValue('Australia/Melbourne'),
  ),
  'X-Synced-At': buildResponseHeader(
    'When the list was last synced, like `meta.syncedAt` of a page.',
    buildStringValue('2026-11-21T09:30:04Z', { format: 'date-time' }),
  ),
  'X-Warnings': buildResponseHeader(
    'The warnings of the list, like `meta.warnings` of a page, as ASCII-only JSON.',
    buildStringValue('[{"code":"capability_unavailable","detail":"It needs back-office version 2022.1."}]'),
  ),
  'X-End-Cursor': buildResponseHeader(
    'Exports of changes only: the `after_cursor` for the changes after this export.',
    buildStringValue('mM3Zr0ZbXq0c5nYl2V7f1lsxNzk1MzM3NDg3ODAzODcwXQ'),
  ),
}

/** Headers of the responses to writes. The document describes them once. */
const writeHeaders = {
  'Idempotent-Replayed': buildResponseHeader(
    '`true` if this is the stored response of an earlier request with the same key. Absent otherwise.',
    buildStringValue('true', { const: 'true' }),
  ),
  'Preference-Applied': buildResponseHeader(
    'This is the response of a dry run: nothing was saved. Absent otherwise.',
    buildStringValue('tx=rollback', { const: 'tx=rollback' }),
  ),
}

const withoutDescription = (headers: Record<string, ReturnType<typeof buildResponseHeader>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, { description: _, ...header }]) => [name, header]))

/** The headers that the document has once. The tables of its introduction describe the headers of every response and of bulk exports. */
export const sharedResponseHeaders = {
  everyResponse: withoutDescription(commonResponseHeaders),
  write: writeHeaders,
  bulkExport: withoutDescription(exportHeaders),
}

/** Response headers with varying values, by name. A suffix after a dot distinguishes variants of a header. */
export const responseHeaders = {
  ETag: buildResponseHeader(
    'The version of the record. Send it in `If-None-Match` or `If-Match`.',
    // Weak in the 304 of a poll.
    buildStringValue(exampleTag, { pattern: '^(W/)?"[\\w-]+"$' }),
    true,
  ),
  'ETag.poll': buildResponseHeader(
    'The version of the first page. Only with `updated_after`. Send it in `If-None-Match` to repeat the poll.',
    buildStringValue(`W/${exampleTag}`, { pattern: '^W/"[\\w-]+"$' }),
  ),
  Location: buildResponseHeader('The path of the created record.', buildStringValue('/customers/65432'), true),
  'WWW-Authenticate': buildResponseHeader(
    'The authentication scheme. Only in a 401.',
    buildStringValue('Basic realm="Tillbridge", charset="UTF-8"'),
  ),
  'Content-Security-Policy': buildResponseHeader(
    'The page can load files from Tillbridge only.',
    buildStringValue(pageSecurityHeaders['content-security-policy']),
    true,
  ),
  'Referrer-Policy': buildResponseHeader(
    'The browser must not send the address of this page to other sites.',
    buildStringValue(pageSecurityHeaders['referrer-policy']),
    true,
  ),
  Vary: buildResponseHeader('The response depends on this request header.', buildStringValue('accept-encoding'), true),
  'Content-Encoding': contentEncoding,
  'X-Accel-Buffering': buildResponseHeader(
    'nginx must pass events on without buffering.',
    buildStringValue('no', { const: 'no' }),
    true,
  ),
  'Retry-After': buildResponseHeader('Seconds to wait before the next attempt.', seconds, true),
  'Retry-After.sometimes': buildResponseHeader(
    'Seconds to wait before the next attempt. Absent if waiting does not help.',
    seconds,
  ),
}

export type ResponseHeader = keyof typeof responseHeaders

/** Returns references to the own headers of a response. */
export const referToHeaders = (...names: readonly ResponseHeader[]) =>
  Object.fromEntries(names.map(name => [name.split('.')[0], { $ref: `#/components/headers/${name}` }]))
