import { defaultSettings } from '../../domain/tenancy/service-settings.ts'
import { maxBodyBytes } from '../body/body.ts'
import { maxConcurrent } from '../limits/concurrency-limit.ts'
import { maxHeaderBytes, maxHeaders, maxUrlLength } from '../protocol/request-limits.ts'
import { commonResponseHeaders, exportHeaders } from './headers.ts'

const { readsPerMinute, writesPerMinute } = defaultSettings

const describeHeaders = (headers: Record<string, { description: string }>) =>
  Object.entries(headers)
    .map(([name, { description }]) => `| \`${name}\` | ${description} |`)
    .join('\n')

/** Returns the introduction of the OpenAPI document, in Markdown. */
export const buildIntroduction =
  () => `Tillbridge connects an online shop to a retailer's back office: stores, stock, products, customers, sales, orders, rewards and gift vouchers. The API is JSON over HTTPS.

## Authentication

Send two headers with every request:

| Header | Value |
|---|---|
| \`Authorization\` | \`Basic\` and your API key, which is the base64 of \`username:password\`. |
| \`X-Service-Name\` | The name of the service (the retailer) that the request is for. |

An account has a role in each of its services. Each role includes the permissions of the roles before it.

| Role | Permissions |
|---|---|
| \`visitor\` | Read records, lock vouchers and reserve stock. |
| \`maintainer\` | Create and change records. |
| \`admin\` | Read and change settings, accounts and mappings. |

A record of another service returns 404, like a record that doesn't exist.

## Responses

| Topic | Rule |
|---|---|
| One record | \`{ "data": { … } }\` |
| A list | \`{ "data": [ … ], "meta": { … } }\` |
| Missing values | Fields are always present. A field without a value is \`null\`. |
| Amounts | Strings, such as \`"39.95"\`. |
| Times in queries | \`YYYY-MM-DD HH:MM:SS\`, or RFC 3339 with an offset. |
| New fields | A later release can add fields to responses. Ignore fields that you don't know. |
| \`HEAD\` | Supported if \`GET\` is. |
| Unsupported methods | 405 with an \`Allow\` header. |

Some strings have a format of Tillbridge:

| Format | Value |
|---|---|
| \`money\` | An amount with the decimals of its currency. Negative amounts begin with \`-\`. |
| \`unit-price\` | Like \`money\`, with up to four decimals. |
| \`local-time\` | \`YYYY-MM-DD HH:MM:SS\` in the service time zone. |
| \`single-line\` | No control characters, no line breaks, and no characters that change the direction of writing. |

## Headers

These request headers are optional in every operation:

| Request header | Value |
|---|---|
| \`X-Request-Id\` | Your ID for this request: 1 to 128 letters, digits, \`_\`, \`.\`, \`:\` or \`-\`. Otherwise Tillbridge generates one. |
| \`X-Agent\` | The name of the program that acts for the account, such as an AI agent: 1 to 100 printable ASCII characters. The audit log shows it. |
| \`traceparent\` | The trace that this request belongs to (W3C Trace Context). A malformed header is ignored. |

These headers are in every response. \`x-response-headers\` of this document has their schemas.

| Response header | Value |
|---|---|
${describeHeaders(commonResponseHeaders)}

## Lists

A page contains up to 100 records. If \`meta.hasNextPage\` is true, repeat the request with \`after_cursor\` set to \`meta.endCursor\`. Cursors of lists don't expire.

All pages of one list contain the changes up to \`meta.asOf\`. To poll for changes, set \`updated_after\` to the \`asOf\` of the previous list. You then receive every later change, and no record twice within one list.

To receive the changes of all kinds of records, including removals, use one of these:

| Operation | Use it to |
|---|---|
| \`GET /changes\` | Poll. With \`wait\`, the request waits for a change (long polling). |
| \`GET /changes/stream\` | Receive changes as server-sent events. |
| Webhooks | Receive changes at an HTTPS endpoint. |

To download a complete list in one response (bulk export), send \`Accept: application/x-ndjson\`. The response is interrupted if an error occurs, so check that it ended normally. Its headers have the fields of \`meta\`:

| Response header | Value |
|---|---|
${describeHeaders(exportHeaders)}

## Caching

A single record has an \`ETag\`, and so has the first page of a poll. Send it in \`If-None-Match\`. Without changes, the response is 304 without a body.

## Writes

Send \`Content-Type: application/json\` in UTF-8, at most 256 KiB. Types aren't converted: a number in quotes is a string. Unknown and read-only fields are rejected, never ignored.

| Status | Meaning |
|---|---|
| 400 \`invalid_body\` | The body doesn't match the schema. |
| 422 | The body matches the schema but violates a rule. |

In both cases, \`errors\` lists every error of the request, and nothing is changed. Each write is executed completely or not at all.


\`POST\` creates a record: 201 with the path in \`Location\`. \`PUT\` changes the fields in the body and keeps all others. \`null\` clears a field.

### Idempotency

Send a unique \`Idempotency-Key\` with each \`POST\`, such as a UUID. If you receive no response, or 504 \`outcome_unknown\`, send the same request with the same key again. Within 24 hours it takes effect only once.

| Retry | Response |
|---|---|
| The first request has finished | The first response, with \`Idempotent-Replayed: true\`. |
| The first request is still running | 409 with \`Retry-After\`. |
| The first request was rejected (4xx) | The request is executed. Correct it and use the same key. |
| The key belongs to a different request | 422 \`idempotency_key_reused\`. |

### Dry runs

Send \`Prefer: tx=rollback\` with a write to validate and compute it without saving anything. The back office isn't called to change anything. The response is the one that the write would have had, with \`Preference-Applied: tx=rollback\`. Generated identifiers, numbers, PINs and passwords are \`null\`, and \`ETag\` and \`Location\` are absent. A wrong PIN still counts as a failed attempt.

### Concurrent changes

Send the \`ETag\` of a record in \`If-Match\`. If the record has changed since you read it, the response is 412. Without \`If-Match\`, fields that your body doesn't mention are still kept.

### Consent

A subscription is consent to marketing. If \`emailSubscription\` or \`smsSubscription\` is true, \`privacy\` becomes false, and \`meta.warnings\` reports it. Every change of consent is recorded with its time and request.

### Audit

Every write is recorded: account, time, operation, record, and the names of the fields, but not their values. An admin reads the entries at \`GET /audit\`.

## Errors

Errors are \`application/problem+json\` (RFC 9457).

| Member | Use it to |
|---|---|
| \`code\` | Handle the error in your program. |
| \`detail\` | Show the error to people. |
| \`errors\` | See all errors of the request. |
| \`requestId\` | Ask for help. |
| \`type\` | Read what the error means and what to do. |

The response components describe the errors of all operations. 401, 403 and 429 are part of the default response. \`x-error-codes\` of an operation lists its other codes.

## Deprecations

The responses of deprecated operations have these headers:

| Response header | Value |
|---|---|
| \`Deprecation\` | When the operation was deprecated: \`@\` and seconds since 1970 (RFC 9745). |
| \`Sunset\` | When the operation can be removed (RFC 8594). Absent if it isn't decided. |

\`GET /me/deprecations\` lists the deprecated operations that your account uses.

## Limits

| Limit | Value | If exceeded |
|---|---|---|
| Reads per account and minute | ${readsPerMinute.toLocaleString('en')}, changed by the setting \`readsPerMinute\` | 429 \`rate_limited\`. |
| Writes per account and minute | ${writesPerMinute.toLocaleString('en')}, changed by the setting \`writesPerMinute\` | 429 \`rate_limited\`. |
| Open change streams per account | ${maxConcurrent.too_many_streams} | 429 \`too_many_streams\`. |
| Running bulk exports per account | ${maxConcurrent.too_many_exports} | 429 \`too_many_exports\`. |
| Running imports per account | ${maxConcurrent.too_many_imports} | 429 \`too_many_imports\`. |
| Body | ${maxBodyBytes / 1024} KiB | 413 \`body_too_large\`. |
| Headers | ${maxHeaders} headers, ${maxHeaderBytes / 1024} KiB in total | 431 \`headers_too_large\`. |
| URL | ${maxUrlLength / 1024} KiB | 414 \`uri_too_long\`. |
| Concurrent requests per HTTP/2 connection | 100 | Further requests wait. |

The limits per account are counted per process. An installation with several processes can admit more. \`RateLimit-Policy\` and \`RateLimit\` report the limit of the process that sent the response. Wait for \`Retry-After\` seconds after a 429.
`

/** Removes the full stop of a sentence, so that it can be a heading. */
export const toHeading = (sentence: string) => sentence.replace(/\.$/, '')
