import type { Logger } from 'pino'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { endIntent, type InDoubtWrite, releaseIntent } from '../store/writes/intents.ts'
import type { TransactionContext } from './commit.ts'
import { executeWrite } from './execute.ts'
import { IdempotentReplay } from './idempotency.ts'
import type { WriteRegistry } from './registry.ts'
import { isRejection, NotApplied } from './write.ts'

/** A write counts as not applied after this many look-ups did not find it. At the first, the back office may still be working on the call. */
const requiredMisses = 2
/** Seconds between two look-ups. */
const lookUpIntervalSeconds = 60
/** Seconds until the next look-up if the back office was unavailable. */
const outageDelaySeconds = 30

interface Recovery {
  context: TransactionContext
  registry: WriteRegistry
  log: Logger
}

/**
 * Recovers a write in doubt (contributing/decisions/0012-no-locks-during-back-office-calls.md). If the back office has applied it,
 * stores effect, audit entry and response. Never applies a write that the back office doesn't know.
 */
export async function recoverWrite(
  { context, registry, log }: Recovery,
  service: Service,
  write: InDoubtWrite,
): Promise<void> {
  const { db } = context
  const { id, keyHash, requestHash, requested: request, misses } = write
  const { operation: name, requestId } = request
  const facts = { service: service.name, operation: name, requestId }
  const operation = registry.get(name)
  // An operation that only reads leaves nothing to recover, and one that this version doesn't have can't be recovered.
  if (!operation?.isAudited) {
    await db.transaction(tx => endIntent(tx, service, write))
    return
  }
  const keyed = keyHash && { operation: name, keyHash, requestHash }
  try {
    const work = operation.resume(service, request)
    await executeWrite(context, service, { id, requestHash, keyed }, request, work, write)
    log.info(facts, 'write in doubt recovered: it was applied and is stored now')
  } catch (error) {
    if (error instanceof IdempotentReplay) return
    const isMiss = error instanceof NotApplied || isRejection(error)
    if (isMiss && misses + 1 < requiredMisses)
      await releaseIntent(db, service, write, { checkAfterSeconds: lookUpIntervalSeconds, isMiss })
    else if (isMiss) {
      await db.transaction(tx => endIntent(tx, service, write))
      log.info({ ...facts, err: error }, 'write in doubt discarded: it was not applied')
    } else {
      await releaseIntent(db, service, write, { checkAfterSeconds: outageDelaySeconds })
      log.warn({ ...facts, err: error }, 'write in doubt not recovered yet')
    }
  }
}
