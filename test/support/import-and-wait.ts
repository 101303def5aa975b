import assert from 'node:assert/strict'
import { waitUntil } from './processes.ts'
import type { Caller, TestResponse } from './service.ts'

/** Sends a file to import, by default CSV. `type` can be followed by a query: `stock?stop_after=1`. */
export const uploadFile = (
  caller: Caller,
  type: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<TestResponse> =>
  caller.request(`/imports?type=${type.replace('?', '&')}`, {
    method: 'POST',
    headers: Object.assign({ 'content-type': 'text/csv' }, headers),
    body,
  })

/** Waits until a file that was taken is in; the import (`Import`), and its path. */
export async function waitForImport(caller: Caller, { status, headers, text }: TestResponse) {
  assert.equal(status, 202, text)
  const path = String(headers.location)
  await waitUntil(async () => (await caller.get(path)).json.data.state !== 'running', 'it is in', 30_000)
  return Object.assign((await caller.get(path)).json.data, { path })
}

/** Sends a file, and waits until it is in. */
export const importAndWait = async (...sent: Parameters<typeof uploadFile>) =>
  waitForImport(sent[0], await uploadFile(...sent))
