import { createCurrentCursor } from '../../change-feed/start-position.ts'
import { decodeCursor, encodeCursor, type Subscription } from '../../change-feed/subscription.ts'
import { runLanes } from '../../concurrency/lanes.ts'
import { semaphore } from '../../concurrency/semaphore.ts'
import type { Keys } from '../../crypto/keys.ts'
import type { Database, Db } from '../../database/db.ts'
import { decideStep, dueRanks, type LevelStep } from '../../domain/ecommerce/stock-push.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { readChanges } from '../../store/change-feed/changes.ts'
import {
  findLevelsOfSkus,
  listSyncedSkus,
  type MarkedLevel,
  markLevels,
  type NettingRules,
  readLevelFacts,
  type StoredLevel,
} from '../../store/ecommerce/levels.ts'
import { findPushState, movePushCursor } from '../../store/ecommerce/push-state.ts'

/** This kind is enough: a change of a mapping, buffer or reservation also changes the stock record, which shows SKU, location and quantities. */
const pushKinds = ['inventory'] as const
const maxChanges = 1_000
const skusPerStep = 1_000
/** Steps that are compared at a time, so that the database works on one while this process works on the other. A third one saves nothing. */
const maxConcurrentSteps = 2

export const getPushSubscription = (service: Service, keys: Keys): Subscription => ({
  service,
  kinds: pushKinds,
  key: keys.cursors,
})

/**
 * Marks the levels of changed stock as due, and moves the cursor in the same transaction. Without a cursor, or if it has expired, compares
 * every level first.
 */
export async function followChanges(db: Database, keys: Keys, service: Service, rules: NettingRules): Promise<void> {
  const subscription = getPushSubscription(service, keys)
  for (;;) {
    const state = await findPushState(db, service)
    if (!state) return
    const positions = state.cursor === null ? undefined : decodeCursor(subscription, state.cursor)
    const page = positions && (await readChanges(db, service, positions, { limit: maxChanges, records: false }))
    if (!page) {
      // Changes during the comparison are after this cursor.
      const cursor = await createCurrentCursor(db, subscription)
      await compareAll(db, service, rules)
      await movePushCursor(db, service, state.cursor, cursor)
      continue
    }
    await db.transaction(async tx => {
      await markSkus(tx, service, findChangedSkus(page.changes), rules)
      await movePushCursor(tx, service, state.cursor, encodeCursor(subscription, page.positions))
    })
    if (!page.hasMore) return
  }
}

/** Receives each compared level and what it needs. */
type VisitLevel = (level: StoredLevel, step: LevelStep) => void

/** Compares every level of every synced variant. */
export async function compareAll(
  db: Database,
  service: Service,
  rules: NettingRules,
  visit?: VisitLevel,
): Promise<void> {
  let after: string | undefined = ''
  const readOne = semaphore({ permits: 1 }).run
  const readNext = () =>
    readOne(async () => {
      if (after === undefined) return []
      const skus = await listSyncedSkus(db, service, after, skusPerStep)
      after = skus.length < skusPerStep ? undefined : skus.at(-1)
      return skus
    })
  await runLanes(maxConcurrentSteps, async () => {
    for (;;) {
      const skus = await readNext()
      if (!skus.length) return
      await db
        .transaction(tx => markSkus(tx, service, skus, rules, visit))
        .catch(error => {
          // Ends the other lane too.
          after = undefined
          throw error
        })
    }
  })
}

/** Marks the levels of SKUs as due, held or in step. */
async function markSkus(
  tx: Db,
  service: Service,
  skus: readonly string[],
  rules: NettingRules,
  visit: VisitLevel = () => {},
): Promise<void> {
  if (!skus.length) return
  const levels = await findLevelsOfSkus(tx, service, skus)
  const facts = await readLevelFacts(tx, service, levels, rules)
  await markLevels(
    tx,
    service,
    facts.flatMap((level): MarkedLevel[] => {
      const { itemId, locationId, knownOnHand, isInFlight } = level
      const step = decideStep(level)
      visit(level, step)
      if (step.state === 'due') return [{ itemId, locationId, rank: dueRanks[step.direction], holdReason: null }]
      const isStored = knownOnHand !== null || isInFlight
      if (!isStored && step.state === 'inStep') return []
      return [{ itemId, locationId, rank: null, holdReason: step.state === 'held' ? step.reason : null }]
    }),
  )
}

/** Returns the possible SKUs of changed stock. Its ID is the store ID, a dash and the SKU; both parts can contain dashes. */
const findChangedSkus = (changes: readonly { id: string }[]): string[] => [
  ...new Set(changes.flatMap(({ id }) => [...id.matchAll(/-/g)].map(({ index }) => id.slice(index + 1)))),
]
