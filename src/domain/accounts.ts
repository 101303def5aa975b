import { Type } from '../schemas/schemas.ts'
import { Flag, Integer, LocalTime, Nullable, OneOf, Optional, Text } from './values/fields.ts'

/** Roles of an account in a service, from least to most. Each role includes the permissions of the roles before it. */
export const roles = ['visitor', 'maintainer', 'admin'] as const
export type Role = (typeof roles)[number]
export const includesRole = (role: Role, required: Role) => roles.indexOf(role) >= roles.indexOf(required)

/**
 * Milliseconds for which a process may use an account, an assignment or a shard address that it has read. No request that arrives later
 * than this after a revocation is admitted.
 */
export const authCacheTtlMs = 2_000

/** The prefix of the authors that Tillbridge itself has in the audit log, such as `tillbridge (command line)`. */
const reservedPrefix = 'tillbridge'

/** The rule for usernames, for messages. A colon would end the username in the Authorization header (RFC 7617). */
export const usernameRule = `1 to 100 characters in Unicode form NFKC, with at least one letter or digit, without colons, invisible characters or spaces at the ends, not beginning with \`${reservedPrefix}\``

/** True if a text can be the name of an account. Two names that only look different can't both exist: see `buildUsernameSkeleton`. */
export const isUsername = (text: string) =>
  /^(?! )(?=.*[\p{L}\p{N}])[^\p{C}\p{Zl}\p{Zp}:]{1,100}(?<! )$/u.test(text) &&
  text === text.normalize('NFKC') &&
  !text.toLowerCase().startsWith(reservedPrefix)

/**
 * Returns the text that is the same for all names that look alike (Unicode Technical Standard 39, skeleton), also if they differ in case or
 * spaces. Returns undefined if it looks like a reserved name.
 */
export async function buildUsernameSkeleton(name: string): Promise<string | undefined> {
  // Loaded on first use: few processes create accounts.
  const { default: toPrototypes } = await import('unhomoglyph')
  const fold = (text: string) =>
    toPrototypes(text.normalize('NFKC').toLowerCase())
      .normalize('NFD')
      .toLowerCase()
      .replaceAll('i', 'l')
      .replace(/\s+/g, '')
  const skeleton = fold(name)
  return skeleton.startsWith(fold(reservedPrefix)) ? undefined : skeleton
}

const username = Text('The username.', 'webshop', 100)
const roleField = OneOf('The role of the account in this service.', roles)
const roleInput = {
  ...roleField,
  description: 'The role of the account in this service. Each role includes the permissions of the previous roles.',
}

const account = {
  username,
  role: roleField,
  isProgram: Flag('True for a program, such as a web shop. False for a person.', false),
  passwords: Integer('The number of active passwords. After a rotation, there are two.', 1, { minimum: 0 }),
  since: LocalTime('Since when the account has this role.', '2026-11-22 09:30:00'),
}

/** An account that is assigned to the service. */
export const Account = Type.Object(account, { $id: 'Account', additionalProperties: false })

/** An account in a list. `lastUsedAt` changes with each use, so a single account, which has an `ETag`, does not have it. */
export const ListedAccount = Type.Object(
  {
    ...account,
    lastUsedAt: Nullable(
      LocalTime('When the account last used this service, to the minute. Null if never.', '2026-11-22 14:05:00'),
    ),
  },
  { $id: 'ListedAccount', additionalProperties: false },
)

/** An account with its new password. No other response contains it. */
export const IssuedAccount = Type.Object(
  {
    ...account,
    password: Text(
      'The new password, with 256 random bits. It is shown only once.',
      'nR3v0Q6ZQ1yQm2c8lqf3yq0N0zJ0v3m6i9kq2m8bC1s',
      100,
    ),
    apiKey: Text(
      'The value to send after `Authorization: Basic`: the base64 of `username:password`.',
      'd2Vic2hvcDpuUjN2MFE2WlExeVFtMmM4bHFmM3lxME4wekowdjNtNmk5a3EybThiQzFz',
      1_000,
    ),
  },
  { $id: 'IssuedAccount', additionalProperties: false },
)

export const RevokedAccount = Type.Object({ username }, { $id: 'RevokedAccount', additionalProperties: false })

export const AccountInput = Type.Object(
  {
    username: {
      ...username,
      description: `The username: ${usernameRule}. It is unique in the installation, also among names that look alike.`,
      format: 'username',
    },
    role: roleInput,
    isProgram: Optional(Type.Boolean({ description: 'True for a program. Default: a person.', examples: [false] })),
  },
  { $id: 'AccountInput', additionalProperties: false },
)

export const RoleChange = Type.Object({ role: roleInput }, { $id: 'RoleChange', additionalProperties: false })
