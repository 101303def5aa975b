import { setTimeout as delay } from 'node:timers/promises'
import type { Customer, Tillbridge } from '../../../client/src/index.ts'
import { type Db, sql } from '../../../src/database/db.ts'
import { type CheckResult, check } from '../expectations/check.ts'
import { type Outcome, toOutcome } from '../operations/client.ts'

/** Creates the customer with this email address, which is the Idempotency-Key too. */
export const createCustomer = (api: Tillbridge, email: string): Promise<Outcome<Customer>> =>
  toOutcome(api.customers.create({ firstname: 'Ann', surname: 'Lee', contact: { email } }, { idempotencyKey: email }))

export interface WriterOptions {
  /** Prefix of the email addresses; must be unique in a scenario. */
  prefix: string
  isOver: () => boolean
  /** Pause after an acknowledged customer. Default 5 ms. */
  pauseMs?: number
  /** Pause after any other outcome. Default 100 ms, or `pauseMs` if that is longer. */
  retryMs?: number
  beforeAttempt?: () => void
  onAttempt?: (outcome: Outcome<Customer>, ms: number) => void
}

/** Creates customers one after the other, repeating each until it is acknowledged, and adds their email addresses to `acknowledged`. */
export async function writeCustomers(api: Tillbridge, acknowledged: string[], options: WriterOptions): Promise<void> {
  const { prefix, isOver, pauseMs = 5, retryMs = Math.max(100, pauseMs) } = options
  const { beforeAttempt = () => {}, onAttempt = () => {} } = options
  for (let i = 0; !isOver(); i++) {
    const email = `${prefix}-${i}@example.com`
    for (;;) {
      beforeAttempt()
      const startedAt = performance.now()
      const outcome = await createCustomer(api, email)
      onAttempt(outcome, performance.now() - startedAt)
      if (outcome.status === 201) break
      await delay(retryMs)
    }
    acknowledged.push(email)
    await delay(pauseMs)
  }
}

/** Lets clients write customers at the same time until `isOver`. Counts the responses by status, and requests without a response as `broken`. */
export function startCustomerWriters(
  api: Tillbridge,
  acknowledged: string[],
  {
    clients,
    onAttempt = () => {},
    ...options
  }: Pick<WriterOptions, 'isOver' | 'pauseMs' | 'onAttempt'> & { clients: number },
) {
  const statuses = new Map<string, number>()
  const count: WriterOptions['onAttempt'] = (outcome, ms) => {
    const status = String(outcome.status || 'broken')
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    onAttempt(outcome, ms)
  }
  const ended = Promise.all(
    Array.from({ length: clients }, (_, i) =>
      writeCustomers(api, acknowledged, { ...options, prefix: `c${i}`, onAttempt: count }),
    ),
  )
  return { statuses, ended }
}

/** Resolves with the milliseconds until the next customer is acknowledged. Throws after `timeoutMs`. */
export async function waitForNextCustomer(acknowledged: readonly string[], timeoutMs: number): Promise<number> {
  const [count, startedAt] = [acknowledged.length, performance.now()]
  while (acknowledged.length === count) {
    if (performance.now() - startedAt > timeoutMs) throw new Error(`no customer was created for ${timeoutMs / 1_000} s`)
    await delay(10)
  }
  return performance.now() - startedAt
}

/** Compares the stored customers with those that were acknowledged. */
export async function compareCustomers(db: Db, acknowledged: readonly string[]) {
  const rows = await db.rows<{ email: string }>(sql`select email from customer`)
  const stored = new Set(rows.map(({ email }) => email))
  const expected = new Set(acknowledged)
  return {
    stored,
    lost: acknowledged.filter(email => !stored.has(email)),
    duplicates: rows.length - stored.size,
    unexpected: [...stored].filter(email => !expected.has(email)),
  }
}

/** Checks that every acknowledged customer is stored, and that none is stored twice or without an acknowledgement. */
export async function checkCustomers(db: Db, acknowledged: readonly string[]): Promise<CheckResult[]> {
  const { lost, duplicates, unexpected } = await compareCustomers(db, acknowledged)
  return [
    check('every acknowledged customer is stored', lost, acknowledged.length),
    check('no customer is stored twice or without acknowledgement', [
      ...(duplicates ? [`${duplicates} twice`] : []),
      ...unexpected,
    ]),
  ]
}
