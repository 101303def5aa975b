import type { Logger } from 'pino'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { endIntent, type InDoubtWrite, releaseIntent } from '../store/writes/intents.ts'
import type { TransactionContext } from './commit.ts'
import { executeWrite } from './execute.ts'
import { IdempotentReplay } from './idempotency.ts'
import type { WriteRegistry } from './registry.ts'
import { isRejection, NotApplied } from './write.ts'

/** Look-ups in which the back office must not find a write before it counts as not applied. */
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
  const { id, keyHash, requestHash, requested: request, failedChecks } = write
  const { operation: name, requestId } = request
  const facts = { service: service.name, operation: name, requestId }
  const operation = registry.get(name)
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
    const isFinal = error instanceof NotApplied || isRejection(error)
    if (isFinal && failedChecks + 1 < requiredMisses) await releaseIntent(db, service, write, lookUpIntervalSeconds, 1)
    else if (isFinal) {
      await db.transaction(tx => endIntent(tx, service, write))
      log.info({ ...facts, err: error }, 'write in doubt discarded: it was not applied')
    } else {
      await releaseIntent(db, service, write, outageDelaySeconds)
      log.warn({ ...facts, err: error }, 'write in doubt not recovered yet')
    }
  }
}
