import { randomUUID } from 'node:crypto'
import type { Answer, Caller } from './service.ts'

type Headers = Record<string, string | undefined>

const send =
  (method: 'POST' | 'PUT') =>
  (caller: Pick<Caller, 'request'>, path: string, body: unknown, headers: Headers = {}): Promise<Answer> =>
    caller.request(path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    })

/** Sends a body: a value as JSON, a text or bytes as they are. */
export const post = send('POST')
export const put = send('PUT')

/** The headers of a write that can be repeated: with a key that no other one has. */
export const keyed = () => ({ 'idempotency-key': randomUUID() })
