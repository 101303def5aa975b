/** Settings of PostgreSQL that hold for what is asked over a connection, by their names there. */
type SessionSettings = Readonly<Record<string, string | number>>

/** What a connection begins with. */
export const asOptions = (settings: SessionSettings) =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${String(value).replaceAll(' ', '\\ ')}`)
    .join(' ')

/** The same for a transaction: a statement behind its `begin`. Behind a pooler the next one may go over another connection. */
export const asStatement = (settings: SessionSettings) =>
  `select ${Object.entries(settings)
    .map(([name, value]) => `set_config('${name}', '${value}', true)`)
    .join(', ')}`

/**
 * A plan that is made while a table is empty is kept while it fills: it is one by index from the beginning, and walks no two tables side by
 * side, which costs nothing as long as they are short.
 */
const settledPlans = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
}

interface Wanted {
  /** Milliseconds a statement may take; 0: as long as it needs. */
  statementTimeoutMs: number
  /** Plans each statement once a connection, whatever its values. */
  settled: boolean
  /** Milliseconds a statement may wait for a lock; 0: as long as it may take. */
  lockTimeoutMs: number
}

export const settingsFor = ({ statementTimeoutMs, settled, lockTimeoutMs }: Wanted): SessionSettings => ({
  timezone: 'UTC',
  statement_timeout: statementTimeoutMs,
  idle_in_transaction_session_timeout: 60_000,
  // Row locks and constraints keep writes apart; a stricter level that the database has for all would only refuse them.
  default_transaction_isolation: 'read committed',
  ...(settled && settledPlans),
  ...(lockTimeoutMs > 0 && { lock_timeout: lockTimeoutMs }),
})

/** For work that may take as long as it needs, in a transaction that may stand still meanwhile. */
export const unhurried = { timezone: 'UTC', statement_timeout: 0, idle_in_transaction_session_timeout: 0 }
