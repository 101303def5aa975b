import { type Keys, seal, unseal } from '../../crypto/keys.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

const placeOf = (service: Service, id: string) => `webhook ${service.id} ${id}`

export const sealSecret = ({ sealed }: Keys, service: Service, id: string, secret: string) =>
  seal(sealed, placeOf(service, id), secret)

/** Undefined where it was sealed under another SECRET_KEY. */
export function openSecret({ sealed }: Keys, service: Service, id: string, secret: Buffer): string | undefined {
  try {
    return unseal(sealed, placeOf(service, id), secret)
  } catch {
    return
  }
}
