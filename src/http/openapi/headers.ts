import { rateHeaders } from '../limits/rate-limit.ts'
import { standingHeaders } from '../problem.ts'
import { guards } from '../security-headers.ts'
import type { Schema } from './schema.ts'

export const exampleRequestId = '0f8fad5b-d9cb-469f-a165-70867728950e'
const exampleTag = '"c2hvcHMgYXJlIGZ1biEhIQ"'
const exampleRate = rateHeaders({ policy: 'read', quota: 6_000, remaining: 5_990, resetsIn: 12, exceeded: false })

/** As `readIdempotencyKey` takes it. */
const keyForm = '^("[ !#-~]{1,255}"|[!#-~][ !#-~]{0,254})$'

const text = (example: string, keywords: Schema = {}) => ({
  schema: { type: 'string', ...keywords, examples: [example] },
  example,
})

const requestHeader = (name: string, description: string, value: object, required = false) => ({
  name,
  in: 'header',
  description,
  required,
  ...value,
})

/** Headers of requests, as reusable parameters. */
export const headerParameters = {
  ServiceName: requestHeader(
    'X-Service-Name',
    'The service to act on: one of those that the account may use.',
    text('luma', { minLength: 1 }),
    true,
  ),
  RequestId: requestHeader(
    'X-Request-Id',
    'An identifier of your own for this request. It comes back in the answer and stands in the log; without one of 1 to 128 letters, digits, `_`, `.`, `:` and `-` the service makes one.',
    text(exampleRequestId),
  ),
  Traceparent: requestHeader(
    'traceparent',
    'The trace that this request belongs to (W3C Trace Context). What is not well-formed is ignored.',
    text('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'),
  ),
  IfNoneMatch: requestHeader(
    'If-None-Match',
    'The `ETag` of the answer you hold; while it is the newest you get 304 without a body.',
    text(exampleTag),
  ),
  IfMatch: requestHeader(
    'If-Match',
    'The `ETag` of the record that the change was decided on; 412 where it has changed since. Without it a change still keeps the fields that it does not mention.',
    text(exampleTag),
  ),
  IdempotencyKey: requestHeader(
    'Idempotency-Key',
    'Names this very write, so that it can be repeated safely: for 24 hours the same request with the same key is done once, and answered as the first time. 1 to 255 printable ASCII characters, quoted or bare.',
    text('6f1e1c62-5f0c-4a3e-9f2b-0c1b7a0e3d55', { pattern: keyForm }),
  ),
  Prefer: requestHeader(
    'Prefer',
    '`handling=strict` (RFC 7240) asks for an error where the back office cannot answer, instead of an empty list with a warning.',
    text('handling=strict'),
  ),
  Trial: requestHeader(
    'Prefer',
    '`tx=rollback`: all of it is judged and worked out, and nothing is kept or told to the back office. What only a write that is kept makes is null in the answer.',
    text('tx=rollback'),
  ),
}

const answerHeader = (description: string, value: object, required = false) => ({ description, required, ...value })
const limited = 'Absent where the limit is off, and in errors that come before the limit is counted.'

const standingReasons: Record<keyof typeof standingHeaders, string> = {
  'cache-control': 'Answers belong to one caller: nothing in between may keep them.',
  'x-content-type-options': 'The content type is the one that is given.',
  'strict-transport-security': 'Only HTTPS, from now on.',
}

const standing = Object.entries(standingHeaders).map(([name, value]) => {
  const wireName = name.replace(/(^|-)[a-z]/g, letter => letter.toUpperCase())
  const reason = standingReasons[name as keyof typeof standingHeaders]
  return [wireName, answerHeader(reason, text(value, { const: value }), true)] as const
})

const seconds = { schema: { type: 'integer', minimum: 0, examples: [2] }, example: 2 }

/** Headers of answers, beside those that never change, by the name they have on the wire; what follows a dot is ours. */
const ownAnswerHeaders = {
  'X-Request-Id': answerHeader('The identifier of this request: yours, or a new one.', text(exampleRequestId), true),
  'RateLimit-Policy': answerHeader(
    `The limit in force: its name, requests (\`q\`) and seconds (\`w\`). ${limited}`,
    text(exampleRate['ratelimit-policy'], { pattern: '^"(read|write)";q=\\d+;w=\\d+$' }),
  ),
  RateLimit: answerHeader(
    `What is left of it: requests (\`r\`) and seconds until it starts anew (\`t\`). ${limited}`,
    text(exampleRate.ratelimit, { pattern: '^"(read|write)";r=\\d+;t=\\d+$' }),
  ),
  ETag: answerHeader(
    'Names this very answer; send it in `If-None-Match`.',
    text(exampleTag, { pattern: '^"[\\w-]+"$' }),
    true,
  ),
  Location: answerHeader('The path of what was made.', text('/customers/65432'), true),
  'Idempotent-Replayed': answerHeader(
    '`true` where this is the first answer again. Absent in the first one.',
    text('true', { const: 'true' }),
  ),
  'Preference-Applied': answerHeader(
    'The answer is that of a trial: nothing was kept. Absent otherwise.',
    text('tx=rollback', { const: 'tx=rollback' }),
  ),
  'WWW-Authenticate': answerHeader('How to sign in.', text('Basic realm="Tillbridge", charset="UTF-8"'), true),
  'Content-Security-Policy': answerHeader(
    'The page loads nothing that is not from here.',
    text(guards['content-security-policy']),
    true,
  ),
  'Referrer-Policy': answerHeader(
    'The page tells nobody where its reader came from.',
    text(guards['referrer-policy']),
    true,
  ),
  'X-As-Of': answerHeader(
    'Of a whole list: the moment up to which it shows changes, as `meta.asOf` of a page.',
    text('2026-11-21T09:31:27.803870Z', { format: 'date-time' }),
  ),
  'X-Time-Zone': answerHeader(
    'Of a whole list: the zone of the wall-clock times in the records.',
    text('Australia/Melbourne'),
  ),
  'X-Synced-At': answerHeader(
    'Of a whole list: when it was last brought up to date, as `meta.syncedAt` of a page.',
    text('2026-11-21T09:30:04Z', { format: 'date-time' }),
  ),
  'X-Warnings': answerHeader(
    'Of a whole list: its warnings, as `meta.warnings` of a page has them, in JSON of ASCII alone.',
    text('[{"code":"capability_unavailable","detail":"It needs back-office version 2022.1."}]'),
  ),
  'X-End-Cursor': answerHeader(
    'Of all changes as a whole: the `after_cursor` from which to follow on.',
    text('mM3Zr0ZbXq0c5nYl2V7f1lsxNzk1MzM3NDg3ODAzODcwXQ'),
  ),
  'Content-Encoding': answerHeader(
    'Of a whole list: how it is packed, where `Accept-Encoding` asks for it.',
    text('zstd', { enum: ['zstd', 'gzip'] }),
  ),
  'X-Accel-Buffering': answerHeader('Proxies pass events on as they come.', text('no', { const: 'no' }), true),
  'Retry-After': answerHeader('Seconds to wait before trying again.', seconds, true),
  'Retry-After.sometimes': answerHeader('Seconds to wait, where waiting helps.', seconds),
}

export type AnswerHeader = keyof typeof ownAnswerHeaders

export const answerHeaders = { ...Object.fromEntries(standing), ...ownAnswerHeaders }

/** On every answer. */
const always = ['X-Request-Id', ...standing.map(([name]) => name)]
export const rateLimitHeaders = ['RateLimit-Policy', 'RateLimit'] as const satisfies AnswerHeader[]

/** The headers of an answer: those of every answer, and some of its own. */
export const headersOf = (...own: readonly AnswerHeader[]) =>
  Object.fromEntries([...always, ...own].map(name => [name.split('.')[0], { $ref: `#/components/headers/${name}` }]))

/** The headers of an answer that may be a whole list. */
export const wholeHeaders = ({ hasEndCursor }: { hasEndCursor?: boolean }): AnswerHeader[] => [
  ...(['X-As-Of', 'X-Time-Zone', 'Content-Encoding'] as const),
  ...(hasEndCursor ? (['X-End-Cursor'] as const) : (['X-Synced-At', 'X-Warnings'] as const)),
]
