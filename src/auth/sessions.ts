import { randomBytes } from 'node:crypto'
import { ttlCache } from '../concurrency/ttl-cache.ts'
import { computeHmac, hashSecret, type Keys, listHashes } from '../crypto/keys.ts'
import { type Db, sql } from '../database/db.ts'
import { authCacheTtlMs } from '../domain/accounts.ts'
import { type Assignments, listPasswordHashes, loadAssignments } from '../store/accounts/accounts.ts'
import { countFailure } from '../store/accounts/failures.ts'
import { failuresAllowed } from './sign-in.ts'

/** A signed-in user of the console with their services. */
export interface SignedIn {
  username: string
  assignments: Assignments
  /** True for the account of a person, who signs in with the identity provider. */
  isPerson: boolean
}

/** Sessions of the console. A session ends after 12 hours, or after one hour without a request. Its token has 256 random bits. */
export interface Sessions {
  /** Opens a session after a correct password. Returns its token, or undefined if the password was revoked at the same time. */
  open(username: string, password: string): Promise<string | undefined>
  /**
   * Opens a session with a link of `createLink`, which can be used once. Returns undefined if the link is invalid, or the seconds to wait after too
   * many invalid links.
   */
  openByLink(link: string, address: string): Promise<string | { retryAfter: number } | undefined>
  /** Opens a session for a person whom the identity provider has identified. Returns undefined if the account was deleted at the same time. */
  openForPerson(username: string): Promise<string | undefined>
  /** Returns the user of a token, at most two seconds old. Returns undefined if the session has ended. */
  read(token: string): Promise<SignedIn | undefined>
  end(token: string): Promise<void>
}

const generateToken = () => randomBytes(32).toString('base64url')
const hashSession = (keys: Keys, token: string) => hashSecret(keys, 'sessions', 'session', token)
const hashLink = (keys: Keys, link: string) => hashSecret(keys, 'sessions', 'link', link)
const listSessionHashes = (keys: Keys, token: string) => listHashes(keys, 'sessions', 'session', token)

/** Seconds for which a link can be used. */
export const linkSeconds = 60

/** Creates the secret of a one-time link to the console. Returns undefined if the account does not exist. */
export async function createLink(db: Db, keys: Keys, username: string): Promise<string | undefined> {
  const link = generateToken()
  await db.run(sql`delete from console_link where made_at < now() - ${`${linkSeconds} seconds`}::interval`)
  const inserted = await db.run(sql`
    insert into console_link (link_hash, username) select ${hashLink(keys, link)}, username from account where username = ${username}`)
  return inserted ? link : undefined
}

/** Counts a failed sign-in of an address. Returns the seconds to wait after too many. */
export async function countAddressFailure(db: Db, keys: Keys, address: string) {
  const subject = computeHmac(keys.subjects, 'password', address)
  const retryAfter = await countFailure(db, [{ subject, allowed: failuresAllowed.address }])
  return retryAfter === undefined ? undefined : { retryAfter }
}

export function createSessions(db: Db, keys: Keys): Sessions {
  const sessions = ttlCache({
    ttlMs: authCacheTtlMs,
    load: hashes =>
      readSession(
        db,
        hashes.split(' ').map(hash => Buffer.from(hash, 'base64url')),
      ),
  })

  /** The cache keeps hashes, not tokens. */
  const cacheKey = (token: string) =>
    listSessionHashes(keys, token)
      .map(hash => hash.toString('base64url'))
      .join(' ')

  const purgeExpired = () => db.run(sql`delete from console_session where begun_at < now() - interval '12 hours'`)

  return {
    async open(username, password) {
      const token = generateToken()
      await purgeExpired()
      const opened = await db.run(sql`
        insert into console_session (token_hash, username, password_hash)
        select ${hashSession(keys, token)}, username, password_hash from account_password
         where username = ${username} and password_hash = any(${listPasswordHashes(keys, username, password)}::bytea[])`)
      return opened ? token : undefined
    },

    async openForPerson(username) {
      const token = generateToken()
      await purgeExpired()
      const opened = await db.run(sql`
        insert into console_session (token_hash, username)
        select ${hashSession(keys, token)}, username from account where username = ${username} and identity_issuer is not null`)
      return opened ? token : undefined
    },

    async openByLink(link, address) {
      const token = generateToken()
      await purgeExpired()
      const opened = await db.run(sql`
        with used as (delete from console_link where link_hash = any(${listHashes(keys, 'sessions', 'link', link)}::bytea[]) returning username, made_at)
        insert into console_session (token_hash, username)
        select ${hashSession(keys, token)}, username from used where made_at >= now() - ${`${linkSeconds} seconds`}::interval`)
      if (opened) return token
      return countAddressFailure(db, keys, address)
    },

    read: token => sessions.get(cacheKey(token)),

    async end(token) {
      await db.run(sql`delete from console_session where token_hash = any(${listSessionHashes(keys, token)}::bytea[])`)
      sessions.delete(cacheKey(token))
    },
  }
}

/** Reads a session and extends it. */
async function readSession(db: Db, tokenHashes: Buffer[]): Promise<SignedIn | undefined> {
  const session = await db.row<{ username: string; isPerson: boolean }>(sql`
    with live as (
      select token_hash, username, seen_at from console_session
       where token_hash = any(${tokenHashes}::bytea[]) and begun_at > now() - interval '12 hours' and seen_at > now() - interval '1 hour'
    ), seen as (
      update console_session s set seen_at = now() from live
       where s.token_hash = live.token_hash and live.seen_at < now() - interval '1 minute'
    )
    select username, identity_issuer is not null as "isPerson" from live join account using (username)`)
  return session && { ...session, assignments: await loadAssignments(db, session.username) }
}
