import { randomBytes, timingSafeEqual } from 'node:crypto'
import { type Db, sql } from './db.ts'
import { countFailure } from './failures.ts'
import { hmac, type Keys } from './secrets.ts'
import { defaultSettings, type Service, type Settings } from './settings.ts'

/** A ladder: each role may do what the ones before it may. */
export const roles = ['visitor', 'maintainer', 'admin'] as const
export type Role = (typeof roles)[number]
export const reaches = (role: Role, needed: Role) => roles.indexOf(role) >= roles.indexOf(needed)

/** A service that an account may use, and as what. */
export interface Assignment {
  service: Service
  role: Role
}

type Assignments = ReadonlyMap<string, Assignment>

interface Account {
  hashes: Buffer[]
  /** Read once a password was right: a wrong one costs the same for an unknown account. */
  assignments?: Promise<Assignments>
}

/** How long a process may go on with what it read of an account: a revocation is in force everywhere after this. */
const trustMs = 2_000
const mostTrusted = 10_000

/** Wrong passwords in a minute before an answer is refused: for one account from one address, and for one address. */
const failuresAllowed = { account: 20, address: 200 }

export type SignIn = (
  username: string,
  password: string,
  address: string,
) => Promise<Assignments | { retryAfter: number } | undefined>

/**
 * The check of a username and password: the services they open, undefined where they are wrong, or the seconds to wait where there
 * were too many wrong ones. A right password is never refused: it has 256 random bits, nobody guesses it, and a stranger's
 * failures must not lock its owner out.
 */
export function signIn(db: Db, keys: Keys): SignIn {
  const trusted = new Map<string, { account: Promise<Account | undefined>; readAt: number }>()
  const nobody = randomBytes(32)

  /** The account as it was read at `since` or later. */
  const accountOf = (username: string, since: number) => {
    const known = trusted.get(username)
    if (known && known.readAt >= since) return known.account
    if (trusted.size >= mostTrusted) trusted.clear()
    const account = readAccount(db, username)
    trusted.set(username, { account, readAt: performance.now() })
    account.catch(() => trusted.delete(username))
    return account
  }

  return async (username, password, address) => {
    const asked = performance.now()
    const hash = passwordHash(keys, username, password)
    // What was read before this request may not know a fresh password yet: only a second look says that it is wrong.
    for (const since of [asked - trustMs, asked]) {
      const account = await accountOf(username, since)
      let right = false
      // As many comparisons for an unknown account as for a known one.
      for (const candidate of [0, 1]) if (timingSafeEqual(hash, account?.hashes[candidate] ?? nobody)) right = true
      if (!right || !account) continue
      account.assignments ??= readAssignments(db, username)
      account.assignments.catch(() => trusted.delete(username))
      return account.assignments
    }
    const retryAfter = await countFailure(db, [
      { subject: hmac(keys.subjects, 'password', username, address), allowed: failuresAllowed.account },
      { subject: hmac(keys.subjects, 'password', address), allowed: failuresAllowed.address },
    ])
    return retryAfter === undefined ? undefined : { retryAfter }
  }
}

const passwordHash = (keys: Keys, username: string, password: string) => hmac(keys.passwords, username, password)

async function readAccount(db: Db, username: string): Promise<Account | undefined> {
  const rows = await db.rows<{ hash: Buffer }>(sql`
    select password_hash as hash from account_password where username = ${username} order by created_at desc limit 2`)
  return rows.length ? { hashes: rows.map(row => row.hash) } : undefined
}

async function readAssignments(db: Db, username: string): Promise<Assignments> {
  const rows = await db.rows<ServiceRow & { role: Role }>(sql`
    select service_id as id, name, settings, role from account_service join service using (service_id) where username = ${username}`)
  return new Map(rows.map(({ role, ...row }) => [row.name, { service: serviceFrom(row), role }]))
}

/** Makes an account, or gives an existing one a further service or another role. Returns the password of a new one, to be shown once. */
export async function addAccount(
  db: Db,
  keys: Keys,
  username: string,
  service: Service,
  role: Role,
): Promise<string | undefined> {
  const fresh = await db.run(sql`insert into account (username) values (${username}) on conflict do nothing`)
  await db.run(sql`
    insert into account_service (service_id, username, role) values (${service.id}, ${username}, ${role})
    on conflict (service_id, username) do update set role = excluded.role`)
  return fresh ? addPassword(db, keys, username) : undefined
}

/** A further password for an account; of those before it the newest stays alive. Returns it, to be shown once. */
export async function addPassword(db: Db, keys: Keys, username: string): Promise<string> {
  const password = randomBytes(32).toString('base64url')
  await db.run(
    sql`insert into account_password (username, password_hash, created_at) values (${username}, ${passwordHash(keys, username, password)}, clock_timestamp())`,
  )
  await db.run(sql`
    delete from account_password where username = ${username}
       and password_hash not in (select password_hash from account_password where username = ${username} order by created_at desc limit 2)`)
  return password
}

/** Ends all but the newest password, or with `all` the account itself. Returns whether there was such an account. */
export async function revoke(db: Db, username: string, { all }: { all: boolean }): Promise<boolean> {
  if (all) return (await db.run(sql`delete from account where username = ${username}`)) > 0
  await db.run(sql`
    delete from account_password where username = ${username}
       and password_hash not in (select password_hash from account_password where username = ${username} order by created_at desc limit 1)`)
  return (await db.run(sql`select from account where username = ${username}`)) > 0
}

export const accountExists = async (db: Db, username: string) =>
  (await db.run(sql`select from account where username = ${username}`)) > 0

/** All accounts with their services, roles and number of live passwords. */
export const listAccounts = (db: Db) =>
  db.rows<{ username: string; services: { service: string; role: Role }[]; passwords: number; created: Date }>(sql`
    select a.username, a.created_at as created,
           (select count(*)::integer from account_password p where p.username = a.username) as passwords,
           (select coalesce(json_agg(json_build_object('service', s.name, 'role', s2.role) order by s.name), '[]')
              from account_service s2 join service s using (service_id) where s2.username = a.username) as services
      from account a order by a.username`)

interface ServiceRow {
  id: number
  name: string
  settings: Partial<Settings>
}
const serviceFrom = ({ id, name, settings }: ServiceRow): Service => ({
  id,
  name,
  settings: { ...defaultSettings, ...settings },
})

export async function addService(db: Db, name: string, settings: Partial<Settings> = {}): Promise<Service | undefined> {
  const row = await db.row<ServiceRow>(sql`
    insert into service (name, settings) values (${name}, ${JSON.stringify(settings)}) on conflict do nothing returning service_id as id, name, settings`)
  return row && serviceFrom(row)
}

export const listServices = async (db: Db): Promise<Service[]> =>
  (await db.rows<ServiceRow>(sql`select service_id as id, name, settings from service order by name`)).map(serviceFrom)

export async function readService(db: Db, id: number): Promise<Service | undefined> {
  const row = await db.row<ServiceRow>(
    sql`select service_id as id, name, settings from service where service_id = ${id}`,
  )
  return row && serviceFrom(row)
}
