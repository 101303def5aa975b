import { createHmac, randomUUID } from 'node:crypto'
import { type RequestOptions, request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import type { ShopifyFault } from './fault.ts'
import type { Subscription } from './state.ts'
import type { ShopifyWorld } from './world.ts'

/** Maximum attempts before a subscription is deleted. The platform spreads them over 4 hours; the simulator waits `retryMs`. */
const maxAttempts = 8
const retryMs = 200
const responseTimeoutMs = 5_000

/** Returns the signature that the platform sends in `X-Shopify-Hmac-Sha256`. */
export const signPayload = (secret: string, body: string) => createHmac('sha256', secret).update(body).digest('base64')

/** Converts a topic to its form in headers: `INVENTORY_LEVELS_UPDATE` becomes `inventory_levels/update`. */
const toHeader = (topic: string) => topic.toLowerCase().replace(/_([a-z]+)$/, '/$1')

const selectFields = (payload: object, { includeFields }: Subscription) =>
  includeFields.length
    ? Object.fromEntries(Object.entries(payload).filter(([name]) => includeFields.includes(name)))
    : payload

/** Sends an event to the subscriptions of its topic, each time with the first payload. */
export function deliverEvent(
  world: ShopifyWorld,
  topic: string,
  payload: object,
  signal: AbortSignal,
  takeFaults: () => readonly ShopifyFault[],
): void {
  const { shop, settings, now } = world
  const subscriptions = [...shop.subscriptions.values()].filter(subscription => subscription.topic === topic)
  if (!subscriptions.length) return
  const faults = takeFaults()
  const has = (kind: ShopifyFault['kind']) => faults.some(fault => fault.kind === kind)
  if (has('event-lost')) return
  const latency = faults.find(({ kind }) => kind === 'latency')?.seconds ?? 0
  const eventId = randomUUID()
  const triggeredAt = new Date(now()).toISOString()
  for (const subscription of subscriptions) {
    const body = JSON.stringify(selectFields(payload, subscription))
    const headers = {
      'content-type': 'application/json',
      'x-shopify-topic': toHeader(topic),
      'x-shopify-shop-domain': `${settings.shopName}.myshopify.com`,
      'x-shopify-api-version': settings.versions[0] ?? '',
      'x-shopify-webhook-id': randomUUID(),
      'x-shopify-event-id': eventId,
      'x-shopify-triggered-at': triggeredAt,
      'x-shopify-hmac-sha256': signPayload(settings.signingSecret || settings.clientSecret, body),
    }
    const send = async () => {
      if (latency) await delay(latency * 1_000, undefined, { signal, ref: false }).catch(() => {})
      for (let attempt = 1; attempt <= maxAttempts && !signal.aborted; attempt++) {
        const status = await postEvent(subscription.uri, headers, body, settings.trustedCertificate, signal)
        shop.deliveries.push({ topic, uri: subscription.uri, status, headers, body })
        if (status !== null && status >= 200 && status < 300) return
        await delay(retryMs, undefined, { signal, ref: false }).catch(() => {})
      }
      if (!signal.aborted) shop.subscriptions.delete(subscription.id)
    }
    void send()
    if (has('event-repeated')) void send()
  }
}

/** Posts a body. Returns the status of the response, or null if there was none. */
const postEvent = (
  uri: string,
  headers: Record<string, string>,
  body: string,
  ca: string,
  signal: AbortSignal,
): Promise<number | null> =>
  new Promise(resolve => {
    const options: RequestOptions & { ca?: string } = {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      signal: AbortSignal.any([signal, AbortSignal.timeout(responseTimeoutMs)]),
      ...(ca !== '' && { ca }),
    }
    const request = (uri.startsWith('https:') ? requestTls : requestPlain)(uri, options, response => {
      response.resume()
      resolve(response.statusCode ?? null)
    })
    request.on('error', () => resolve(null))
    request.end(body)
  })
