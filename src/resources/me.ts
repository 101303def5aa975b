import { roles } from '../domain/accounts.ts'
import { Count, Instant, LocalDate, Nullable, OneOf, Text } from '../domain/values/fields.ts'
import { get } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { loadAssignments } from '../store/accounts/accounts.ts'
import { listDeprecatedUses } from '../store/accounts/last-used.ts'

const role = OneOf(
  'The role of the account in the service. Each role includes the permissions of the previous roles.',
  roles,
)
const Limit = (countedRequests: string, example: number) =>
  Nullable(
    Type.Integer({
      description: `The ${countedRequests} per minute that each process admits. Null if the limit is off.`,
      examples: [example],
    }),
  )

const Me = Type.Object(
  {
    username: Text('The username of the account.', 'webshop', 100),
    role,
    limits: Type.Object(
      { readsPerMinute: Limit('reads', 24_000), writesPerMinute: Limit('writes', 3_000) },
      { $id: 'AccountLimits', additionalProperties: false },
    ),
    services: Type.Array(
      Type.Object(
        { name: Text('The name of the service, for `X-Service-Name`.', 'luma'), role },
        { $id: 'AssignedService', additionalProperties: false },
      ),
      { description: 'The services that the account can access, by name.' },
    ),
    key: Nullable(
      Type.Object(
        {
          name: Text('The name of the key.', 'web-shop', 50),
          scopes: Nullable(
            Type.Array(Type.String(), { description: 'Its scopes. Null: all.', examples: [['orders:read']] }),
          ),
          stores: Nullable(Type.Array(Type.String(), { description: 'Its stores. Null: all.', examples: [['101']] })),
        },
        { $id: 'KeyInUse', additionalProperties: false, description: 'The API key of the request. Null: a password.' },
      ),
    ),
  },
  { $id: 'Me', additionalProperties: false },
)

const DeprecatedOperation = Type.Object(
  {
    operation: Text('The method and path of the operation.', 'GET /stores/{id}'),
    replacement: Text('The replacement, in Markdown.', '`GET /stores`'),
    deprecatedOn: LocalDate('The day on which the operation was deprecated, in UTC.', '2026-11-21'),
    sunsetOn: Nullable(
      LocalDate('The day on which the operation can be removed, in UTC. Null if it is not decided.', '2027-06-01'),
    ),
    requests: Count('The number of requests.', 12_480),
    lastUsedAt: Instant('When the account last used the operation.'),
  },
  { $id: 'DeprecatedOperation', additionalProperties: false },
)

const toLimit = (limit: number | 'off') => (limit === 'off' ? null : limit)

/** The account of the request. */
export const me = [
  get(
    '/me',
    {
      operationId: 'getMe',
      tag: 'Accounts',
      keys: 'any',
      inControlDatabase: true,
      summary: 'Get your account',
      description: 'The account of the request: its role and limits in this service, and all services it can access.',
      response: Me,
    },
    async ({ db, service, role: ownRole, username, apiKey }) => {
      const { readsPerMinute, writesPerMinute } = service.settings
      const services = [...(await loadAssignments(db, username))]
        .filter(([name]) => !apiKey || name === service.name)
        .map(([name, assignment]) => ({ name, role: assignment.role }))
      return {
        data: {
          username,
          role: ownRole,
          limits: { readsPerMinute: toLimit(readsPerMinute), writesPerMinute: toLimit(writesPerMinute) },
          services: services.sort((a, b) => (a.name < b.name ? -1 : 1)),
          key: apiKey ?? null,
        },
      }
    },
  ),

  get(
    '/me/deprecations',
    {
      operationId: 'listDeprecations',
      tag: 'Accounts',
      keys: 'any',
      inControlDatabase: true,
      summary: 'List deprecated operations that you use',
      description:
        'The deprecated operations that this account has used in this service, with the number of requests. A request appears after 2 seconds.',
      response: Type.Array(DeprecatedOperation),
    },
    async ({ db, service, username, deprecations }) => {
      const uses = await listDeprecatedUses(db, service, username)
      return {
        data: uses.flatMap(({ operation, requests, lastUsedAt }) => {
          const deprecation = deprecations.get(operation)
          if (!deprecation) return []
          const { since, sunset = null, replacement } = deprecation
          const template = operation.replace(/:(\w+)/g, '{$1}')
          return [{ operation: template, replacement, deprecatedOn: since, sunsetOn: sunset, requests, lastUsedAt }]
        }),
      }
    },
  ),
]
