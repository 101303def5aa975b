import { Type } from '../schemas/schemas.ts'
import { LocalTime, Nullable, Text, Whole, Words } from './values/fields.ts'

/** Roles of an account in a service, from least to most. Each role includes the permissions of the roles before it. */
export const roles = ['visitor', 'maintainer', 'admin'] as const
export type Role = (typeof roles)[number]
export const includesRole = (role: Role, required: Role) => roles.indexOf(role) >= roles.indexOf(required)

/**
 * Milliseconds for which a process may use an account, an assignment or a shard address that it has read. No request that arrives later
 * than this after a revocation is admitted.
 */
export const authCacheTtlMs = 2_000

/** What a username is, in words. A colon would end it in the Authorization header (RFC 7617). */
export const usernameRule = '1 to 100 characters, with at least one letter or digit and no colon'
export const isUsername = (text: string) => /^(?=.*[\p{L}\p{N}])[^\p{Cc}:]{1,100}$/u.test(text)

const username = Type.String({
  description: `The name of the account: ${usernameRule}. It belongs to the whole installation.`,
  maxLength: 100,
  format: 'username',
  examples: ['webshop'],
})
const role = Words('What it may do in this service. Each role may do what the ones before it may.', roles)

const account = {
  username,
  role,
  passwords: Whole('How many passwords are live: after a rotation two.', 1, { minimum: 0 }),
  since: LocalTime('Since when it has this role.', '2026-11-22 09:30:00'),
}

/** An account that is assigned to the service. */
export const Account = Type.Object(account, { $id: 'Account', additionalProperties: false })

/** One in the list: what is told there moves with each use, so that it is no part of what an `ETag` stands for. */
export const ListedAccount = Type.Object(
  {
    ...account,
    lastUsedAt: Nullable(
      LocalTime('When it last asked something of this service, to the minute; null: never.', '2026-11-22 14:05:00'),
    ),
  },
  { $id: 'ListedAccount', additionalProperties: false },
)

/** An account with a password that was just made: the only answer that shows it. */
export const IssuedAccount = Type.Object(
  {
    ...account,
    password: Text(
      'The new password: 256 random bits, shown this once.',
      'nR3v0Q6ZQ1yQm2c8lqf3yq0N0zJ0v3m6i9kq2m8bC1s',
      100,
    ),
    apiKey: Text(
      'What to send after `Authorization: Basic`: the base64 of username and password.',
      'd2Vic2hvcDpuUjN2MFE2WlExeVFtMmM4bHFmM3lxME4wekowdjNtNmk5a3EybThiQzFz',
      1_000,
    ),
  },
  { $id: 'IssuedAccount', additionalProperties: false },
)

export const RevokedAccount = Type.Object({ username }, { $id: 'RevokedAccount', additionalProperties: false })

export const AccountInput = Type.Object({ username, role }, { $id: 'AccountInput', additionalProperties: false })

export const RoleChange = Type.Object({ role }, { $id: 'RoleChange', additionalProperties: false })
