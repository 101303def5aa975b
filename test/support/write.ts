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
