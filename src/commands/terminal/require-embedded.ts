import { readConfig } from '../../config/config.ts'
import { ours } from '../../domain/tenancy/back-office-settings.ts'
import { storedBackOffice } from '../../store/backoffice/connections.ts'
import type { Placed, Session } from './session.ts'

/** Throws where `what` of a service is what another back office keeps: ours is a copy of it. `so` says what that means for a command. */
export async function requireOwnTables(
  { keys }: Pick<Session, 'keys'>,
  { db, service }: Placed,
  what: string,
  so: string,
): Promise<void> {
  const driver = (await storedBackOffice(db, keys, service))?.settings.driver ?? readConfig().backOffice
  if (driver !== ours) throw new Error(`${what} of ${service.name} belong to its back office (${driver}): ${so}.`)
}
