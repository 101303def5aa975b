import { randomBytes } from 'node:crypto'
import { hashSecret, type Keys, listHashes } from '../../crypto/keys.ts'
import { type Db, sql } from '../../database/db.ts'
import { buildUsernameSkeleton, includesRole, type Role } from '../../domain/accounts.ts'
import type { ApiKeyInUse } from '../../domain/api-keys.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type ServiceRow, serviceColumns, toService } from '../tenancy/services.ts'

/** A service that an account is assigned to, with its role. */
export interface Assignment {
  service: Service
  role: Role
  /** True if the header X-Shopper-IP of the account is trusted. */
  trustsShopperIp: boolean
  /** True if the service is moving, so its shard must be read for each request (`readCurrentShard`). */
  isMoving?: true
  /** True if the account has a second factor, so its passwords open only the console. */
  hasSecondFactor?: true
  /** The API key of the request, which limits the role. */
  apiKey?: ApiKeyInUse
}

/** The assignments of an account by service name. */
export type Assignments = ReadonlyMap<string, Assignment>

/** Returns the keyed hash of a password, which is stored instead of it. */
export const hashPassword = (keys: Keys, username: string, password: string) =>
  hashSecret(keys, 'passwords', username, password)

/** Returns all hashes that can be stored for a password, the current one first. */
export const listPasswordHashes = (keys: Keys, username: string, password: string) =>
  listHashes(keys, 'passwords', username, password)

/** Replaces the stored hash of a password by one that was made with the newest secret. */
export const replacePasswordHash = (db: Db, username: string, stored: Buffer, hash: Buffer) =>
  db.run(sql`
    update account_password set password_hash = ${hash} where username = ${username} and password_hash = ${stored}`)

/** Loads the assignments of an account to services that are not being deleted. */
export async function loadAssignments(db: Db, username: string): Promise<Assignments> {
  const rows = await db.rows<
    ServiceRow & Pick<Assignment, 'role' | 'trustsShopperIp'> & { isMoving: boolean; hasSecondFactor: boolean }
  >(sql`
    select ${serviceColumns}, role, trusts_shopper_ip as "trustsShopperIp", exists (select from service_move m where m.service_id = service.service_id) as "isMoving",
           exists (select from second_factor f where f.username = account.username) as "hasSecondFactor"
      from account_service join service using (service_id) join account using (username)
     where username = ${username} and deletion_state is null`)
  return new Map(
    rows.map(({ role, trustsShopperIp, isMoving, hasSecondFactor, ...row }) => [
      row.name,
      {
        service: toService(row),
        role,
        trustsShopperIp,
        ...(isMoving && { isMoving }),
        ...(hasSecondFactor && { hasSecondFactor }),
      },
    ]),
  )
}

/**
 * Creates an account with a role in a service. Returns its password, which must be shown once. Returns undefined if the username is taken,
 * or looks like another one or a reserved one.
 */
export async function createAccount(
  db: Db,
  keys: Keys,
  username: string,
  service: Service,
  role: Role,
  isProgram = false,
): Promise<string | undefined> {
  const skeleton = await buildUsernameSkeleton(username)
  if (skeleton === undefined) return
  if (
    !(await db.run(
      sql`insert into account (username, skeleton) values (${username}, ${skeleton}) on conflict do nothing`,
    ))
  )
    return
  await assignRole(db, username, service, role, isProgram)
  return addPassword(db, keys, username)
}

/** Gives an account a role in a service, or changes the role. `isProgram` is ignored if the account has a role in any service. */
export const assignRole = (db: Db, username: string, service: Service, role: Role, isProgram = false) =>
  db.run(sql`
    insert into account_service (service_id, username, role, is_program)
    select ${service.id}, ${username}, ${role}, coalesce((select bool_or(is_program) from account_service where username = ${username}), ${isProgram})
    on conflict (service_id, username) do update set (role, changed_at) = (excluded.role, excluded.changed_at)
      where account_service.role <> excluded.role`)

/** Creates an account, or assigns an existing one. Returns the password of a new account, which must be shown once. */
export async function addAccount(
  db: Db,
  keys: Keys,
  username: string,
  service: Service,
  role: Role,
  isProgram = false,
): Promise<string | undefined> {
  const password = await createAccount(db, keys, username, service, role, isProgram)
  if (password !== undefined) return password
  if (!(await accountExists(db, username)))
    throw new Error(`The username ${username} can't be used: it looks like another account or a reserved name.`)
  await assignRole(db, username, service, role)
  return
}

/** Adds a password to an account. The newest previous password stays valid. Returns the password, which must be shown once. */
export async function addPassword(db: Db, keys: Keys, username: string): Promise<string> {
  const password = randomBytes(32).toString('base64url')
  await lockAccount(db, username)
  await db.run(
    sql`insert into account_password (username, password_hash, created_at) values (${username}, ${hashPassword(keys, username, password)}, clock_timestamp())`,
  )
  await deletePasswords(db, username, { allBut: 2 })
  return password
}

/** Returns the credentials that follow `Basic` in the Authorization header (RFC 7617). */
export const toApiKey = (username: string, password: string) =>
  Buffer.from(`${username}:${password}`).toString('base64')

/** Sets if the header X-Shopper-IP of an account is trusted. Returns false if the account doesn't exist. */
export const setTrustsShopperIp = async (db: Db, username: string, trusted: boolean) =>
  (await db.run(sql`update account set trusts_shopper_ip = ${trusted} where username = ${username}`)) > 0

const deletePasswords = (db: Db, username: string, { allBut }: { allBut: number }) =>
  db.run(sql`
    delete from account_password where username = ${username}
       and password_hash not in (select password_hash from account_password where username = ${username} order by created_at desc limit ${allBut})`)

/**
 * Deletes all passwords except the newest one, and the console sessions that they or a link opened. `all` deletes the account. Returns false
 * if the account doesn't exist.
 */
export async function revoke(db: Db, username: string, { all }: { all: boolean }): Promise<boolean> {
  if (all) return (await db.run(sql`delete from account where username = ${username}`)) > 0
  await deletePasswords(db, username, { allBut: 1 })
  await db.run(sql`delete from console_session where username = ${username} and password_hash is null`)
  return accountExists(db, username)
}

/** Removes the role of an account in a service. Deletes the account if it has no role in another service. */
export async function removeRole(tx: Db, username: string, service: Service) {
  await tx.run(sql`delete from account_service where service_id = ${service.id} and username = ${username}`)
  await tx.run(sql`
    delete from account where username = ${username} and not exists (select from account_service where username = ${username})`)
}

/** Locks an account until the transaction ends, so that its assignments and passwords don't change. */
export const lockAccount = (tx: Db, username: string) =>
  tx.run(sql`select from account where username = ${username} for update`)

/** Locks the roles of a service, so that concurrent changes run one after another. Must be called before `lockAccount`. */
export const lockRoles = (tx: Db, service: Service) =>
  tx.run(sql`select from service where service_id = ${service.id} for no key update`)

/** True if the account is the only admin of the service. */
export async function isLastAdmin(tx: Db, username: string, service: Service): Promise<boolean> {
  const admins = await tx.rows<{ username: string }>(sql`
    select username from account_service where service_id = ${service.id} and role = 'admin' order by username = ${username} desc limit 2`)
  return admins.length === 1 && admins[0]?.username === username
}

/** True if an account has at least the role of another one in all its services, so the other's password gives it no further permission. */
export async function includesAllRoles(tx: Db, username: string, otherUsername: string): Promise<boolean> {
  const ownAssignments = await loadAssignments(tx, username)
  return [...(await loadAssignments(tx, otherUsername))].every(([name, { role }]) => {
    const ownAssignment = ownAssignments.get(name)
    return ownAssignment !== undefined && includesRole(ownAssignment.role, role)
  })
}

export const accountExists = async (db: Db, username: string) =>
  (await db.run(sql`select from account where username = ${username}`)) > 0

/** Lists all accounts with their services, roles and number of active passwords. */
export const listAccounts = (db: Db) =>
  db.rows<{
    username: string
    /** `used`: when the account last used the service, RFC 3339. */
    services: { service: string; role: Role; used: string | null }[]
    passwords: number
    trustsShopperIp: boolean
    created: Date
  }>(sql`
    select a.username, a.trusts_shopper_ip as "trustsShopperIp", a.created_at as created,
           (select count(*)::integer from account_password p where p.username = a.username) as passwords,
           (select coalesce(json_agg(json_build_object('service', s.name, 'role', assigned.role, 'used', used_at) order by s.name), '[]')
              from account_service assigned join service s using (service_id) left join account_use using (service_id, username)
             where assigned.username = a.username) as services
      from account a order by a.username`)
