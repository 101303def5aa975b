import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../shop/clock.ts'

/* Requests and responses below `/_simulator`. */

export type Body = Record<string, unknown>

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(`${JSON.stringify(body, (_, value) => (value instanceof Map ? [...value] : value), 1)}\n`)
}

/** Parses the JSON object of a request. Throws a TypeError or a SyntaxError if the body is anything else. */
export function parseBody(request: IncomingMessage, text: string): Body {
  // A page of another site can post a form, but not JSON.
  if (!/^application\/json\b/.test(String(request.headers['content-type'] ?? '')))
    throw new TypeError('The body must have the content type application/json')
  const body: unknown = JSON.parse(text || '{}')
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new TypeError('The body must be a JSON object')
  return body as Body
}

/** Changes a clock by `{"set":"…Z"}`, `{"freeze":true}` or `{"advance":60}`. Returns its state. */
export function setClock(clock: Clock, body: Body) {
  if (typeof body.set === 'string') clock.set(body.set)
  if (body.freeze === true) clock.freeze()
  else if (typeof body.freeze === 'string') clock.freeze(body.freeze)
  if (typeof body.advance === 'number') clock.advance(body.advance)
  return clock.state()
}
