import { makeLink } from '../../auth/sessions.ts'
import type { Installation } from './installation.ts'

/** The address of the console that signs an account in, once, within 60 seconds. Undefined: there is no such account. */
export async function linkFor(
  { db, keys }: Pick<Installation, 'db' | 'keys'>,
  username: string,
  baseUrl: string,
): Promise<string | undefined> {
  const link = await makeLink(db, keys, username)
  // Behind the `#` it is told to no server, and is in no log of one.
  return link && `${baseUrl}/console#link=${link}`
}
