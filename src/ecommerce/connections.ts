import type { Keys } from '../crypto/keys.ts'
import type { Database } from '../database/db.ts'
import { mainConnection, type PlatformName } from '../domain/ecommerce/connection-settings.ts'
import { PlatformFailure } from '../domain/ecommerce/platform-failure.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import {
  deleteToken,
  endRenewal,
  findConnection,
  leaseRenewal,
  readToken,
  type StoredConnection,
  storeToken,
} from '../store/ecommerce/connections.ts'
import { openMedusa } from './medusa/driver.ts'
import { openBudget } from './port/budget.ts'
import type { ReadEvent } from './port/events.ts'
import type { CallLog, EcommercePlatform } from './port/platform.ts'
import type { TokenStore } from './shopify/client/tokens.ts'
import { openShopify, type ShopifyOptions } from './shopify/driver.ts'
import { readShopifyEvent } from './shopify/events/read-event.ts'

/** The platforms that a service can be connected to. */
const drivers = { medusa: openMedusa, shopify: openShopify } satisfies Record<
  PlatformName,
  (options: ShopifyOptions) => EcommercePlatform
>

/** How each platform signs and writes its events. Medusa sends none. */
export const eventReaders = { medusa: () => 'forged', shopify: readShopifyEvent } satisfies Record<
  PlatformName,
  ReadEvent
>

/** The path to which a platform sends the events of a service. */
export const getEventPath = ({ name }: Service) => `/ecommerce/events/${encodeURIComponent(name)}/${mainConnection}`
export const getEventUrl = (publicUrl: string, service: Service) => `${publicUrl}${getEventPath(service)}`

/** Opens a stored connection. Throws `PlatformFailure` if its secret can't be decrypted. */
export function openConnection(
  db: Database,
  keys: Keys,
  service: Service,
  { connectionId, settings, secret }: StoredConnection,
  log: CallLog,
): EcommercePlatform {
  if (secret === undefined)
    throw new PlatformFailure('denied', 'The secret was encrypted with another SECRET_KEY. Set it again.')
  const tokens: TokenStore = {
    read: () => readToken(db, keys, service, connectionId),
    leaseRenewal: seconds => leaseRenewal(db, service, connectionId, seconds),
    store: token => storeToken(db, keys, service, connectionId, token),
    endRenewal: async () => void (await endRenewal(db, service, connectionId)),
    discard: token => deleteToken(db, keys, service, connectionId, token),
  }
  return drivers[settings.driver]({ settings, secret, tokens, budget: openBudget(db, service, connectionId), log })
}

/** Opens the platform of a service. Returns undefined if the service has no connection. */
export async function openPlatform(db: Database, keys: Keys, service: Service, log: CallLog) {
  const stored = await findConnection(db, keys, service)
  return stored && { ...stored, platform: openConnection(db, keys, service, stored, log) }
}
