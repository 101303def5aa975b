import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { chooseEncoding, createEncoder } from '../negotiation/compression.ts'

/** A complete list in one NDJSON response. */
export interface BulkExport {
  /** Response headers: the members of a page's `meta`. */
  headers: Record<string, string>
  /** Complete lines, several per chunk. The next chunk is read after the client has received the previous one. */
  chunks: AsyncIterable<string>
}

/** Milliseconds for one chunk: reading it from the database and sending it to the client. */
const maxChunkMs = 60_000

/**
 * Sends a bulk export. No connection or lock is kept while the client reads. After the status line has been sent, an error can only
 * interrupt the response, so that no client takes an incomplete list for a complete one.
 */
export async function sendBulkExport(
  request: FastifyRequest,
  reply: FastifyReply,
  { headers, chunks }: BulkExport,
): Promise<void> {
  const { raw } = reply
  const encoding = chooseEncoding(request.headers['accept-encoding']?.toString())
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    ...headers,
    'content-type': 'application/x-ndjson',
    ...(encoding && { 'content-encoding': encoding }),
  })
  if (request.method === 'HEAD') return void raw.end()

  const timer = setTimeout(() => raw.destroy(new Error('client stopped reading the export')), maxChunkMs)
  async function* restartTimer() {
    for await (const chunk of chunks) {
      yield chunk
      timer.refresh()
    }
  }
  try {
    await pipeline([Readable.from(restartTimer()), ...(encoding ? [createEncoder(encoding)] : []), raw])
  } catch {
    // The response is already interrupted: the client disconnected, or reading a chunk failed (logged in `streamWhileAdmitted`).
  } finally {
    clearTimeout(timer)
  }
}
