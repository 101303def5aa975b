import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ignoreError } from '../../telemetry/ignored-errors.ts'
import { apiErrorOf, logFault } from '../problem.ts'

/** Milliseconds that a client may leave what was written unread. */
const patienceMs = 20_000

interface Event {
  /** Where whoever has it goes on; an event that has nothing else tells only that. */
  id?: string
  event?: string
  /** JSON text. */
  data?: string
}

/** An event as it is written (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export function eventText(fields: Event): string {
  const lines = Object.entries(fields).flatMap(([name, text]) =>
    String(text)
      .split(/\r\n|\r|\n/)
      .map(line => `${name}: ${line}\n`),
  )
  return `${lines.join('')}\n`
}

/** What clients read past: it shows that the connection is alive. */
export const comment = ':\n'

/**
 * Answers with events as they come, each of these texts some whole ones, and asks for the next only once the client has taken what
 * was written. What goes wrong by now has no status any more: it is an event `error`, and the end.
 */
export async function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  texts: AsyncIterable<string>,
  over: AbortSignal,
): Promise<void> {
  const { raw } = reply
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    // Or nginx would keep events until it has many.
    'x-accel-buffering': 'no',
    ...(request.raw.httpVersionMajor === 1 && { connection: 'close' }),
  })
  // What is written to a client that has just gone goes nowhere; its close ends the wait.
  raw.on('error', () => {})
  try {
    if (request.method === 'HEAD') return
    for await (const text of texts) {
      if (over.aborted) break
      if (!raw.write(text)) await drained(raw, over)
    }
  } catch (error) {
    const known = apiErrorOf(error)
    logFault(request, error)
    const data = JSON.stringify({ code: known.code, detail: known.message, requestId: request.id })
    raw.write(eventText({ event: 'error', data }))
  } finally {
    raw.end()
  }
}

/** Waits until the client has taken what was written; who takes too long is dropped. */
async function drained(raw: ServerResponse, over: AbortSignal) {
  const patience = setTimeout(() => raw.destroy(), patienceMs)
  await ignoreError(once(raw, 'drain', { signal: over }), 'stream was closed while it drained')
  clearTimeout(patience)
}
