import { type Keys, seal, unseal } from '../../secrets.ts'
import type { Service } from '../../settings.ts'

const placeOf = (service: Service, id: string) => `webhook ${service.id} ${id}`

export const sealSecret = ({ sealed }: Keys, service: Service, id: string, secret: string) =>
  seal(sealed, placeOf(service, id), secret)

export const openSecret = ({ sealed }: Keys, service: Service, id: string, secret: Buffer) =>
  unseal(sealed, placeOf(service, id), secret)
