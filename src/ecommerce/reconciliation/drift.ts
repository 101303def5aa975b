import type { Database } from '../../database/db.ts'
import { PlatformFailure } from '../../domain/ecommerce/platform-failure.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { listDrift, storeAuthors } from '../../store/ecommerce/reconciliations.ts'
import type { InventoryPort } from '../port/inventory.ts'
import type { CallLog } from '../port/platform.ts'

export const driftAlert = { kind: 'stock_drift', subject: '' } as const

/** Changes that are older than this are not searched. */
const maxAgeMs = 7 * 86_400_000

/** Stores who has changed the levels of a comparison, as far as the platform says. The drift stays if the platform doesn't. */
export async function recordAuthors(
  db: Database,
  service: Service,
  inventory: InventoryPort,
  reconciliationId: string,
  log: CallLog,
  signal: AbortSignal,
): Promise<void> {
  const levels = await listDrift(db, service, reconciliationId)
  if (!levels.length) return
  try {
    const since = new Date(Date.now() - maxAgeMs).toISOString()
    const authors = await inventory.readAuthors(levels, since, signal)
    if (authors.length) await storeAuthors(db, service, reconciliationId, authors)
  } catch (error) {
    if (!(error instanceof PlatformFailure)) throw error
    log.warn({ service: service.name, detail: error.message }, 'authors of stock changes not read')
  }
}
