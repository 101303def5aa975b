import type { Database, Db } from '../database/db.ts'
import type { Role } from '../domain/accounts.ts'
import { listChanges } from '../domain/audit.ts'
import { mapRoles, type RoleMapping } from '../domain/role-mapping.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import type { ApiError } from '../errors/api-error.ts'
import {
  deletePersonWithoutRoles,
  findOrCreatePerson,
  findPerson,
  markStateUsed,
  replaceRoles,
} from '../store/accounts/people.ts'
import { addAuditEntry } from '../store/audit/audit.ts'
import { listAllServices } from '../store/tenancy/services.ts'
import { attemptSeconds, type Person } from './identity-provider.ts'
import { signInFailed } from './provider-failures.ts'

/** The operation of a sign-in in the audit log. */
const signInOperation = 'POST /console/session/provider'

/**
 * Sets the roles of a person's account from the person's groups, and records the sign-in in the audit log of each service. Creates the
 * account at the first sign-in, and deletes the account of a person who has no role any more. Returns the username.
 * Throws `sign_in_failed`.
 */
export async function signInPerson(
  db: Database,
  person: Person,
  mapping: RoleMapping,
  requestId: string,
): Promise<string> {
  // An error is returned from the transaction and thrown after it, so that a withdrawal of roles is committed.
  const username = await db.transaction(async tx => {
    if (!(await markStateUsed(tx, person.stateHash, attemptSeconds)))
      return signInFailed('This sign-in was already completed. Sign in again.')
    const services = await listAllServices(tx)
    const { assigned, unknownServices } = mapRoles(
      mapping,
      person.groups,
      services.map(({ name }) => name),
    )
    const account = assigned.size ? await findOrCreatePerson(tx, person, person.username) : await findPerson(tx, person)
    if (account !== undefined) await assignRoles(tx, account, services, assigned, requestId)
    if (!assigned.size) return explainNoRole(unknownServices)
    return account ?? explainUsername(person.username)
  })
  if (typeof username !== 'string') throw username
  return username
}

async function assignRoles(
  tx: Db,
  username: string,
  services: readonly Service[],
  assigned: ReadonlyMap<string, Role>,
  requestId: string,
) {
  const changed = await replaceRoles(tx, username, services, assigned)
  for (const service of services) {
    const hasChanged = changed.has(service)
    const role = assigned.get(service.name) ?? null
    if (!hasChanged && !assigned.has(service.name)) continue
    await addAuditEntry(tx, service, {
      username,
      requestId,
      operation: signInOperation,
      subject: `/accounts/${encodeURIComponent(username)}`,
      body: hasChanged ? { role } : {},
      ...(hasChanged && { changes: listChanges({ role: changed.get(service) }, { role }) }),
    })
  }
  await deletePersonWithoutRoles(tx, username)
}

const explainNoRole = (unknownServices: readonly string[]): ApiError =>
  signInFailed(
    unknownServices.length
      ? `Your groups have a role in ${unknownServices.join(', ')}, but no such service exists. The operator must correct OIDC_ROLES, or create the service.`
      : 'None of your groups at the identity provider has a role in Tillbridge. Ask the operator to add one of them to OIDC_ROLES, or ask for another group.',
  )

const explainUsername = (username: string): ApiError =>
  signInFailed(
    `The account ${JSON.stringify(username.slice(0, 100))} belongs to another person or program, or the name is invalid. The operator must delete that account with \`tillbridge account revoke\`, or set OIDC_USERNAME_CLAIM.`,
  )
