import { setTimeout as delay } from 'node:timers/promises'
import { PlatformFailure } from '../../../domain/ecommerce/platform-failure.ts'
import { exchange } from '../../http/exchange.ts'

/** The shared place of a connection's token. One process at a time has the lease to renew it. */
export interface TokenStore {
  read(): Promise<string | undefined>
  leaseRenewal(leaseSeconds: number): Promise<boolean>
  store(token: { token: string; validSeconds: number }): Promise<void>
  endRenewal(): Promise<void>
  /** Deletes a token that was rejected. */
  discard(token: string): Promise<void>
}

export interface Tokens {
  /** Returns a valid token, which is requested if necessary. */
  get(signal: AbortSignal): Promise<string>
  discard(token: string): Promise<void>
}

interface Credentials {
  url: string
  clientId: string
  secret: string
}

const leaseSeconds = 30
const pollIntervalMs = 200
/** A token is renewed this long before it expires, or in the last tenth of its life. */
const earlySeconds = 60

/** Opens the token of a connection, by client credentials. All processes share one token. */
export function openTokens(store: TokenStore, credentials: Credentials): Tokens {
  async function renew(signal: AbortSignal): Promise<string> {
    try {
      const token = await requestToken(credentials, signal)
      await store.store(token)
      return token.token
    } catch (error) {
      await store.endRenewal()
      throw error
    }
  }
  return {
    async get(signal) {
      for (;;) {
        const token = await store.read()
        if (token !== undefined) return token
        if (await store.leaseRenewal(leaseSeconds)) return renew(signal)
        await delay(pollIntervalMs, undefined, { signal })
      }
    },
    discard: token => store.discard(token),
  }
}

async function requestToken({ url, clientId, secret }: Credentials, signal: AbortSignal) {
  const { status, body } = await exchange({
    method: 'POST',
    url: new URL('/admin/oauth/access_token', url),
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: secret,
    }).toString(),
    signal,
  })
  if (status === 429 || status >= 500)
    throw new PlatformFailure('unavailable', `The platform returned status ${status} instead of a token.`)
  const { access_token: token, expires_in: seconds = 86_399 } = body as { access_token?: unknown; expires_in?: number }
  if (status !== 200 || typeof token !== 'string')
    throw new PlatformFailure('denied', 'The platform rejected the client ID or the secret.')
  return { token, validSeconds: seconds - Math.min(earlySeconds, seconds / 10) }
}
