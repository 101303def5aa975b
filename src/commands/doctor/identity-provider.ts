import { discoverProvider } from '../../auth/identity-provider.ts'
import { getReason } from '../../auth/provider-failures.ts'
import type { Config } from '../../config/config.ts'
import type { Db } from '../../database/db.ts'
import { listAllServices } from '../../store/tenancy/services.ts'
import { Warning } from './database.ts'

const maxClockDifferenceSeconds = 30

/**
 * Reads the identity provider's metadata, and checks its clock, PKCE, the address of the console, and that the services of OIDC_ROLES
 * exist. Throws if people can't sign in.
 */
export async function checkIdentityProvider(config: Config, db: Db): Promise<string> {
  const { oidcIssuer, oidcRoles = [], publicUrl } = config
  if (!oidcIssuer) return 'accounts with passwords (OIDC_ISSUER is not set)'
  let respondedAt: string | null = null
  const provider = await discoverProvider(config, response => {
    respondedAt = response.headers.get('date')
  }).catch((error: unknown) => {
    throw new Error(
      `The metadata at ${oidcIssuer.href.replace(/\/$/, '')}/.well-known/openid-configuration can't be read (${getReason(error)}). Check OIDC_ISSUER: it must be exactly the issuer that the identity provider reports.`,
    )
  })
  const difference = respondedAt === null ? 0 : (Date.parse(respondedAt) - Date.now()) / 1_000
  if (Math.abs(difference) > maxClockDifferenceSeconds)
    throw new Error(
      `The clocks of this machine and of the identity provider differ by ${Math.abs(difference).toFixed(0)} s. Synchronize both by NTP (timedatectl).`,
    )
  const methods = provider.serverMetadata().code_challenge_methods_supported
  if (methods && !methods.includes('S256'))
    throw new Error('The identity provider must support PKCE with S256. Enable it there.')
  const names = (await listAllServices(db)).map(({ name }) => name)
  const unknown = oidcRoles.map(({ service }) => service).filter(service => service !== '*' && !names.includes(service))
  if (unknown.length)
    throw new Warning(
      `OIDC_ROLES names services that don't exist: ${[...new Set(unknown)].join(', ')}. To list them: tillbridge service list`,
    )
  if (publicUrl === undefined)
    throw new Warning(
      'PUBLIC_URL is not set, so people can sign in only on this machine. Set it to the address of the API.',
    )
  return `${oidcIssuer.href}, redirect URI ${publicUrl}/console`
}
