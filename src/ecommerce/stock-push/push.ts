import { runLanes } from '../../concurrency/lanes.ts'
import { semaphore } from '../../concurrency/semaphore.ts'
import type { Keys } from '../../crypto/keys.ts'
import type { Database } from '../../database/db.ts'
import { canBeSuspicious, isSuspicious } from '../../domain/ecommerce/stock-push.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { raiseAlert, resolveAlert } from '../../store/alerts/alerts.ts'
import { countFalling, countStocked, type LevelKey, readOutbox, recordResults } from '../../store/ecommerce/levels.ts'
import { findPushState, stopPush } from '../../store/ecommerce/push-state.ts'
import { openPlatform } from '../connections.ts'
import type { CallLog } from '../port/platform.ts'
import { type PushContext, runCycle, sendOutbox } from './cycle.ts'
import { followChanges } from './follow-changes.ts'

/**
 * Pushes stock to the platform: absolute on-hand quantities by compare-and-set, or by read and write if the platform has none.
 * Pattern: change feed with a cursor, then a transactional outbox.
 * Guarantees: an old quantity is never sent; falling quantities are sent first; nothing is locked during a call.
 */

/** Cycles that run at a time. */
const concurrency = 16
/** Milliseconds after which a run ends, so that its job is rescheduled. */
const maxRunMs = 60_000

const stoppedAlert = { kind: 'stock_push_stopped', subject: '' } as const

interface PushOptions {
  signal: AbortSignal
  isEmbedded: boolean
  renewLease?(): Promise<boolean>
}

/** The result of a run. `unfinished`: levels are still due. */
interface PushResult {
  state: 'off' | 'stopped' | 'finished' | 'unfinished'
}

/** Pushes due levels until none is left, including levels that become due during the run. */
export async function pushStock(
  db: Database,
  keys: Keys,
  service: Service,
  log: CallLog,
  { signal, isEmbedded, renewLease = async () => true }: PushOptions,
): Promise<PushResult> {
  const opened = await openPlatform(db, keys, service, log)
  if (opened?.settings.stockPush !== 'on') return { state: 'off' }
  const { platform, settings } = opened
  const rules = { isEmbedded, nettingDelayMinutes: settings.nettingDelayMinutes }
  const context: PushContext = {
    db,
    service,
    inventory: platform.inventory,
    rules,
    signal,
    renewLease,
    busy: new Set<LevelKey>(),
    selectOne: semaphore({ permits: 1 }).run,
  }
  const deadline = performance.now() + maxRunMs
  await finishOutbox(context)
  await followChanges(db, keys, service, rules)
  if (await stopIfSuspicious(db, service)) return { state: 'stopped' }
  let state: PushResult['state'] = 'finished'
  const runLane = async (isFirst: boolean) => {
    while (state === 'finished') {
      if (performance.now() > deadline) state = 'unfinished'
      else if (isFirst) {
        await followChanges(db, keys, service, rules)
        if (await stopIfSuspicious(db, service)) state = 'stopped'
      }
      if (state !== 'finished' || !(await runCycle(context))) return
    }
  }
  await runLanes(concurrency, index => runLane(index === 0))
  return { state }
}

/**
 * Resends the batches of a process that died, under their keys. If a batch is too old for its key, or the platform has no keys, its levels are
 * read instead, because an old quantity must never be sent. The levels of all these batches stay due, so their quantities are computed again.
 */
async function finishOutbox(context: PushContext): Promise<void> {
  const { db, service, inventory } = context
  const batches = Map.groupBy(await readOutbox(db, service), ({ key }) => key)
  for (const [key, levels] of batches)
    if (inventory.hasIdempotencyKeys && levels.every(({ isRecent }) => isRecent)) await sendOutbox(context, levels)
    else
      await recordResults(
        db,
        service,
        key,
        levels.map(({ itemId, locationId }) => ({ itemId, locationId, state: 'stale', holdReason: null })),
      )
}

/** Stops a push that would set most levels to zero, until a person approves it. */
async function stopIfSuspicious(db: Database, service: Service): Promise<boolean> {
  const state = await findPushState(db, service)
  if (!state || state.isStopped) return true
  const falling = await countFalling(db, service)
  const stocked = canBeSuspicious(falling) ? await countStocked(db, service) : 0
  if (!isSuspicious({ falling, stocked })) {
    await resolveAlert(db, service.id, stoppedAlert)
    return false
  }
  if (await stopPush(db, service)) {
    const detail = `${falling} of ${stocked} stocked levels would fall to zero.`
    await raiseAlert(db, service.id, { ...stoppedAlert, detail })
  }
  return true
}
