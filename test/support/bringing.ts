import assert from 'node:assert/strict'
import { until } from './processes.ts'
import type { Answer, Caller } from './service.ts'

/** Sends a file to import, by default CSV. `type` can be followed by a query: `stock?stop_after=1`. */
export const sendFile = (
  shop: Caller,
  type: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  shop.request(`/imports?type=${type.replace('?', '&')}`, {
    method: 'POST',
    headers: Object.assign({ 'content-type': 'text/csv' }, headers),
    body,
  })

/** Waits until a file that was taken is in; the import (`Import`), and its path. */
export async function ended(shop: Caller, { status, headers, text }: Answer) {
  assert.equal(status, 202, text)
  const path = String(headers.location)
  await until(async () => (await shop.get(path)).json.data.state !== 'running', 'it is in', 30_000)
  return Object.assign((await shop.get(path)).json.data, { path })
}

/** Sends a file, and waits until it is in. */
export const bring = async (...sent: Parameters<typeof sendFile>) => ended(sent[0], await sendFile(...sent))
