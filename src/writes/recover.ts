import type { Logger } from 'pino'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { endIntent, type Left, leaveIntent } from '../store/writes/intents.ts'
import type { Site } from './commit.ts'
import { carryOut } from './execute.ts'
import { AnsweredBefore } from './idempotency.ts'
import type { WriteRegistry } from './registry.ts'
import { isRejection, NotApplied } from './write.ts'

/** Look-ups in which the back office must not find a write before it counts as not applied. */
const requiredMisses = 2
/** Seconds between two look-ups. */
const lookUpIntervalSeconds = 60
/** Seconds until the next look-up if the back office was unavailable. */
const outageDelaySeconds = 30

interface Recovery {
  site: Site
  registry: WriteRegistry
  log: Logger
}

/**
 * Recovers a write in doubt (contributing/decisions/0012-no-locks-during-back-office-calls.md). If the back office has applied it, stores effect, audit entry and response. Never
 * applies a write that the back office doesn't know.
 */
export async function recoverWrite({ site, registry, log }: Recovery, service: Service, left: Left): Promise<void> {
  const { db } = site
  const { id, keyHash, requestHash, requested, looks } = left
  const { operation: name, requestId } = requested
  const about = { service: service.name, operation: name, requestId }
  const operation = registry.get(name)
  if (!operation?.isAudited) {
    await db.transaction(tx => endIntent(tx, service, left))
    return
  }
  const keyed = keyHash && { operation: name, keyHash, requestHash }
  try {
    await carryOut(site, service, { id, requestHash, keyed }, requested, operation.resume(service, requested), left)
    log.info(about, 'write in doubt recovered: it was applied and is stored now')
  } catch (error) {
    if (error instanceof AnsweredBefore) return
    const isFinal = error instanceof NotApplied || isRejection(error)
    if (isFinal && looks + 1 < requiredMisses) await leaveIntent(db, service, left, lookUpIntervalSeconds, 1)
    else if (isFinal) {
      await db.transaction(tx => endIntent(tx, service, left))
      log.info({ ...about, err: error }, 'write in doubt discarded: it was not applied')
    } else {
      await leaveIntent(db, service, left, outageDelaySeconds)
      log.warn({ ...about, err: error }, 'write in doubt not recovered yet')
    }
  }
}
