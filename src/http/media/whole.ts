import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { packer, packingFor } from './packing.ts'

/** A list that is told as a whole (contract 12). */
export interface Whole {
  /** The headers that tell of the walk. */
  headers: Record<string, string>
  /** Its lines, some whole ones in a text; each text is asked for once the one before has been taken. */
  portions: AsyncIterable<string>
}

interface Circumstances {
  /** Throws where the caller would not be admitted any more. */
  stillAdmitted: () => Promise<unknown>
  /** Hears why the list cannot be told to its end. */
  onFault: (fault: Error) => void
}

/** Milliseconds that a client may take for a portion, ours to read it included. */
const patienceMs = 60_000
/** Milliseconds until it is asked again whether the caller is still admitted. */
const trustMs = 2_500

/**
 * Answers with a whole list as NDJSON. Nothing of ours is held while the client reads. What goes wrong by now has no status any more:
 * the answer is cut, so that no client can take what has come for the whole.
 */
export async function sendWhole(
  request: FastifyRequest,
  reply: FastifyReply,
  { headers, portions }: Whole,
  { stillAdmitted, onFault }: Circumstances,
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
    let trusted = performance.now()
    for await (const portion of portions) {
      if (performance.now() - trusted > trustMs) {
        await stillAdmitted()
        trusted = performance.now()
      }
      yield portion
      patience.refresh()
    }
  }
  const source = Readable.from(taken())
  source.once('error', onFault)
  try {
    await pipeline([source, ...(packing ? [packer(packing)] : []), raw])
  } catch {
    // It is cut by now: the client has gone, or the fault has been told.
  } finally {
    clearTimeout(patience)
  }
}
