import type { Logger } from 'pino'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { endIntent, type Left, leaveIntent, type Requested } from '../../store/writes/intents.ts'
import { senderWithin } from '../../webhooks/sender.ts'
import { type Carrying, carryOut } from '../../writes/execute.ts'
import { AnsweredBefore } from '../../writes/idempotency.ts'
import { isRejection, NotApplied } from '../../writes/write.ts'
import type { Gate } from '../admission/admit.ts'
import type { Api } from './api.ts'
import { beginOf, type How, howOf, type WriteContext, type WriteMethod, type WriteWork } from './writes.ts'

/** A write as the API has it. */
interface KindOfWrite {
  how: How
  work: WriteWork
}

/** The API's write operations, by method and path. */
export type WriteOperations = ReadonlyMap<string, KindOfWrite>

export function writesOf(resources: readonly ((api: Api) => void)[]): WriteOperations {
  const writes = new Map<string, KindOfWrite>()
  const collected = (method: WriteMethod): Api['post'] => {
    return (path, described, work) => {
      const how = howOf(method, path, described)
      writes.set(how.operation, { how, work: work as WriteWork })
    }
  }
  const api = {
    operations: [],
    get() {},
    list() {},
    stream() {},
    upload() {},
    post: collected('POST'),
    put: collected('PUT'),
    delete: collected('DELETE'),
  }
  for (const resource of resources) resource(api)
  return writes
}

/** How often the back office may know nothing of a write until it is taken for one that was never carried out. */
const looksInVain = 2
/** Seconds between two looks, and until the next attempt where the back office is away. */
const betweenLooks = 60
const afterOutage = 30

interface Settling {
  gate: Pick<Gate, 'db' | 'keys' | 'backOffice' | 'driver'>
  writes: WriteOperations
  log: Logger
}

/**
 * Finds out what has become of a write that nobody is at any more (contributing/decisions/0012), and stores effect, audit and answer where the
 * back office has carried it out. What it knows nothing of is never carried out here.
 */
export async function settle({ gate, writes, log }: Settling, service: Service, left: Left): Promise<void> {
  const { db } = gate
  const { id, keyHash, requestHash, requested, looks } = left
  const { operation, requestId } = requested
  const about = { service: service.name, operation, requestId }
  const kind = writes.get(operation)
  // What only reads leaves nothing to be found.
  if (!kind?.how.audited) {
    await db.transaction(tx => endIntent(tx, service, left))
    return
  }
  const begin = beginOf(kind.how, withoutCaller(gate, service, requested), kind.work)
  const keyed = keyHash && { operation, keyHash, requestHash }
  try {
    await carryOut(gate, service, { id, requestHash, keyed }, requested, begin, left)
    log.info(about, 'A write whose outcome nobody knew was carried out: it is stored.')
  } catch (error) {
    if (error instanceof AnsweredBefore) return
    const isFinal = error instanceof NotApplied || isRejection(error)
    if (isFinal && looks + 1 < looksInVain) await leaveIntent(db, service, left, betweenLooks, 1)
    else if (isFinal) {
      await db.transaction(tx => endIntent(tx, service, left))
      log.info({ ...about, err: error }, 'A write whose outcome nobody knew was not carried out.')
    } else {
      await leaveIntent(db, service, left, afterOutage)
      log.warn({ ...about, err: error }, 'What has become of a write cannot be found out yet.')
    }
  }
}

/** What a write is given whose caller has gone. */
const withoutCaller = (
  { keys, backOffice, driver }: Settling['gate'],
  service: Service,
  { params, body, username, requestId }: Requested,
): Omit<WriteContext, keyof Carrying> => ({
  service,
  keys,
  backOffice: backOffice(service),
  driver: driver(service),
  sender: senderWithin([]),
  params,
  body,
  username,
  requestId,
  origin: { address: '' },
  header: () => undefined,
  strict: false,
  requireMatch() {},
})
