import { Type } from '../schemas/schemas.ts'
import { LocalTime, Nullable, OneOf, Optional, Text } from './values/fields.ts'

/** Begins each key, so that secret scanners recognize it. */
export const apiKeyPrefix = 'tbk_'

/** Keys that an account can have in a service. */
export const maxApiKeys = 20

/** The scope that an operation requires from a key. `any`: every key can call it. `none`: only a password can. */
export type RequiredScope = 'any' | 'none' | (string & {})

/** A key that authenticated a request. */
export interface ApiKeyInUse {
  name: string
  /** Null: every scope. */
  scopes: readonly string[] | null
  /** The numbers of the stores that the key is limited to. Null: every store. */
  stores: readonly string[] | null
}

/**
 * The part of a request that names its stores. `free`: the records belong to no store, so a key that is limited to stores can call the
 * operation too. `none`: it can't, because the records can belong to every store.
 */
export type StoreSource = 'path' | 'query' | 'body' | 'free' | 'none'

/** The requirements of an operation on API keys. */
export interface KeyRequirements {
  scope: RequiredScope
  storeSource: StoreSource
}

/** True if a key has the scope of an operation, as far as its account's role permits. */
export const permitsScope = ({ scopes }: Pick<ApiKeyInUse, 'scopes'>, { scope }: Pick<KeyRequirements, 'scope'>) =>
  scope === 'any' || (scope !== 'none' && (scopes === null || scopes.includes(scope)))

/** True if a key can call an operation, at least for some stores. */
export const permitsOperation = (key: ApiKeyInUse, operation: KeyRequirements) =>
  permitsScope(key, operation) && (key.stores === null || operation.storeSource !== 'none')

const name = Text('The name of the key. The audit log shows it.', 'web-shop', 50)

/** Builds the schemas of keys. `scopes`: the scopes of all operations. */
export function buildApiKeySchemas(scopes: readonly string[]) {
  const options = {
    description: 'The groups of operations that the key can call. Null: all groups.',
    examples: [['orders:read', 'orders:write']],
  }
  const storeOptions = {
    description: 'The numbers of the stores that the key is limited to. Null: all stores.',
    examples: [['101']],
  }
  const properties = {
    name,
    scopes: Nullable(Type.Array(Type.String(), options)),
    stores: Nullable(Type.Array(Type.String(), storeOptions)),
    createdAt: LocalTime('When the key was created.', '2026-11-22 09:30:00'),
    expiresAt: Nullable(LocalTime('When the key expires. Null: never.', '2027-02-20 09:30:00')),
    lastUsedAt: Nullable(LocalTime('When the key was last used, to the minute. Null: never.', '2026-11-22 14:05:00')),
  }
  return {
    ApiKey: Type.Object(properties, { $id: 'ApiKey', additionalProperties: false }),
    IssuedApiKey: Type.Object(
      {
        ...properties,
        key: Text(
          'The key, with 256 random bits, to send as the password. It is shown only once.',
          `${apiKeyPrefix}nR3v0Q6ZQ1yQm2c8lqf3yq0N0zJ0v3m6i9kq2m8bC1s`,
          100,
        ),
        apiKey: Text(
          'The value to send after `Authorization: Basic`: the base64 of `username:key`.',
          'd2Vic2hvcDp0YmtfblIzdjBRNlpRMXlRbTJjOGxxZjN5cTBOMHpKMHYzbTZpOWtxMm04YkMxcw==',
          1_000,
        ),
      },
      { $id: 'IssuedApiKey', additionalProperties: false },
    ),
    ApiKeyInput: Type.Object(
      {
        name: {
          ...name,
          description: 'The name of the key, unique in the account: letters, digits, `.`, `_` and `-`.',
          pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
        },
        scopes: Optional(
          Type.Array(OneOf('A tag and `read` or `write`.', scopes), { ...options, minItems: 1, uniqueItems: true }),
        ),
        stores: Optional(
          Type.Array(Text('The number of a store.', '101', 100), {
            ...storeOptions,
            minItems: 1,
            maxItems: 100,
            uniqueItems: true,
          }),
        ),
        expiresInDays: Optional(
          Type.Integer({
            description: 'Days until the key expires. Without it, the key never expires.',
            minimum: 1,
            maximum: 3_650,
            examples: [90],
          }),
        ),
      },
      { $id: 'ApiKeyInput', additionalProperties: false },
    ),
    RevokedApiKey: Type.Object({ name }, { $id: 'RevokedApiKey', additionalProperties: false }),
  }
}
