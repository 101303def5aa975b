import { randomBytes, timingSafeEqual } from 'node:crypto'
import { ttlCache } from '../concurrency/ttl-cache.ts'
import { computeHmac, type Keys } from '../crypto/keys.ts'
import { type Db, sql } from '../database/db.ts'
import { authCacheTtlMs } from '../domain/accounts.ts'
import { apiKeyPrefix } from '../domain/api-keys.ts'
import {
  type Assignments,
  hashPassword,
  listPasswordHashes,
  loadAssignments,
  replacePasswordHash,
} from '../store/accounts/accounts.ts'
import { findApiKey, replaceApiKeyHash, type StoredApiKey } from '../store/accounts/api-keys.ts'
import { countFailure } from '../store/accounts/failures.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'

interface Account {
  hashes: Buffer[]
  /** Loaded after the first right password, so that a wrong one costs the same for an unknown account. */
  assignments?: Promise<Assignments>
}

/**
 * Milliseconds after which a stream or a bulk export checks again if its caller is still admitted. The check can use a cached account, so
 * both intervals together must stay below the 5 s within which a revocation takes effect. Longer than the cache, so that each check reads
 * the account again.
 */
export const recheckIntervalMs = authCacheTtlMs + 500

/** Wrong passwords per minute before requests are rejected: for one account from one address, and for one address. */
export const failuresAllowed = { account: 20, address: 200 }

export type SignIn = (
  username: string,
  password: string,
  address: () => string,
) => Promise<Assignments | { retryAfter: number } | undefined>

/**
 * Checks a username and a password or API key. Returns the account's assignments, or only the assignment of the key. Returns undefined if they
 * are wrong, or the seconds to wait after too many wrong ones. A right password is never rejected: it has 256 random bits, so it can't be
 * guessed, and another person's failures must not lock its owner out.
 */
export function createSignIn(db: Db, keys: Keys): SignIn {
  const accounts = ttlCache({ ttlMs: authCacheTtlMs, load: username => readAccount(db, username) })
  const unknownHash = randomBytes(hashPassword(keys, '', '').length)

  const apiKeys = ttlCache({
    ttlMs: authCacheTtlMs,
    load: (usernameAndHashes: string) => {
      const [username = '', ...hashes] = JSON.parse(usernameAndHashes) as string[]
      const possible = hashes.map(hash => Buffer.from(hash, 'base64url'))
      return loadApiKey(db, username, possible)
    },
  })

  /** Replaces a stored hash that an older secret made. Returns the hash of the newest secret for the cache, so that it is replaced only once. */
  function refreshHash(
    replace: typeof replaceApiKeyHash,
    username: string,
    stored: Buffer,
    [current]: readonly Buffer[],
  ): Buffer {
    if (!current || !keys.isNewest || stored.equals(current)) return stored
    void ignoreError(replace(db, username, stored, current), 'a later sign-in replaces the hash')
    return current
  }

  return async (username, password, address) => {
    const startedAt = performance.now()
    const possible = listPasswordHashes(keys, username, password)
    if (password.startsWith(apiKeyPrefix)) {
      const hashes = possible.map(hash => hash.toString('base64url'))
      const apiKey = await apiKeys.get(JSON.stringify([username, ...hashes]))
      if (apiKey) {
        apiKey.hash = refreshHash(replaceApiKeyHash, username, apiKey.hash, possible)
        return apiKey.assignments
      }
    }
    // A cached account may lack a new password, so a password is wrong only if the account that is read now doesn't have it either.
    for (const notBefore of [startedAt - authCacheTtlMs, startedAt]) {
      const account = await accounts.get(username, notBefore)
      let match: { candidate: number; stored: Buffer } | undefined
      // An unknown account takes as many comparisons as a known one.
      for (const hash of possible)
        for (const candidate of [0, 1]) {
          const stored = account?.hashes[candidate] ?? unknownHash
          if (timingSafeEqual(hash, stored)) match = { candidate, stored }
        }
      if (!match || !account) continue
      account.hashes[match.candidate] = refreshHash(replacePasswordHash, username, match.stored, possible)
      account.assignments ??= loadAssignments(db, username)
      account.assignments.catch(() => {
        delete account.assignments
      })
      return account.assignments
    }
    const clientAddress = address()
    const retryAfter = await countFailure(db, [
      { subject: computeHmac(keys.subjects, 'password', username, clientAddress), allowed: failuresAllowed.account },
      { subject: computeHmac(keys.subjects, 'password', clientAddress), allowed: failuresAllowed.address },
    ])
    return retryAfter === undefined ? undefined : { retryAfter }
  }
}

async function readAccount(db: Db, username: string): Promise<Account | undefined> {
  const rows = await db.rows<{ hash: Buffer }>(sql`
    select password_hash as hash from account_password where username = ${username} order by created_at desc limit 2`)
  return rows.length ? { hashes: rows.map(row => row.hash) } : undefined
}

/** Returns the hash of a key, and the assignment of its account to its service. */
async function loadApiKey(db: Db, username: string, hashes: Buffer[]) {
  const key = await findApiKey(db, username, hashes)
  if (!key) return
  const { hash, serviceId, ...apiKey }: StoredApiKey = key
  const assignments: Assignments = new Map(
    [...(await loadAssignments(db, username))].flatMap(([name, assignment]) =>
      assignment.service.id === serviceId ? [[name, { ...assignment, apiKey }]] : [],
    ),
  )
  return { hash, assignments }
}
