import { readConfig } from '../../config/config.ts'
import { embeddedName } from '../../domain/tenancy/back-office-settings.ts'
import { lockStoredBackOffice } from '../../store/backoffice/connections.ts'
import type { LocatedService, Session } from './session.ts'

/** Throws if another back office owns these records, because Tillbridge has only a copy of them. `remedy` ends the message. */
export async function requireEmbeddedBackOffice(
  { keys }: Pick<Session, 'keys'>,
  { db, service }: LocatedService,
  records: string,
  remedy: string,
): Promise<void> {
  const driver = (await lockStoredBackOffice(db, keys, service))?.settings.driver ?? readConfig().backOffice
  if (driver !== embeddedName)
    throw new Error(`${records} of ${service.name} belong to its back office (${driver}): ${remedy}.`)
}
