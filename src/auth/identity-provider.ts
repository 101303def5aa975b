/**
 * Signs people in to the console with an identity provider.
 * Pattern: OpenID Connect authorization code flow with PKCE, state and nonce (RFC 6749, RFC 7636, RFC 9700).
 * Guarantees: a response of the provider is accepted once, within ten minutes, in the browser that started the sign-in. The ID token's
 * signature, issuer, audience, nonce and times are checked. No token is stored.
 * Start in src/console/identity-provider.ts. Reasons: contributing/decisions/0045.
 */
import type { Configuration } from 'openid-client'
import { memoize } from '../concurrency/ttl-cache.ts'
import { computeHmac, type Keys, seal, unseal } from '../crypto/keys.ts'
import { type RoleMapping, readClaim } from '../domain/role-mapping.ts'
import { explainDiscoveryFailure, explainFailure, signInFailed } from './provider-failures.ts'

/** A person that the identity provider has identified. */
export interface Person {
  /** The issuer and the claim `sub`, which identify the person permanently. */
  issuer: string
  subject: string
  /** The name for the account at the first sign-in. */
  username: string
  groups: string[]
  /** Hash of the sign-in's state, which can be used once. */
  stateHash: Buffer
}

export interface IdentityProvider {
  /** The name on the sign-in button. */
  name: string
  mapping: RoleMapping
  /** Starts a sign-in. Returns the provider's page, and the attempt that the browser must send with the provider's response. */
  start(): Promise<{ url: string; attempt: string }>
  /** Verifies the provider's response, a query string, to an attempt. Throws `sign_in_failed` or `identity_provider_unavailable`. */
  identify(attempt: string | undefined, response: string): Promise<Person>
  /** Returns the page that ends the person's session at the provider. Returns undefined if the provider has none. */
  findSignOutUrl(): Promise<string | undefined>
}

/** Seconds for which a sign-in can be completed. */
export const attemptSeconds = 600
const attemptContext = 'console sign-in'
/** Seconds by which the clocks can differ. */
const clockToleranceSeconds = 30
const timeoutSeconds = 10
const discoveryTtlMs = 3_600_000

interface Attempt {
  state: string
  nonce: string
  codeVerifier: string
  /** Milliseconds since 1970. */
  startedAt: number
}

/** The settings `OIDC_…`. */
interface ProviderSettings {
  oidcIssuer: URL | undefined
  oidcClientId: string | undefined
  oidcClientSecret: string | undefined
  oidcScopes: string
  oidcUsernameClaim: string
  oidcRolesClaim: string
  oidcRoles: RoleMapping | undefined
  oidcName: string
}

// Loaded on first use: most installations have no identity provider.
const load = () => import('openid-client')

/** Reads the provider's metadata. Throws an error of `openid-client` if it is unreachable or invalid. `onResponse` sees each response. */
export async function discoverProvider(
  { oidcIssuer, oidcClientId, oidcClientSecret }: ProviderSettings,
  onResponse: (response: Response) => void = () => {},
) {
  const client = await load()
  if (!oidcIssuer || oidcClientId === undefined) throw new Error('OIDC_ISSUER and OIDC_CLIENT_ID are not set')
  const secret = oidcClientSecret
  const authentication: ReturnType<typeof client.None> = (server, ...parameters) => {
    // Absent means client_secret_basic (OpenID Connect Discovery 1.0, section 3).
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const authenticate =
      secret === undefined
        ? client.None()
        : methods.includes('client_secret_basic')
          ? client.ClientSecretBasic(secret)
          : client.ClientSecretPost(secret)
    return authenticate(server, ...parameters)
  }
  return client.discovery(
    oidcIssuer,
    oidcClientId,
    { [client.clockTolerance]: clockToleranceSeconds },
    authentication,
    {
      timeout: timeoutSeconds,
      [client.customFetch]: async (url, options) => {
        const response = await fetch(url, options as RequestInit)
        onResponse(response)
        return response
      },
      execute: [
        client.enableNonRepudiationChecks,
        // Only for localhost: see OIDC_ISSUER.
        ...(oidcIssuer.protocol === 'http:' ? [client.allowInsecureRequests] : []),
      ],
    },
  )
}

/** Opens the configured identity provider. Returns undefined if none is configured. Sends no request until the first sign-in. */
export function openIdentityProvider(
  config: ProviderSettings,
  keys: Keys,
  getConsoleUrl: () => string,
): IdentityProvider | undefined {
  const { oidcRoles: mapping, oidcName: name } = config
  if (!config.oidcIssuer || !mapping) return
  const discover = memoize(() => discoverProvider(config), discoveryTtlMs)
  const connect = () => discover().catch(explainDiscoveryFailure)

  return {
    name,
    mapping,

    async start() {
      const client = await load()
      const configuration = await connect()
      const [state, nonce, codeVerifier] = [client.randomState(), client.randomNonce(), client.randomPKCECodeVerifier()]
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: getConsoleUrl(),
        scope: config.oidcScopes,
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      })
      const attempt: Attempt = { state, nonce, codeVerifier, startedAt: Date.now() }
      return { url: url.href, attempt: seal(keys, attemptContext, JSON.stringify(attempt)).toString('base64url') }
    },

    async identify(sealedAttempt, response) {
      const client = await load()
      const attempt = openAttempt(keys, sealedAttempt)
      const url = new URL(getConsoleUrl())
      url.search = response
      if (url.searchParams.get('state') !== attempt.state)
        throw signInFailed(
          "The identity provider's response doesn't belong to the sign-in that this browser started last. Sign in again.",
        )
      const configuration = await connect()
      const tokens = await client
        .authorizationCodeGrant(configuration, url, {
          expectedState: attempt.state,
          expectedNonce: attempt.nonce,
          pkceCodeVerifier: attempt.codeVerifier,
          idTokenExpected: true,
        })
        .catch(explainFailure)
      const idToken = tokens.claims()
      if (!idToken) throw new Error('the token response has no ID token')
      const claims = await completeClaims(configuration, idToken, tokens.access_token)
      return {
        issuer: idToken.iss,
        subject: idToken.sub,
        username: readUsername(claims),
        groups: readClaim(claims, config.oidcRolesClaim),
        stateHash: computeHmac(keys.subjects, 'sign-in state', attempt.state),
      }
    },

    async findSignOutUrl() {
      const client = await load()
      const configuration = await connect()
      if (configuration.serverMetadata().end_session_endpoint === undefined) return
      return client.buildEndSessionUrl(configuration, { post_logout_redirect_uri: getConsoleUrl() }).href
    },
  }

  /** Adds the claims of the user info endpoint, if the ID token lacks a claim that is needed. */
  async function completeClaims(
    configuration: Configuration,
    idToken: { sub: string },
    accessToken: string,
  ): Promise<Record<string, unknown>> {
    const isComplete = [config.oidcUsernameClaim, config.oidcRolesClaim].every(
      claim => readClaim({ ...idToken }, claim).length,
    )
    if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return { ...idToken }
    const client = await load()
    const userInfo = await client.fetchUserInfo(configuration, accessToken, idToken.sub).catch(explainFailure)
    return { ...userInfo, ...idToken }
  }

  function readUsername(claims: Record<string, unknown>): string {
    const { oidcUsernameClaim: claim } = config
    const [username] = readClaim(claims, claim)
    if (username === undefined)
      throw signInFailed(
        `The identity provider sent no claim \`${claim}\`. The operator must add the claim at the identity provider, or set OIDC_USERNAME_CLAIM.`,
      )
    if (claim === 'email' && claims.email_verified === false)
      throw signInFailed('Your email address must be verified at the identity provider. Verify it, then sign in again.')
    return username.normalize('NFKC').trim()
  }
}

/** Opens the attempt of a browser. Throws `sign_in_failed` if it is absent, forged or too old. */
function openAttempt(keys: Keys, sealedAttempt: string | undefined): Attempt {
  const attempt = readAttempt(keys, sealedAttempt)
  const age = attempt && Date.now() - attempt.startedAt
  if (!attempt || age === undefined || age > attemptSeconds * 1_000)
    throw signInFailed(
      `This sign-in was already completed, was started more than ${attemptSeconds / 60} minutes ago, or was started in another browser. Sign in again.`,
    )
  return attempt
}

function readAttempt(keys: Keys, sealedAttempt = ''): Attempt | undefined {
  try {
    return JSON.parse(unseal(keys, attemptContext, Buffer.from(sealedAttempt, 'base64url')))
  } catch {
    return
  }
}
