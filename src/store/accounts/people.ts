import { type Db, sql } from '../../database/db.ts'
import { buildUsernameSkeleton, isUsername, type Role } from '../../domain/accounts.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { assignRole, loadAssignments, lockAccount, lockRoles, removeRole } from './accounts.ts'

/** Accounts of people, who sign in with an identity provider. The provider sets their roles, and they have no passwords. */

/** Identifies a person permanently: the issuer of the identity provider and the claim `sub`. */
interface Identity {
  issuer: string
  subject: string
}

/** True if the account is a person's, whose roles the identity provider sets. */
export const isPerson = async (db: Db, username: string) =>
  (await db.run(sql`select from account where username = ${username} and identity_issuer is not null`)) > 0

/** Records that the state of a sign-in is used. Returns false if it was used before. Deletes those that are older than `ttlSeconds`. */
export async function markStateUsed(tx: Db, stateHash: Buffer, ttlSeconds: number): Promise<boolean> {
  await tx.run(sql`delete from console_sign_in where completed_at < now() - ${`${2 * ttlSeconds} seconds`}::interval`)
  return (await tx.run(sql`insert into console_sign_in (state_hash) values (${stateHash}) on conflict do nothing`)) > 0
}

/** Returns the username of a person's account. */
export const findPerson = async (tx: Db, { issuer, subject }: Identity) =>
  (
    await tx.row<{ username: string }>(sql`
      select username from account where identity_issuer = ${issuer} and identity_subject = ${subject}`)
  )?.username

/**
 * Returns the username of a person's account, which is created at the first sign-in. Returns undefined if the username is invalid, or looks
 * like the username of another account.
 */
export async function findOrCreatePerson(tx: Db, identity: Identity, username: string): Promise<string | undefined> {
  const existing = await findPerson(tx, identity)
  if (existing !== undefined) return existing
  const skeleton = isUsername(username) ? await buildUsernameSkeleton(username) : undefined
  if (skeleton === undefined) return
  await tx.run(sql`
    insert into account (username, skeleton, identity_issuer, identity_subject)
    values (${username}, ${skeleton}, ${identity.issuer}, ${identity.subject}) on conflict do nothing`)
  // A concurrent sign-in of the same person may have created the account.
  return findPerson(tx, identity)
}

/**
 * Gives an account exactly these roles, by service name. Deletes an account that has none. Returns the services whose role changed, with
 * the previous role, also those that the account has lost.
 */
export async function replaceRoles(
  tx: Db,
  username: string,
  services: readonly Service[],
  roles: ReadonlyMap<string, Role>,
): Promise<Map<Service, Role | undefined>> {
  const current = await loadAssignments(tx, username)
  const changed = services.filter(({ name }) => current.get(name)?.role !== roles.get(name)).sort((a, b) => a.id - b.id)
  for (const service of changed) await lockRoles(tx, service)
  await lockAccount(tx, username)
  for (const service of changed) {
    const role = roles.get(service.name)
    if (role) await assignRole(tx, username, service, role)
  }
  // After the assignments, because the account is deleted with the last one.
  for (const service of changed) if (!roles.has(service.name)) await removeRole(tx, username, service)
  return new Map(changed.map(service => [service, current.get(service.name)?.role]))
}

/** Deletes the account of a person who has no role any more. */
export const deletePersonWithoutRoles = (tx: Db, username: string) =>
  tx.run(sql`
    delete from account a where username = ${username} and identity_issuer is not null
       and not exists (select from account_service s where s.username = a.username)`)
