import assert from 'node:assert/strict'
import type { Role } from '../../src/domain/accounts.ts'
import { toApiKey } from '../../src/store/accounts/accounts.ts'
import type { Caller, TestApi } from './service.ts'
import { post } from './write.ts'

let accountCount = 0
/** Returns a username that no other test uses. */
export const newUsername = () => `colleague${++accountCount}`

/** Creates an account over the API. Returns its credentials. */
export async function createAccount(admin: Caller, role: Role, username = newUsername()) {
  const response = await post(admin, '/accounts', { username, role })
  assert.equal(response.status, 201, response.text)
  return response.json.data as { username: string; password: string; apiKey: string }
}

/** Returns the status of a request with these credentials, by default to `/stores`. */
export const getStatusWithPassword = async (
  { sendRaw }: TestApi,
  { service }: Pick<Caller, 'service'>,
  { username, password }: { username: string; password: string },
  path = '/stores',
) =>
  (
    await sendRaw(path, {
      headers: { authorization: `Basic ${toApiKey(username, password)}`, 'x-service-name': service.name },
    })
  ).status
