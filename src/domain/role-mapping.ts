import { includesRole, type Role, roles } from './accounts.ts'

/** Roles that a person gets for a group of the identity provider. */
export type RoleMapping = readonly RoleMappingEntry[]

interface RoleMappingEntry {
  group: string
  /** The name of a service, or `*` for all. */
  service: string
  role: Role
}

/** Parses `group=service:role` entries, separated by commas. Returns undefined if one is malformed. */
export function parseRoleMapping(text: string): RoleMapping | undefined {
  const entries = text.split(',').map(parseEntry)
  return entries.every(entry => entry !== undefined) ? entries : undefined
}

function parseEntry(text: string): RoleMappingEntry | undefined {
  // A group can contain `=`, such as an LDAP name. Services and roles can't.
  const equals = text.lastIndexOf('=')
  const [service = '', roleName, ...more] = text.slice(equals + 1).split(':')
  const group = text.slice(0, equals).trim()
  const role = roles.find(name => name === roleName?.trim())
  if (equals < 0 || !group || !service.trim() || !role || more.length) return
  return { group, service: service.trim(), role }
}

/**
 * Returns the highest role of a person in each service. `unknownServices` are those that the mapping names for the person's groups, but that
 * don't exist.
 */
export function mapRoles(mapping: RoleMapping, groups: readonly string[], services: readonly string[]) {
  const assigned = new Map<string, Role>()
  const unknownServices = new Set<string>()
  for (const { group, service, role } of mapping) {
    if (!groups.includes(group)) continue
    if (service !== '*' && !services.includes(service)) unknownServices.add(service)
    for (const name of services) {
      if (service !== '*' && service !== name) continue
      const current = assigned.get(name)
      if (!current || includesRole(role, current)) assigned.set(name, role)
    }
  }
  return { assigned, unknownServices: [...unknownServices] }
}

/** Returns the strings of a claim: one string, or a list of them. The name is literal, or a path such as `realm_access.roles`. */
export function readClaim(claims: Readonly<Record<string, unknown>>, name: string): string[] {
  const value = Object.hasOwn(claims, name) ? claims[name] : followPath(claims, name.split('.'))
  const values: unknown[] = Array.isArray(value) ? value : [value]
  return values.filter(item => typeof item === 'string')
}

const followPath = (claims: unknown, [name, ...path]: string[]): unknown =>
  name === undefined
    ? claims
    : typeof claims === 'object' && claims !== null && Object.hasOwn(claims, name)
      ? followPath((claims as Record<string, unknown>)[name], path)
      : undefined
