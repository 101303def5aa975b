import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { packer, packingFor } from '../negotiation/compression.ts'

/** A list that is told as a whole (contract 12). */
export interface Whole {
  /** The headers that tell of the walk. */
  headers: Record<string, string>
  /** Its lines, some whole ones in a text; each text is asked for once the one before has been taken. */
  portions: AsyncIterable<string>
}

/** Milliseconds that a client may take for a portion, ours to read it included. */
const patienceMs = 60_000

/**
 * Answers with a whole list as NDJSON. Nothing of ours is held while the client reads. What goes wrong by now has no status any more:
 * the answer is cut, so that no client can take what has come for the whole.
 */
export async function sendWhole(
  request: FastifyRequest,
  reply: FastifyReply,
  { headers, portions }: Whole,
): Promise<void> {
  const { raw } = reply
  const packing = packingFor(request.headers['accept-encoding']?.toString())
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    ...headers,
    'content-type': 'application/x-ndjson',
    ...(packing && { 'content-encoding': packing }),
  })
  if (request.method === 'HEAD') return void raw.end()

  const patience = setTimeout(() => raw.destroy(new Error('The client does not read.')), patienceMs)
  async function* taken() {
    for await (const portion of portions) {
      yield portion
      patience.refresh()
    }
  }
  try {
    await pipeline([Readable.from(taken()), ...(packing ? [packer(packing)] : []), raw])
  } catch {
    // It is cut by now: the client has gone, or the portions have.
  } finally {
    clearTimeout(patience)
  }
}
