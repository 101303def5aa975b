import { createHmac, randomBytes } from 'node:crypto'

/** A secret of Standard Webhooks 1.0.0 is this prefix and the base64 of the key. */
const prefix = 'whsec_'

/** Generates a secret with 256 random bits. */
export const generateSecret = () => `${prefix}${randomBytes(32).toString('base64')}`

/** Describes the required form of a secret. */
export const secretFormat = `${prefix} and the base64 of 24 to 64 bytes`

/** True if the text is a secret in the form of `secretFormat`. */
export function isSecret(text: string): boolean {
  const [, base64 = ''] = new RegExp(`^${prefix}([^=]*)={0,2}$`).exec(text) ?? []
  const key = Buffer.from(base64, 'base64')
  // Buffer ignores invalid base64.
  const isBase64 = key.toString('base64').replace(/=+$/, '') === base64
  return isBase64 && key.length >= 24 && key.length <= 64
}

/** The signed content: the ID, the timestamp, and the exact body. */
export interface SignedContent {
  id: string
  /** Seconds since 1970. */
  timestamp: number
  body: string
}

/** Builds the headers of a delivery (Standard Webhooks 1.0.0): one signature per secret, so that a receiver can verify with any of them. */
export function signHeaders(
  secrets: readonly string[],
  { id, timestamp, body }: SignedContent,
): Record<string, string> {
  const signatures = secrets.map(secret => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signatures.join(' ') }
}
