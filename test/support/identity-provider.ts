import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'

/** The part of a Koa context that the tests change. */
interface Context {
  path: string
  status: number
  body: { id_token?: string } & Record<string, unknown>
}

interface Provider {
  use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void
  callback(): Parameters<typeof createServer>[1]
}
// The package has no types.
const { Provider: OidcProvider } = createRequire(import.meta.url)('oidc-provider') as {
  Provider: new (issuer: string, configuration: object) => Provider
}

type Claims = Record<string, unknown>

/** An identity provider on loopback (`oidc-provider`, a certified implementation), with one client and several people. */
export interface TestIdentityProvider {
  issuer: string
  /** `OIDC_…` settings of a server that uses it. Set `OIDC_ROLES` too. */
  environment: Record<string, string>
  /** The claims of each person, by the login that the person enters. `sub` is the login. */
  people: Map<string, Claims>
  /** Changes token responses, as a hostile provider would. */
  tamper?: ((response: Context) => void) | undefined
  /** Signs claims as an ID token, by default with the provider's key. */
  signToken(claims: Claims, key?: KeyObject): string
  /** Stops listening, as an unavailable provider does. */
  stop(): Promise<void>
  /** Listens again on the same port. */
  restart(): Promise<void>
}

export const clientId = 'tillbridge'
const clientSecret = 'a client secret with more than 32 characters'

/** Starts a provider. `getConsoleUrl` returns the only redirect URI of the client. It is called when the first request arrives. */
export async function startIdentityProvider(getConsoleUrl: () => string): Promise<TestIdentityProvider> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'test', alg: 'RS256', use: 'sig' }
  const people = new Map<string, Claims>()

  let handle: ReturnType<Provider['callback']>
  const server = createServer((request, response) => {
    handle ??= build().callback()
    handle?.(request, response)
  })
  const listen = async (on: number) => {
    await once(server.listen(on, '127.0.0.1'), 'listening')
    return (server.address() as AddressInfo).port
  }
  const port = await listen(0)
  const issuer = `http://localhost:${port}`

  function build() {
    const provider = new OidcProvider(issuer, {
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: [getConsoleUrl()],
          post_logout_redirect_uris: [getConsoleUrl()],
        },
      ],
      jwks: { keys: [jwk] },
      cookies: { keys: ['test'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['groups'] },
      pkce: { required: () => true },
      features: { devInteractions: { enabled: true } },
      findAccount: (_: unknown, id: string) =>
        people.has(id) && { accountId: id, claims: () => ({ ...people.get(id), sub: id }) },
    })
    provider.use(async (context, next) => {
      await next()
      if (context.path === '/token') testProvider.tamper?.(context)
    })
    return provider
  }

  const testProvider: TestIdentityProvider = {
    issuer,
    environment: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret, OIDC_NAME: 'Acme' },
    people,
    signToken(claims, key = privateKey) {
      const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
      const content = `${encode({ alg: 'RS256', kid: 'test' })}.${encode(claims)}`
      return `${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`
    },
    async stop() {
      server.closeAllConnections()
      if (server.listening) await new Promise(resolve => server.close(resolve))
    },
    async restart() {
      await listen(port)
    },
  }
  return testProvider
}

/**
 * Signs a person in at the provider, as a browser would: opens the page, submits its forms, and follows redirects. Returns the address to which
 * the provider redirects the browser at the end.
 */
export async function signInAtProvider(url: string, login: string): Promise<URL> {
  const { origin } = new URL(url)
  const cookies = new Map<string, string>()
  let next: { url: string; body?: URLSearchParams } = { url }
  for (let i = 0; i < 12; i++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(next.url, {
      redirect: 'manual',
      headers: { cookie },
      ...(next.body && { method: 'POST', body: next.body }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location !== null) {
      const target = new URL(location, origin)
      if (target.origin !== origin) return target
      next = { url: target.href }
      continue
    }
    const page = await response.text()
    const [, action] = /<form[^>]* action="([^"]+)"/.exec(page) ?? []
    if (action === undefined) throw new Error(`the provider's page has no form: ${page.slice(0, 500)}`)
    const prompt = page.includes('name="login"') ? 'login' : 'consent'
    const body = new URLSearchParams(prompt === 'login' ? { prompt, login, password: 'any' } : { prompt })
    next = { url: new URL(action, origin).href, body }
  }
  throw new Error('the provider did not redirect back')
}
