import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { ShopifyWorld } from './world.ts'

/** Attempts before an API subscription is deleted. The platform spreads them over 4 hours; here each waits `retryMs`. */
const maxAttempts = 8
const retryMs = 200
const responseTimeoutMs = 5_000

/** Returns the signature that the platform sends in `X-Shopify-Hmac-Sha256`. */
export const signPayload = (secret: string, body: string) => createHmac('sha256', secret).update(body).digest('base64')

/** Sends an event to the subscriptions of its topic, each time with the first payload. */
export function deliverEvent(world: ShopifyWorld, topic: string, payload: object, signal: AbortSignal): void {
  const { shop, settings, now } = world
  const subscriptions = [...shop.subscriptions.values()].filter(subscription => subscription.topic === topic)
  if (!subscriptions.length) return
  const body = JSON.stringify(payload)
  const headers = {
    'content-type': 'application/json',
    'x-shopify-topic': topic.toLowerCase().replace('_', '/'),
    'x-shopify-shop-domain': `${settings.shopName}.myshopify.com`,
    'x-shopify-api-version': settings.versions[0] ?? '',
    'x-shopify-event-id': randomUUID(),
    'x-shopify-triggered-at': new Date(now()).toISOString(),
    'x-shopify-hmac-sha256': signPayload(settings.clientSecret, body),
  }
  for (const { id, uri } of subscriptions) {
    const webhookId = randomUUID()
    const send = async () => {
      for (let attempt = 1; attempt <= maxAttempts && !signal.aborted; attempt++) {
        try {
          const response = await fetch(uri, {
            method: 'POST',
            headers: { ...headers, 'x-shopify-webhook-id': webhookId },
            body,
            signal: AbortSignal.any([signal, AbortSignal.timeout(responseTimeoutMs)]),
          })
          await response.body?.cancel()
          if (response.ok) return
        } catch {}
        await delay(retryMs, undefined, { signal, ref: false }).catch(() => {})
      }
      if (!signal.aborted) shop.subscriptions.delete(id)
    }
    void send()
  }
}
