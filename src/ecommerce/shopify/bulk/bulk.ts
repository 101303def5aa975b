import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { setTimeout as delay } from 'node:timers/promises'
import { backoff } from '../../../concurrency/backoff.ts'
import { PlatformFailure } from '../../../domain/ecommerce/platform-failure.ts'
import { ignoreError } from '../../../telemetry/ignored-errors.ts'
import type { ShopifyClient } from '../client/client.ts'
import { operations } from '../documents/documents.ts'

interface Started {
  bulkOperationRunQuery: {
    bulkOperation: { id: string } | null
    userErrors: { message: string; code: string | null }[]
  } | null
}

interface Polled {
  bulkOperation: { status: string; errorCode: string | null; objectCount: string; url: string | null } | null
}

/**
 * Runs a bulk query and yields its rows. Throws `PlatformFailure` unless the operation completes and the file has exactly as many rows as
 * it reports. An operation that isn't read to its end is cancelled, because few can run at a time.
 */
export async function* readBulk<Row>(client: ShopifyClient, query: string, signal: AbortSignal): AsyncGenerator<Row> {
  const { bulkOperationRunQuery: started } = await client.send<Started>(operations.startBulk, { query }, signal)
  const [error] = started?.userErrors ?? []
  if (error?.code === 'OPERATION_IN_PROGRESS' || error?.code === 'LIMIT_REACHED')
    throw new PlatformFailure('unavailable', `Too many bulk operations are running: ${error.message}`)
  if (error || !started?.bulkOperation)
    throw new PlatformFailure('invalid', `The bulk operation was rejected: ${error?.message ?? 'no reason'}`)
  const { id } = started.bulkOperation
  let isCompleted = false
  try {
    const { url, count } = await waitUntilCompleted(client, id, signal)
    isCompleted = true
    let rows = 0
    if (url !== null)
      for await (const line of download(url, signal)) {
        rows++
        yield parseRow<Row>(line)
      }
    if (rows !== count) throw new PlatformFailure('invalid', `The bulk result has ${rows} of ${count} rows.`)
  } finally {
    if (!isCompleted)
      await ignoreError(
        client.send(operations.cancelBulk, { id }, AbortSignal.timeout(cancelTimeoutMs)),
        'bulk operation ends on its own',
      )
  }
}

const cancelTimeoutMs = 10_000
const firstPollMs = 250
const maxPollMs = 10_000

async function waitUntilCompleted(client: ShopifyClient, id: string, signal: AbortSignal) {
  const pauses = backoff({ initialMs: firstPollMs, maxMs: maxPollMs })
  for (;;) {
    const { bulkOperation } = await client.send<Polled>(operations.bulk, { id }, signal)
    if (!bulkOperation) throw new PlatformFailure('invalid', 'The bulk operation was not found.')
    const { status, errorCode, objectCount, url } = bulkOperation
    if (status === 'COMPLETED') return { url, count: Number(objectCount) }
    if (status !== 'CREATED' && status !== 'RUNNING')
      throw new PlatformFailure(
        errorCode === 'ACCESS_DENIED' ? 'scope' : 'invalid',
        `The bulk operation ended as ${status}${errorCode === null ? '' : ` (${errorCode})`}.`,
      )
    await delay(pauses.next(), undefined, { signal })
  }
}

/** Yields the lines of a result. The URL is signed, so it gets no token. */
async function* download(url: string, signal: AbortSignal): AsyncGenerator<string> {
  const response = await fetch(url, { signal }).catch((cause: unknown) => {
    signal.throwIfAborted()
    throw new PlatformFailure('unavailable', "The result of the bulk operation can't be downloaded.", { cause })
  })
  if (response.status !== 200 || !response.body) {
    await response.body?.cancel()
    throw new PlatformFailure('unavailable', `The result of the bulk operation has status ${response.status}.`)
  }
  const input = Readable.fromWeb(response.body as ReadableStream)
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }))
      if (line !== '') yield line
    if (input.errored) throw input.errored
  } catch (cause) {
    signal.throwIfAborted()
    throw new PlatformFailure('unavailable', 'The download of the bulk result was interrupted.', { cause })
  } finally {
    input.destroy()
  }
}

function parseRow<Row>(line: string): Row {
  try {
    return JSON.parse(line) as Row
  } catch (cause) {
    throw new PlatformFailure('invalid', 'A row of the bulk result is not JSON.', { cause })
  }
}
