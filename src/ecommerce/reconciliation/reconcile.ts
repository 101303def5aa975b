import type { Keys } from '../../crypto/keys.ts'
import type { Database } from '../../database/db.ts'
import { PlatformFailure } from '../../domain/ecommerce/platform-failure.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { raiseAlert, resolveAlert } from '../../store/alerts/alerts.ts'
import { findUnconfirmedOrders } from '../../store/ecommerce/commitments.ts'
import { storeObservations } from '../../store/ecommerce/levels.ts'
import {
  beginReconciliation,
  compareObservedLevels,
  endReconciliation,
  storeObservedLevels,
} from '../../store/ecommerce/reconciliations.ts'
import { failpoint } from '../../testing/failpoints.ts'
import { openPlatform } from '../connections.ts'
import type { InventoryPort, ObservedLevel } from '../port/inventory.ts'
import type { CallLog } from '../port/platform.ts'
import { confirmOrders, readObservations } from '../stock-push/confirm.ts'
import { compareAll } from '../stock-push/follow-changes.ts'
import { driftAlert, recordAuthors } from './drift.ts'

/**
 * Compares the stored levels of the platform with its current levels.
 * Guarantees: an incomplete list changes nothing; a level that changes during the read is not compared.
 */

const rowsPerBatch = 5_000
/** Levels that changed during the read are read by ID afterwards, up to this many calls. */
const maxRereads = 10
const maxDifferences = 100

interface ReconcileOptions {
  signal: AbortSignal
  isEmbedded: boolean
}

/** Numbers of levels. The first four count the comparison with the platform, the others what the push would do. */
type ReconciliationCounts = Record<
  'compared' | 'drifted' | 'skipped' | 'added' | 'inStep' | 'rising' | 'falling' | 'fallingToZero' | 'held',
  number
>

/** A level that the push would change. */
interface Difference {
  sku: string | null
  itemId: string
  locationId: string
  knownOnHand: number | null
  desiredOnHand: number
}

interface ReconciliationResult {
  id: string
  isDryRun: boolean
  counts: ReconciliationCounts
  differences: readonly Difference[]
}

/** Reads all levels, compares them, and marks the differences for the push. Returns undefined without a connection that compares stock. */
export async function reconcileStock(
  db: Database,
  keys: Keys,
  service: Service,
  log: CallLog,
  { signal, isEmbedded }: ReconcileOptions,
): Promise<ReconciliationResult | undefined> {
  const opened = await openPlatform(db, keys, service, log)
  if (!opened || opened.settings.stockPush === 'off') return
  const { platform, settings } = opened
  const isDryRun = settings.stockPush !== 'on'
  const rules = { isEmbedded, nettingDelayMinutes: settings.nettingDelayMinutes }
  const id = await db.transaction(tx => beginReconciliation(tx, service, isDryRun))
  try {
    await confirmAllOrders(db, service, platform.inventory, signal)
    await storeAllLevels(db, service, platform.inventory, signal)
    const { unread, ...compared } = await db.transaction(tx => compareObservedLevels(tx, service, id))
    await readSkippedLevels(db, service, platform.inventory, unread, signal)
    const stepCounts = { inStep: 0, rising: 0, falling: 0, fallingToZero: 0, held: 0 }
    let differences: Difference[] = []
    await compareAll(db, service, rules, ({ sku, itemId, locationId, knownOnHand }, step) => {
      if (step.state === 'inStep') stepCounts.inStep++
      else if (step.state === 'held') stepCounts.held++
      else {
        stepCounts[step.direction]++
        differences.push({ sku, itemId, locationId, knownOnHand, desiredOnHand: step.desiredOnHand })
        if (differences.length > 2 * maxDifferences) differences = selectLargest(differences)
      }
    })
    const counts = { ...compared, ...stepCounts }
    const largest = selectLargest(differences)
    await endReconciliation(db, service, id, { state: 'completed', counts, differences: largest })
    if (counts.drifted) {
      await raiseAlert(db, service.id, { ...driftAlert, detail: `${counts.drifted} of ${counts.compared} levels.` })
      await recordAuthors(db, service, platform.inventory, id, log, signal)
    } else await resolveAlert(db, service.id, driftAlert)
    return { id, isDryRun, counts, differences: largest }
  } catch (error) {
    const detail = error instanceof PlatformFailure ? error.message : 'internal_error'
    await endReconciliation(db, service, id, { state: 'failed', error: detail })
    throw error
  }
}

const getSize = ({ knownOnHand, desiredOnHand }: Difference) => Math.abs(desiredOnHand - (knownOnHand ?? 0))
const selectLargest = (differences: readonly Difference[]) =>
  differences.toSorted((a, b) => getSize(b) - getSize(a)).slice(0, maxDifferences)

/** Reads all orders with committed units, so that units that were fulfilled don't look like drift. */
async function confirmAllOrders(db: Database, service: Service, inventory: InventoryPort, signal: AbortSignal) {
  const orders = await findUnconfirmedOrders(db, service)
  for (let at = 0; at < orders.length; at += inventory.limits.orders)
    await confirmOrders(db, service, inventory, orders.slice(at, at + inventory.limits.orders), signal)
}

/** Reads all levels of the platform and stores them in batches. */
async function storeAllLevels(db: Database, service: Service, inventory: InventoryPort, signal: AbortSignal) {
  let batch: ObservedLevel[] = []
  for await (const level of inventory.readAllLevels(signal)) {
    batch.push(level)
    if (batch.length < rowsPerBatch) continue
    await storeObservedLevels(db, service, batch)
    failpoint('during_bulk')
    batch = []
  }
  if (batch.length) await storeObservedLevels(db, service, batch)
}

/** Reads the levels that the comparison skipped, by ID, and stores their quantities. The next reconciliation compares them. */
async function readSkippedLevels(
  db: Database,
  service: Service,
  inventory: InventoryPort,
  unread: readonly { itemId: string; locationId: string }[],
  signal: AbortSignal,
) {
  const items = [...new Set(unread.map(({ itemId }) => itemId))]
  const { items: size } = inventory.limits
  for (let at = 0; at < Math.min(items.length, maxRereads * size); at += size) {
    const part = new Set(items.slice(at, at + size))
    const levels = unread.filter(({ itemId }) => part.has(itemId))
    const observations = await readObservations(inventory, levels, signal)
    await db.transaction(tx => storeObservations(tx, service, observations))
  }
}
