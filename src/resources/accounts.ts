import { requireLocalAccount } from '../auth/require-local-account.ts'
import type { Db } from '../database/db.ts'
import { Account, AccountInput, IssuedAccount, ListedAccount, RevokedAccount, RoleChange } from '../domain/accounts.ts'
import { listChanges } from '../domain/audit.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError, notFound, toApiError } from '../errors/api-error.ts'
import { EmptyBody } from '../http/body/body.ts'
import { get, list, post, put } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { findAccountRecord, readAccountPage } from '../store/accounts/account-page.ts'
import {
  addPassword,
  assignRole,
  createAccount,
  includesAllRoles,
  isLastAdmin,
  lockAccount,
  lockRoles,
  removeRole,
  toApiKey,
} from '../store/accounts/accounts.ts'

const [tag, role, kind, inControlDatabase] = ['Accounts', 'admin', 'account', true] as const
const accountParams = { username: { description: 'The account.', example: 'webshop' } }
const buildPath = (username: string) => `/accounts/${encodeURIComponent(username)}`

const createUsernameTakenError = () =>
  toApiError([{ pointer: '/username', code: 'username_taken', detail: 'This username is taken.' }])
const createLastAdminError = () =>
  new ApiError('last_admin', 'The last admin of a service must stay. Give another account the role `admin` first.')

/** Accounts with access to the service. Their access to other services is neither shown nor changed. */
export const accounts = [
  list(
    '/accounts',
    {
      operationId: 'listAccounts',
      tag,
      role,
      inControlDatabase,
      summary: 'List accounts',
      description: 'Each account has its role in this service and the time of its last use. Passwords are never shown.',
      query: Type.Object({
        is_program: Type.Optional(
          Type.Boolean({ description: 'Only programs (true), or only people (false).', examples: [true] }),
        ),
      }),
      item: ListedAccount,
    },
    ({ db, service, query }, page) => readAccountPage(db, service, { isProgram: query.is_program }, page),
  ),

  get(
    '/accounts/:username',
    {
      operationId: 'getAccount',
      tag,
      role,
      inControlDatabase,
      summary: 'Get an account',
      description: 'The account with its role in this service.',
      params: accountParams,
      response: Account,
      recordName: kind,
      etag: true,
    },
    ({ db, service, params }) => findAccountRecord(db, service, params.username),
  ),

  post(
    '/accounts',
    {
      operationId: 'createAccount',
      tag,
      role,
      inControlDatabase,
      keys: 'none',
      summary: 'Create an account',
      description:
        'The password is only in this response. Send `apiKey` after `Authorization: Basic`. Usernames are unique in the installation, so a username that another service uses is 409 too.',
      body: AccountInput,
      generated: ['password', 'apiKey'],
      response: IssuedAccount,
      errors: ['username_taken'],
    },
    ({ keys, service, body: { username, role: newRole, isProgram } }) =>
      async tx => {
        const password = await createAccount(tx, keys, username, service, newRole, isProgram ?? false)
        if (password === undefined) throw createUsernameTakenError()
        return {
          data: await buildIssuedAccount(tx, service, username, password),
          subject: buildPath(username),
          changes: listChanges({}, { role: newRole }),
        }
      },
  ),

  put(
    '/accounts/:username',
    {
      operationId: 'updateAccount',
      tag,
      role,
      inControlDatabase,
      keys: 'none',
      summary: "Change an account's role",
      description: "Takes effect in all processes within 5 seconds. The last admin can't get a lower role.",
      params: accountParams,
      body: RoleChange,
      response: Account,
      etag: true,
      errors: ['account_managed_by_provider', 'last_admin', 'precondition_failed', 'precondition_required'],
    },
    ({ service, params: { username }, body: { role: newRole }, requireMatch }) =>
      async tx => {
        const record = await lockAccountRecord(tx, service, username)
        requireMatch(record)
        await requireLocalAccount(tx, username)
        if (newRole !== 'admin' && (await isLastAdmin(tx, username, service))) throw createLastAdminError()
        await assignRole(tx, username, service, newRole)
        return {
          record: await lockAccountRecord(tx, service, username),
          subject: buildPath(username),
          changes: listChanges({ role: readRole(record) }, { role: newRole }),
        }
      },
  ),

  post(
    '/accounts/:username/rotate',
    {
      operationId: 'rotatePassword',
      tag,
      role,
      inControlDatabase,
      keys: 'none',
      status: 200,
      summary: 'Rotate a password',
      description:
        "The previous password works until the next rotation. You need at least the account's role in each of its services, because its password opens all of them. Otherwise the operator must rotate it.",
      params: accountParams,
      body: EmptyBody,
      generated: ['password', 'apiKey'],
      response: IssuedAccount,
      errors: ['account_managed_by_provider'],
    },
    ({ keys, service, params: { username }, username: caller }) =>
      async tx => {
        await lockAccountRecord(tx, service, username)
        await requireLocalAccount(tx, username)
        if (!(await includesAllRoles(tx, caller, username)))
          throw new ApiError('insufficient_role', "You need at least the account's role in each of its services.")
        const password = await addPassword(tx, keys, username)
        return { data: await buildIssuedAccount(tx, service, username, password), subject: buildPath(username) }
      },
  ),

  post(
    '/accounts/:username/revoke',
    {
      operationId: 'revokeAccount',
      tag,
      role,
      inControlDatabase,
      keys: 'none',
      status: 200,
      summary: 'Revoke an account',
      description:
        "Takes effect in all processes within 5 seconds. The account keeps its other services. If it has none, the account and its passwords are deleted. The last admin can't be revoked.",
      params: accountParams,
      body: EmptyBody,
      response: RevokedAccount,
      errors: ['last_admin'],
    },
    ({ service, params: { username } }) =>
      async tx => {
        const record = await lockAccountRecord(tx, service, username)
        if (await isLastAdmin(tx, username, service)) throw createLastAdminError()
        await removeRole(tx, username, service)
        return {
          data: { username },
          subject: buildPath(username),
          changes: listChanges({ role: readRole(record) }, {}),
        }
      },
  ),
]

const readRole = (record: string) => (JSON.parse(record) as { role: string }).role

/** Locks an account and the roles of the service until the transaction ends. Returns the account's record. Throws a 404 if it has no role. */
export async function lockAccountRecord(tx: Db, service: Service, username: string): Promise<string> {
  await lockRoles(tx, service)
  await lockAccount(tx, username)
  const account = await findAccountRecord(tx, service, username)
  if (!account) throw notFound(kind)
  return account.record
}

/** Locks an account, and returns it with its new password. */
const buildIssuedAccount = async (tx: Db, service: Service, username: string, password: string) => ({
  ...JSON.parse(await lockAccountRecord(tx, service, username)),
  password,
  apiKey: toApiKey(username, password),
})
