import type { RecordChange } from './shapes/changes.ts'
import type { Open } from './shapes/general.ts'

/** Why a delivery is not believed. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly code: 'header_missing' | 'timestamp_off' | 'signature_wrong' | 'secret_malformed'

  constructor(code: WebhookError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** The headers of a delivery: as `fetch` has them, or as Node has them. */
export type WebhookHeaders = { get(name: string): string | null } | Record<string, string | string[] | undefined>

/** What a delivery says: which records have changed. */
export interface WebhookDelivery {
  type: Open<'records.changed'>
  timestamp: string
  data: { service: string; cursor: string; changes: RecordChange[] }
}

/** A delivery may be this old, or this far ahead, by our clock. */
const toleranceSeconds = 300

/**
 * Checks that a delivery comes from who shares a secret, and is fresh (Standard Webhooks 1.0.0); returns what it says.
 * @param body the bytes, or the text, exactly as they came: parse nothing before
 * @param secrets `whsec_…`; during a rotation the old one and the new one
 * @throws WebhookError
 */
export async function verifyWebhook<T = WebhookDelivery>(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
): Promise<T> {
  const [id, timestamp, signatures] = (['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const).map(name => {
    const value = headerOf(headers, name)
    if (!value) throw new WebhookError('header_missing', `The header ${name} is missing.`)
    return value
  }) as [string, string, string]
  const offBy = Math.abs(Date.now() / 1_000 - (/^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN))
  if (!(offBy <= toleranceSeconds))
    throw new WebhookError('timestamp_off', `The delivery is not of the last ${toleranceSeconds} seconds.`)
  const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { ignoreBOM: true }).decode(body)
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`)
  const given = signatures.split(' ').flatMap(each => (each.startsWith('v1,') ? (bytesOf(each.slice(3)) ?? []) : []))
  for (const secret of [secrets].flat()) {
    const key = await keyOf(secret)
    for (const signature of given)
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return JSON.parse(text)
  }
  throw new WebhookError('signature_wrong', 'No signature is of any of the secrets.')
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1]
  return typeof found === 'string' ? found : undefined
}

async function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = bytesOf(secret.replace(/^whsec_/, ''))
  if (!bytes?.length) throw new WebhookError('secret_malformed', 'A secret is `whsec_` and base64.')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** Bytes of base64; undefined where it is none. */
function bytesOf(base64: string) {
  try {
    return Uint8Array.from(atob(base64), character => character.charCodeAt(0))
  } catch {
    return
  }
}
