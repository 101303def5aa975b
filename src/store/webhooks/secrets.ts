import { type Keys, seal, unseal } from '../../crypto/keys.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** Secrets of webhooks, encrypted for their row. */

const sealContext = (service: Service, id: string) => `webhook ${service.id} ${id}`

export const sealSecret = ({ sealed }: Keys, service: Service, id: string, secret: string) =>
  seal(sealed, sealContext(service, id), secret)

/** Returns the secret. Returns undefined if it was encrypted under another SECRET_KEY. */
export function unsealSecret({ sealed }: Keys, service: Service, id: string, secret: Buffer): string | undefined {
  try {
    return unseal(sealed, sealContext(service, id), secret)
  } catch {
    return
  }
}
