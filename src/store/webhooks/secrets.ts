import { type Keys, seal, unseal } from '../../crypto/keys.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** Secrets of webhooks, encrypted for their row. */

/** The context that the encrypted secrets of a webhook are bound to. */
export const getWebhookContext = (service: Pick<Service, 'id'>, id: string) => `webhook ${service.id} ${id}`

export const sealSecret = (keys: Keys, service: Service, id: string, secret: string) =>
  seal(keys, getWebhookContext(service, id), secret)

/** Returns the secret. Returns undefined if it was encrypted under another SECRET_KEY. */
export function unsealSecret(keys: Keys, service: Service, id: string, secret: Buffer): string | undefined {
  try {
    return unseal(keys, getWebhookContext(service, id), secret)
  } catch {
    return
  }
}
