import { readFileSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { ttlCache } from '../../concurrency/ttl-cache.ts'
import { pause } from '../../concurrency/turns.ts'
import { type ErrorCode, errorCodes, notFound } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import type { Static } from '../../schemas/schemas.ts'
import { describeCorrection, readClockCorrection } from '../../store/alerts/database-clock.ts'
import { readCommitWaitSeconds } from '../../store/stats/sync-status.ts'
import { ignoreError } from '../../telemetry/ignored-errors.ts'
import type { AppContext } from '../app-context.ts'
import { acceptsMarkdown } from '../negotiation/accept.ts'
import { buildOpenApiDocument } from '../openapi/openapi.ts'
import { sliceDocument, sliceQuery } from '../openapi/slice.ts'
import type { Operation } from '../routing/operation.ts'
import { parseQuery } from '../routing/query.ts'
import { sendCompressedFile, toCompressedFile } from './compressed-file.ts'
import { redirectTrailingSlash, registerDocsPages } from './docs.ts'
import { buildErrorPageHeaders, renderErrorPage } from './error-page.ts'

const entryRow = /^\| (\d{4}-\d{2}-\d{2}) \| (ADDED|FIXED|BREAKING|ANNOUNCEMENT) \| (.+) \|$/

/** The entries of CHANGELOG.md, newest first. */
export const changelog = readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8')
  .split('\n')
  .flatMap(line => {
    const [, date, category, change] = entryRow.exec(line) ?? []
    return date ? [{ date, category, change }] : []
  })

/** Seconds after which a commit that waits for a synchronous standby shows in `/health/ready`. */
const maxCommitWaitSeconds = 5
const jsonType = 'application/json; charset=utf-8'

interface PublicPageOptions {
  appContext: AppContext
  publicUrl: () => string
  ready: () => boolean
}

/** Registers the pages that need no credentials. None contains a secret or data of a service. */
export function registerPublicPages(
  server: FastifyInstance,
  operations: readonly Operation[],
  { appContext, publicUrl, ready }: PublicPageOptions,
) {
  registerHealthPages(server, { appContext, ready })
  registerOpenApiDocument(server, operations, publicUrl)
  server.get('/changelog', (_, reply) => sendValue(reply, { data: changelog }))
  registerErrorPages(server)
  registerDocsPages(server, publicUrl)
}

const sendValue = (reply: FastifyReply, value: unknown) => reply.type(jsonType).send(JSON.stringify(value))

function registerHealthPages(
  server: FastifyInstance,
  { appContext, ready }: Pick<PublicPageOptions, 'appContext' | 'ready'>,
) {
  server.get('/health/live', (_, reply) => sendValue(reply, { data: { status: 'live' } }))

  server.get('/health/ready', async (_, reply) => {
    // False: the clock needs no correction. Undefined: the database is unreachable.
    const correction = ready()
      ? await ignoreError(
          readClockCorrection(appContext.db).then(reading => reading ?? false),
          'health check failed',
        )
      : undefined
    if (correction === undefined)
      return sendValue(reply.code(503).header('retry-after', '2'), { data: { status: 'not ready' } })
    // Every process waits for the same standby, so a 503 would only end the reads too.
    const commitWaitSeconds = await ignoreError(readCommitWaitSeconds(appContext.db), 'health check failed')
    const writes = (commitWaitSeconds ?? 0) > maxCommitWaitSeconds ? 'waiting' : 'ready'
    const warning = correction ? { warning: describeCorrection(correction) } : {}
    return sendValue(reply, { data: { status: 'ready', writes, ...warning } })
  })
}

function registerOpenApiDocument(
  server: FastifyInstance,
  operations: readonly Operation[],
  publicUrl: PublicPageOptions['publicUrl'],
) {
  // Anyone can request the document, so it and each slice are built once for each URL.
  const documents = ttlCache({
    load: key => {
      const { url, samples } = JSON.parse(key) as { url: string; samples: boolean }
      return buildOpenApiDocument(operations, url, samples)
    },
  })
  const slices = ttlCache({
    async load(key) {
      const { url, ...slice } = JSON.parse(key) as { url: string } & Static<typeof sliceQuery>
      const document = await documents.get(JSON.stringify({ url, samples: slice.samples ?? false }))
      // Many slices can wait for the document.
      await pause()
      return toCompressedFile(jsonType, Buffer.from(JSON.stringify(sliceDocument(document, slice))))
    },
  })
  server.get('/openapi.json', async (request, reply) => {
    const { query: slice, errors } = parseQuery(sliceQuery, request.query as string, 'UTC')
    throwIfAny(errors)
    const { view, tag, samples } = slice
    const file = await slices.get(JSON.stringify({ url: publicUrl(), view, tag, samples }))
    return sendCompressedFile(request, reply, file)
  })
}

function registerErrorPages(server: FastifyInstance) {
  server.get('/errors', { onRequest: redirectTrailingSlash }, (_, reply) => reply.redirect('docs/reference/errors'))
  const errorHeaders = buildErrorPageHeaders()
  server.get<{ Params: { code: string } }>('/errors/:code', { onRequest: redirectTrailingSlash }, (request, reply) => {
    const code = request.params.code.replace(/\.md$/, '')
    if (!Object.hasOwn(errorCodes, code)) throw notFound('error')
    const isMarkdown = code !== request.params.code || acceptsMarkdown(request.headers.accept)
    return reply
      .headers({ ...errorHeaders, vary: 'accept' })
      .type(`text/${isMarkdown ? 'markdown' : 'html'}; charset=utf-8`)
      .send(isMarkdown ? renderErrorMarkdown(code as ErrorCode) : renderErrorPage(code as ErrorCode))
  })
}

/** The next action of a program that received an error, with its meaning. */
const nextActions = {
  fix_request: 'Change the request. The same request will fail again.',
  read_again: 'Read the record again, then decide if the change is still needed.',
  retry: 'Send the same request again.',
  retry_later: 'Wait for `Retry-After` seconds, or as described above, then send the same request again.',
  retry_with_same_key: 'Send the same request again with the same `Idempotency-Key`.',
  ask_admin: 'An admin of the service must act first. Retry after that.',
  ask_operator: 'Retry once. If the error persists, report the `requestId` to the operator.',
} as const
type NextAction = keyof typeof nextActions

const actionsByStatus: Partial<Record<number, NextAction>> = {
  401: 'ask_admin',
  408: 'retry',
  412: 'read_again',
  428: 'read_again',
  429: 'retry_later',
  500: 'ask_operator',
  502: 'ask_operator',
  503: 'retry_later',
  504: 'retry_with_same_key',
}
/** The actions of codes that differ from the actions of their statuses. */
const actionsByCode: Partial<Record<ErrorCode, NextAction>> = {
  service_not_assigned: 'ask_admin',
  insufficient_role: 'ask_admin',
  insufficient_scope: 'ask_admin',
  voucher_not_configured: 'ask_admin',
  mapping_changed: 'read_again',
  invalid_transition: 'read_again',
  quantity_exceeds_returnable: 'read_again',
  voucher_locked: 'retry_later',
  idempotency_in_progress: 'retry_later',
  concurrent_update: 'retry',
}

/** Returns the page of an error as Markdown. Its front matter has the next action of a program. */
function renderErrorMarkdown(code: ErrorCode): string {
  const { status, title, remedy } = errorCodes[code]
  const next = actionsByCode[code] ?? actionsByStatus[status] ?? 'fix_request'
  return `---
code: ${code}
status: ${status}
next: ${next}
---

# ${code}

${status} ${STATUS_CODES[status]}. ${title}

## What to do

${remedy}

\`${next}\`: ${nextActions[next]}
`
}
