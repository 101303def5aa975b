import { requireLocalAccount } from '../auth/require-local-account.ts'
import { buildApiKeySchemas, maxApiKeys } from '../domain/api-keys.ts'
import { notFound, toApiError } from '../errors/api-error.ts'
import { EmptyBody } from '../http/body/body.ts'
import { del, get, post } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { findAccountRecord } from '../store/accounts/account-page.ts'
import { toApiKey } from '../store/accounts/accounts.ts'
import {
  countApiKeys,
  createApiKey,
  findApiKeyRecord,
  listApiKeyRecords,
  revokeApiKey,
} from '../store/accounts/api-keys.ts'
import { lockAccountRecord } from './accounts.ts'

const [tag, role, inControlDatabase] = ['Accounts', 'admin', true] as const
const accountParams = { username: { description: 'The account.', example: 'webshop' } }
const keyParams = { ...accountParams, name: { description: 'The key.', example: 'web-shop' } }
const path = '/accounts/:username/keys'
const buildPath = (username: string, name: string) => `/accounts/${encodeURIComponent(username)}/keys/${name}`

const createNameTaken = () =>
  toApiError([{ pointer: '/name', code: 'key_name_taken', detail: 'The account has a key with this name.' }])
const createTooMany = () =>
  toApiError([
    { pointer: '/name', code: 'invalid_field', detail: `An account can have at most ${maxApiKeys} keys in a service.` },
  ])

/** API keys of the service's accounts: credentials with some of the permissions of the account's role. */
export function buildApiKeyRoutes(scopes: readonly string[]) {
  const { ApiKey, ApiKeyInput, IssuedApiKey, RevokedApiKey } = buildApiKeySchemas(scopes)
  return [
    get(
      path,
      {
        operationId: 'listApiKeys',
        tag,
        role,
        inControlDatabase,
        summary: "List an account's API keys",
        description: 'The keys of the account in this service, by name, also expired ones.',
        params: accountParams,
        response: Type.Array(ApiKey),
        recordName: 'account',
      },
      async ({ db, service, params: { username } }) => {
        if (!(await findAccountRecord(db, service, username))) return
        const rows = await listApiKeyRecords(db, service, username)
        return { record: `[${rows.map(({ record }) => record).join()}]` }
      },
    ),

    get(
      `${path}/:name`,
      {
        operationId: 'getApiKey',
        tag,
        role,
        inControlDatabase,
        summary: 'Get an API key',
        description: 'The key without its secret.',
        params: keyParams,
        response: ApiKey,
        recordName: 'key',
      },
      ({ db, service, params: { username, name } }) => findApiKeyRecord(db, service, username, name),
    ),

    post(
      path,
      {
        operationId: 'createApiKey',
        tag,
        role,
        inControlDatabase,
        keys: 'none',
        summary: 'Create an API key',
        description:
          "A key works for this service only, at most with the account's role, and can't change accounts. It is only in this response. Send `apiKey` after `Authorization: Basic`.",
        params: accountParams,
        body: ApiKeyInput,
        generated: ['key', 'apiKey'],
        response: IssuedApiKey,
        errors: ['account_managed_by_provider', 'key_name_taken'],
      },
      ({ keys, service, params: { username }, body }) =>
        async tx => {
          await lockAccountRecord(tx, service, username)
          await requireLocalAccount(tx, username)
          if ((await countApiKeys(tx, service, username)) >= maxApiKeys) throw createTooMany()
          const key = await createApiKey(tx, keys, service, { ...body, username })
          const created = await findApiKeyRecord(tx, service, username, body.name)
          if (key === undefined || !created) throw createNameTaken()
          const data = { ...JSON.parse(created.record), key, apiKey: toApiKey(username, key) }
          return { data, subject: buildPath(username, body.name) }
        },
    ),

    del(
      `${path}/:name`,
      {
        operationId: 'revokeApiKey',
        tag,
        role,
        inControlDatabase,
        keys: 'none',
        summary: 'Revoke an API key',
        description: 'Takes effect in all processes within 5 seconds.',
        params: keyParams,
        body: EmptyBody,
        response: RevokedApiKey,
      },
      ({ service, params: { username, name } }) =>
        async tx => {
          await lockAccountRecord(tx, service, username)
          if (!(await revokeApiKey(tx, service, username, name))) throw notFound('key')
          return { data: { name }, subject: buildPath(username, name) }
        },
    ),
  ]
}
