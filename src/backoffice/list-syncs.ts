import type { SyncDefinition } from '../domain/sync/port.ts'
import type { BackOfficeSettings } from '../domain/tenancy/back-office-settings.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { drivers } from './drivers.ts'

/** The log of a driver whose caller reports the result. */
export const noLog = { info() {}, warn() {} }

/** Returns the syncs of a back office with these settings. Sends no request to it. */
export function listSyncs(settings: BackOfficeSettings, service: Service): readonly SyncDefinition[] {
  const driver = drivers[settings.driver](settings, service, noLog)
  try {
    return driver.syncs
  } finally {
    driver.close()
  }
}
