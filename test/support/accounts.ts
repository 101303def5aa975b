import assert from 'node:assert/strict'
import type { Role } from '../../src/domain/accounts.ts'
import { apiKeyOf } from '../../src/store/accounts/accounts.ts'
import type { Caller, TestService } from './service.ts'
import { post } from './write.ts'

let made = 0
/** A username that no other test has. */
export const freshUsername = () => `colleague${++made}`

/** Makes an account over the API, and returns what was answered. */
export async function makeAccount(admin: Caller, role: Role, username = freshUsername()) {
  const answer = await post(admin, '/accounts', { username, role })
  assert.equal(answer.status, 201, answer.text)
  return answer.json.data as { username: string; password: string; apiKey: string }
}

/** What a password opens a service with. */
export const statusWith = async (
  { raw }: TestService,
  { service }: Pick<Caller, 'service'>,
  { username, password }: { username: string; password: string },
  path = '/stores',
) =>
  (
    await raw(path, {
      headers: { authorization: `Basic ${apiKeyOf(username, password)}`, 'x-service-name': service.name },
    })
  ).status
