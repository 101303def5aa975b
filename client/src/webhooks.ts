import type { RecordChange } from './shapes/changes.ts'
import type { Open } from './shapes/general.ts'

/** A delivery that can't be verified. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly code: 'header_missing' | 'timestamp_off' | 'signature_wrong' | 'secret_malformed'

  constructor(code: WebhookError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** The headers of a delivery, as `Headers` or as Node.js provides them. */
export type WebhookHeaders = { get(name: string): string | null } | Record<string, string | string[] | undefined>

/** The body of a delivery: the records that have changed. */
export interface WebhookDelivery {
  type: Open<'records.changed'>
  timestamp: string
  data: { service: string; cursor: string; changes: RecordChange[] }
}

/** The largest difference between a delivery's timestamp and our clock. */
const toleranceSeconds = 300

/**
 * Verifies the signature and the age of a delivery (Standard Webhooks 1.0.0). Returns its body.
 * @param body the raw body, before any parsing
 * @param secrets `whsec_…`; during a rotation, the old one and the new one
 * @throws WebhookError
 */
export async function verifyWebhook<T = WebhookDelivery>(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
): Promise<T> {
  const [id, timestamp, signatures] = (['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const).map(name => {
    const value = getHeader(headers, name)
    if (!value) throw new WebhookError('header_missing', `The header ${name} is missing.`)
    return value
  }) as [string, string, string]
  const skewSeconds = Math.abs(Date.now() / 1_000 - (/^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN))
  if (!(skewSeconds <= toleranceSeconds))
    throw new WebhookError('timestamp_off', `The timestamp must be within ${toleranceSeconds} seconds of this clock.`)
  const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { ignoreBOM: true }).decode(body)
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`)
  const candidates = signatures
    .split(' ')
    .flatMap(signature => (signature.startsWith('v1,') ? (decodeBase64(signature.slice(3)) ?? []) : []))
  for (const secret of [secrets].flat()) {
    const key = await importKey(secret)
    for (const signature of candidates)
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return JSON.parse(text)
  }
  throw new WebhookError('signature_wrong', 'No signature matches a secret.')
}

function getHeader(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const value = Object.entries(headers).find(([header]) => header.toLowerCase() === name)?.[1]
  return typeof value === 'string' ? value : undefined
}

async function importKey(secret: string): Promise<CryptoKey> {
  const bytes = decodeBase64(secret.replace(/^whsec_/, ''))
  if (!bytes?.length) throw new WebhookError('secret_malformed', 'A secret must be `whsec_` followed by base64.')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** Returns the decoded bytes, or undefined if the text isn't base64. */
function decodeBase64(base64: string) {
  try {
    return Uint8Array.from(atob(base64), character => character.charCodeAt(0))
  } catch {
    return
  }
}
