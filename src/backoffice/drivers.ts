import { type DriverName, embeddedName } from '../domain/tenancy/back-office-settings.ts'
import { openApparel21 } from './apparel21/driver.ts'
import { embedded } from './embedded/embedded.ts'
import type { Driver, OpenDriver } from './port/driver.ts'

const ownTables: Driver = {
  backOffice: embedded,
  isEmbedded: true,
  syncs: [],
  source: embeddedName,
  timeZone: 'UTC',
  breaker: undefined,
  probe: async () => ({ release: undefined, stores: 0, currency: undefined }),
  close() {},
}

/** The back offices that a service can have. */
export const drivers = {
  embedded: () => ownTables,
  apparel21: openApparel21,
} satisfies Record<DriverName, OpenDriver>
