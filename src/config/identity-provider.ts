import { parseRoleMapping, type RoleMapping } from '../domain/role-mapping.ts'
import { InvalidSetting, optional, type Setting, string } from './parsers.ts'

const isLoopback = ({ hostname }: URL) => ['localhost', '127.0.0.1', '[::1]'].includes(hostname)

/** Settings of the sign-in to the console with an identity provider (OpenID Connect). */
export const identityProviderSettings = {
  OIDC_ISSUER: {
    description:
      'The issuer URL of the identity provider with which people sign in to the console, without `/.well-known/…`. If unset, only passwords and one-time links open the console.',
    example: 'https://login.example.com/realms/acme',
    read(value: string | undefined): URL | undefined {
      if (value === undefined) return
      const url = URL.parse(value)
      const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url))
      if (!url || !isAllowed || url.search || url.hash || url.username || url.password)
        throw new InvalidSetting(
          'must be a URL that begins with https://, without a query; http:// is allowed only for localhost',
        )
      return url
    },
  } satisfies Setting<URL | undefined>,
  OIDC_CLIENT_ID: optional('The client ID of Tillbridge at the identity provider.', 'tillbridge'),
  OIDC_CLIENT_SECRET: optional('The secret of that client. If unset, Tillbridge is a public client.', 'secret'),
  OIDC_SCOPES: {
    ...string('The scopes to request, separated by spaces.', 'openid profile email'),
    read(value = 'openid profile email') {
      if (!value.split(' ').includes('openid')) throw new InvalidSetting('must contain openid')
      return value
    },
  } satisfies Setting<string>,
  OIDC_USERNAME_CLAIM: string(
    'The claim that names the account of a person at the first sign-in. The claim `sub` identifies the person.',
    'email',
  ),
  OIDC_ROLES_CLAIM: string(
    'The claim with the groups or roles of a person: a string or a list of strings. Dots separate the names of nested objects.',
    'groups',
    'realm_access.roles',
  ),
  OIDC_ROLES: {
    description:
      'The role for each group, as `group=service:role`, separated by commas. The service `*` stands for all services. A person gets the highest role per service.',
    example: 'till-admins=*:admin,luma-staff=luma:maintainer',
    read(value: string | undefined): RoleMapping | undefined {
      if (value === undefined) return
      const mapping = parseRoleMapping(value)
      if (!mapping)
        throw new InvalidSetting(
          'must be entries such as luma-staff=luma:maintainer, separated by commas, with the roles visitor, maintainer and admin',
        )
      return mapping
    },
  } satisfies Setting<RoleMapping | undefined>,
  OIDC_NAME: string(
    'The name of the identity provider on the sign-in button.',
    'your identity provider',
    'Acme Single Sign-On',
  ),
}

/** Returns one sentence per contradiction between the settings of the identity provider. */
export function findIdentityProviderContradictions(config: {
  oidcIssuer: URL | undefined
  oidcClientId: string | undefined
  oidcClientSecret: string | undefined
  oidcRoles: RoleMapping | undefined
}): string[] {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcRoles } = config
  const required = { OIDC_CLIENT_ID: oidcClientId, OIDC_ROLES: oidcRoles }
  if (!oidcIssuer)
    return Object.entries({ ...required, OIDC_CLIENT_SECRET: oidcClientSecret })
      .filter(([, value]) => value !== undefined)
      .map(([name]) => `${name} can't be set without OIDC_ISSUER.`)
  return Object.entries(required)
    .filter(([, value]) => value === undefined)
    .map(([name]) => `${name} must be set together with OIDC_ISSUER.`)
}
