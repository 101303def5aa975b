import { randomUUID } from 'node:crypto'
import type { RunLimited } from '../../concurrency/semaphore.ts'
import type { Database } from '../../database/db.ts'
import { decideStep } from '../../domain/ecommerce/stock-push.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import {
  keepUnchanged,
  type LevelKey,
  lockIdleLevels,
  type MarkedLevel,
  markLevels,
  type NettingRules,
  type OutboxLevel,
  recordResults,
  type SentLevel,
  selectDue,
  storeOutbox,
} from '../../store/ecommerce/levels.ts'
import { failpoint } from '../../testing/failpoints.ts'
import type { CallPermit, InventoryPort, OnHandResult } from '../port/inventory.ts'
import { confirmLevels } from './confirm.ts'

export interface PushContext {
  db: Database
  service: Service
  inventory: InventoryPort
  rules: NettingRules
  signal: AbortSignal
  /** Renews the job's lease. False: another process has taken over. */
  renewLease(): Promise<boolean>
  /** The levels (objects of `selectDue`) of the cycles that are running in this process. */
  busy: Set<LevelKey>
  /** One cycle selects at a time, so that no two have the same level. */
  selectOne: RunLimited
}

/**
 * One cycle: select due levels, read the facts that on-hand quantities don't include (held-back and committed units), store the outbox, send
 * it, record the results. Nothing is locked and no transaction is open during a call. The rate-limit points of the call are reserved first, so
 * that the call follows the reads at once. Returns false if no level was due.
 */
export async function runCycle(context: PushContext): Promise<boolean> {
  const { db, service, inventory, busy, signal } = context
  if (!(await selectDue(db, service, [...busy], 1)).length) return false
  const permit = await inventory.reserveCall(signal)
  const due = await context.selectOne(async () => {
    const selected = await selectDue(db, service, [...busy], inventory.limits.changes)
    for (const level of selected) busy.add(level)
    return selected
  })
  try {
    if (!due.length) return false
    const confirmed = await confirmLevels(db, service, inventory, due, signal)
    const outbox = await storeDesired(context, confirmed)
    if (!outbox.length || !(await context.renewLease())) return true
    // Changes that cancel out don't show in the compare-and-set, such as a fulfilment and a count.
    const unchanged = await keepUnchanged(db, service, outbox)
    if (unchanged.length) await sendOutbox(context, unchanged, permit)
    return true
  } finally {
    for (const level of due) busy.delete(level)
    await permit.release()
  }
}

/** A level of the outbox with the version of the facts from which its quantity was computed. */
type ComputedLevel = OutboxLevel & { version: number }

/** Computes the desired quantities from one snapshot and stores the outbox. Levels that need nothing are no longer due. */
const storeDesired = ({ db, service, rules }: PushContext, levels: readonly LevelKey[]): Promise<ComputedLevel[]> =>
  db.transaction(async tx => {
    const levelFacts = await lockIdleLevels(tx, service, levels, rules)
    const key = randomUUID()
    const outbox: ComputedLevel[] = []
    const finalLevels: MarkedLevel[] = []
    for (const level of levelFacts) {
      const { itemId, locationId, knownOnHand, mustRead, version } = level
      // The known on-hand quantity became unreliable after `confirmLevels`. The level stays due, and the next cycle reads it.
      if (mustRead) continue
      const step = decideStep(level)
      if (step.state === 'due')
        // A level that isn't stocked yet needs a call of its own.
        outbox.push({
          itemId,
          locationId,
          knownOnHand,
          desiredOnHand: step.desiredOnHand,
          key: knownOnHand === null ? randomUUID() : key,
          version,
        })
      else finalLevels.push({ itemId, locationId, rank: null, holdReason: step.state === 'held' ? step.reason : null })
    }
    if (finalLevels.length) await markLevels(tx, service, finalLevels)
    if (outbox.length) await storeOutbox(tx, service, outbox)
    return outbox
  })

/** Sends batches of the outbox, each under its key, and records their results. `permit`: for the first call. */
export async function sendOutbox(context: PushContext, outbox: readonly OutboxLevel[], permit?: CallPermit) {
  const { inventory, signal } = context
  let next = permit
  // Sorted, so that a batch that is sent again after a crash has the same order.
  const batches = Map.groupBy(outbox.toSorted(compareLevels), ({ key }) => key)
  for (const [key, levels] of [...batches].toSorted(([, a], [, b]) => b.length - a.length)) {
    const current = next ?? (await inventory.reserveCall(signal))
    next = undefined
    try {
      await sendBatch(context, key, levels, current)
    } finally {
      await current.release()
    }
  }
}

const compareLevels = (a: LevelKey, b: LevelKey) => {
  const [left, right] = [`${a.itemId} ${a.locationId}`, `${b.itemId} ${b.locationId}`]
  return left < right ? -1 : left > right ? 1 : 0
}

async function sendBatch(
  { db, service, inventory, signal }: PushContext,
  key: string,
  levels: readonly OutboxLevel[],
  permit: CallPermit,
) {
  failpoint('before_set_on_hand')
  const [first] = levels
  const results: readonly OnHandResult[] =
    first?.knownOnHand === null
      ? [await inventory.activateLevel(permit, key, { ...first, onHand: first.desiredOnHand }, signal)]
      : await inventory.setOnHand(
          permit,
          key,
          levels.map(({ itemId, locationId, knownOnHand, desiredOnHand }) => ({
            itemId,
            locationId,
            expectedOnHand: knownOnHand ?? 0,
            onHand: desiredOnHand,
          })),
          signal,
        )
  failpoint('after_set_on_hand')
  const sent = levels.map(({ itemId, locationId }, index): SentLevel => {
    // A level without a result must be read again.
    const result = results[index] ?? { state: 'stale' }
    return result.state === 'rejected'
      ? { itemId, locationId, state: 'held', holdReason: result.reason }
      : { itemId, locationId, state: result.state, holdReason: null }
  })
  failpoint('before_record_result')
  await recordResults(db, service, key, sent)
}
