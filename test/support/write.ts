import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Caller, TestResponse } from './service.ts'

type Headers = Record<string, string | undefined>

const send =
  (method: 'POST' | 'PUT') =>
  (caller: Pick<Caller, 'request'>, path: string, body: unknown, headers: Headers = {}): Promise<TestResponse> =>
    caller.request(path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    })

/** Sends a body. Strings and bytes are sent unchanged, other values as JSON. */
export const post = send('POST')
export const put = send('PUT')

/** Sends a DELETE request. */
export const remove = (caller: Pick<Caller, 'request'>, path: string): Promise<TestResponse> =>
  caller.request(path, { method: 'DELETE' })

/** Returns the idempotency header, by default with a new key. */
export const withKey = (key: string = randomUUID()) => ({ 'idempotency-key': key })

/** Picks the parts of a response that a replay repeats. */
const pickComparable = ({ status, text, headers: { etag, location } }: TestResponse) => ({
  status,
  text,
  etag,
  location,
})

/** Asserts that a response is a replay of the first one. */
export function assertReplay(response: TestResponse, first: TestResponse) {
  assert.equal(response.headers['idempotent-replayed'], 'true')
  assert.deepEqual(pickComparable(response), pickComparable(first))
}

/** Sends a request again while other requests hold its locks, as clients do. */
export async function retryUntilUncontended(request: () => Promise<TestResponse>): Promise<TestResponse> {
  for (;;) {
    const response = await request()
    if (response.json.code !== 'concurrent_update') return response
  }
}

const busyCodes = ['concurrent_update', 'idempotency_in_progress', 'service_unavailable']

/** Sends a write with a key again while the service is busy, as the published clients do. */
export async function retryUntilServed(request: () => Promise<TestResponse>): Promise<TestResponse> {
  for (;;) {
    const response = await request()
    if (!busyCodes.includes(response.json.code)) return response
    await delay(200)
  }
}
