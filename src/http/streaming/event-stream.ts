import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ignoreError } from '../../telemetry/ignored-errors.ts'
import { logServerError, toPublicError } from '../problem.ts'

/** Milliseconds that a client can leave sent events unread. */
const maxUnreadMs = 20_000

interface Event {
  /** The cursor after this event. An event that has only an `id` moves the cursor of the client. */
  id?: string
  event?: string
  /** JSON text. */
  data?: string
}

/** Formats a server-sent event (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export function formatEvent(fields: Event): string {
  const lines = Object.entries(fields).flatMap(([name, text]) =>
    String(text)
      .split(/\r\n|\r|\n/)
      .map(line => `${name}: ${line}\n`),
  )
  return `${lines.join('')}\n`
}

/** A comment, which clients ignore. It keeps the connection alive. */
export const keepAliveComment = ':\n'

/**
 * Sends events. Each element of `texts` is one or more complete events. The next element is read after the client has received the
 * previous one. After the status line has been sent, an error is reported as the event `error`, which ends the stream.
 */
export async function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  texts: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const { raw } = reply
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    // Without this, nginx buffers events.
    'x-accel-buffering': 'no',
    ...(request.raw.httpVersionMajor === 1 && { connection: 'close' }),
  })
  // A write to a client that has just disconnected fails. The `close` event ends the stream.
  raw.on('error', () => {})
  try {
    if (request.method === 'HEAD') return
    for await (const text of texts) {
      if (signal.aborted) break
      if (!raw.write(text)) await waitForDrain(raw, signal)
    }
  } catch (error) {
    const { code, message } = toPublicError(error)
    logServerError(request, error)
    const data = JSON.stringify({ code, detail: message, requestId: request.id })
    raw.write(formatEvent({ event: 'error', data }))
  } finally {
    raw.end()
  }
}

/** Waits until the client has received what was written. Disconnects a client that takes too long. */
async function waitForDrain(raw: ServerResponse, signal: AbortSignal) {
  const timer = setTimeout(() => raw.destroy(), maxUnreadMs)
  await ignoreError(once(raw, 'drain', { signal }), 'stream was closed while it drained')
  clearTimeout(timer)
}
