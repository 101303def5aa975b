import { randomBytes, timingSafeEqual } from 'node:crypto'
import { hmac, type Keys } from '../crypto/keys.ts'
import { type Db, sql } from '../database/db.ts'
import { type Assignments, assignmentsOf, passwordHash } from '../store/accounts/accounts.ts'
import { countFailure } from '../store/accounts/failures.ts'

interface Account {
  hashes: Buffer[]
  /** Read once a password was right: a wrong one costs the same for an unknown account. */
  assignments?: Promise<Assignments>
}

/** How long a process may go on with what it read of an account: no request that comes later than this after a revocation is admitted. */
export const trustMs = 2_000
/**
 * Milliseconds until whatever is told for long - a stream, a whole list - asks again whether its caller is still admitted. What it asks
 * may be as old as is trusted: both together stay within the 5 s after which a revocation is in force everywhere. Longer than what is
 * trusted, so that each look reads anew.
 */
export const askAgainMs = trustMs + 500
const mostTrusted = 10_000

/** What is read by names, remembered for a while: whoever asks at once shares it. What could not be read is forgotten. */
export function trusting<T>(read: (name: string) => Promise<T>) {
  const trusted = new Map<string, { found: Promise<T>; readAt: number }>()
  return {
    /** As it was read at `since` or later. */
    read(name: string, since: number): Promise<T> {
      const known = trusted.get(name)
      if (known && known.readAt >= since) return known.found
      if (trusted.size >= mostTrusted) trusted.clear()
      const found = read(name)
      trusted.set(name, { found, readAt: performance.now() })
      // Not what was read since.
      found.catch(() => trusted.get(name)?.found === found && trusted.delete(name))
      return found
    },
    forget: (name: string) => trusted.delete(name),
  }
}

/** Wrong passwords in a minute before an answer is refused: for one account from one address, and for one address. */
export const failuresAllowed = { account: 20, address: 200 }

export type SignIn = (
  username: string,
  password: string,
  address: () => string,
) => Promise<Assignments | { retryAfter: number } | undefined>

/**
 * The check of a username and password: the services they open, undefined where they are wrong, or the seconds to wait where there
 * were too many wrong ones. A right password is never refused: it has 256 random bits, nobody guesses it, and a stranger's
 * failures must not lock its owner out.
 */
export function signIn(db: Db, keys: Keys): SignIn {
  const accounts = trusting(username => readAccount(db, username))
  const nobody = randomBytes(32)

  return async (username, password, address) => {
    const asked = performance.now()
    const hash = passwordHash(keys, username, password)
    // What was read before this request may not know a fresh password yet: only a second look says that it is wrong.
    for (const since of [asked - trustMs, asked]) {
      const account = await accounts.read(username, since)
      let right = false
      // As many comparisons for an unknown account as for a known one.
      for (const candidate of [0, 1]) if (timingSafeEqual(hash, account?.hashes[candidate] ?? nobody)) right = true
      if (!right || !account) continue
      account.assignments ??= assignmentsOf(db, username)
      account.assignments.catch(() => {
        delete account.assignments
      })
      return account.assignments
    }
    const from = address()
    const retryAfter = await countFailure(db, [
      { subject: hmac(keys.subjects, 'password', username, from), allowed: failuresAllowed.account },
      { subject: hmac(keys.subjects, 'password', from), allowed: failuresAllowed.address },
    ])
    return retryAfter === undefined ? undefined : { retryAfter }
  }
}

async function readAccount(db: Db, username: string): Promise<Account | undefined> {
  const rows = await db.rows<{ hash: Buffer }>(sql`
    select password_hash as hash from account_password where username = ${username} order by created_at desc limit 2`)
  return rows.length ? { hashes: rows.map(row => row.hash) } : undefined
}
