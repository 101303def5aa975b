import { createLink } from '../../auth/sessions.ts'
import type { Installation } from './installation.ts'

/** Returns a console URL that signs an account in, once, within 60 seconds. Returns undefined if the account doesn't exist. */
export async function createConsoleLink(
  { db, keys }: Pick<Installation, 'db' | 'keys'>,
  username: string,
  baseUrl: string,
): Promise<string | undefined> {
  const link = await createLink(db, keys, username)
  // The fragment after `#` is never sent to a server, so it is in no server log.
  return link && `${baseUrl}/console#link=${link}`
}
