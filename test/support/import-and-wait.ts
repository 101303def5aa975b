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

/** Waits until an accepted file is imported. Returns the import (`Import`) and its path. */
export async function waitForImport(caller: Caller, { status, headers, text }: TestResponse) {
  assert.equal(status, 202, text)
  const path = String(headers.location)
  await waitUntil(async () => (await caller.get(path)).json.data.state !== 'running', 'the import ends', 30_000)
  return Object.assign((await caller.get(path)).json.data, { path })
}

/** Uploads a file and waits until it is imported. */
export const importAndWait = async (...upload: Parameters<typeof uploadFile>) =>
  waitForImport(upload[0], await uploadFile(...upload))

/** Returns the `data` of a GET request. */
export const readData = async (caller: Caller, path: string) => (await caller.get(path)).json.data
