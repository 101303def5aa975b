import { createHmac, randomBytes } from 'node:crypto'

/** Secrets of Standard Webhooks 1.0.0: this, and base64 of the key. */
const prefix = 'whsec_'

/** A secret of 256 random bits. */
export const newSecret = () => `${prefix}${randomBytes(32).toString('base64')}`

/** Describes the required form of a secret. */
export const secretRule = `${prefix} and the base64 of 24 to 64 bytes`

export function isSecret(text: string): boolean {
  const [, base64 = ''] = new RegExp(`^${prefix}([^=]*)={0,2}$`).exec(text) ?? []
  const key = Buffer.from(base64, 'base64')
  // Buffer ignores invalid base64.
  const isWhole = key.toString('base64').replace(/=+$/, '') === base64
  return isWhole && key.length >= 24 && key.length <= 64
}

/** The signed content: the ID, the timestamp, and the exact body. */
export interface Signed {
  id: string
  /** Seconds since 1970. */
  timestamp: number
  body: string
}

/** The headers of a delivery (Standard Webhooks 1.0.0): a signature for each secret, so that a receiver may know either. */
export function signHeaders(secrets: readonly string[], { id, timestamp, body }: Signed): Record<string, string> {
  const signatures = secrets.map(secret => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signatures.join(' ') }
}
