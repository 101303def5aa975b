/** PostgreSQL settings of a session, by name. */
type SessionSettings = Readonly<Record<string, string | number>>

/** Returns the settings as the `options` of a connection. */
export const toConnectionOptions = (settings: SessionSettings) =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${String(value).replaceAll(' ', '\\ ')}`)
    .join(' ')

/** Returns a statement that applies the settings to the current transaction. Behind a pooler, the next transaction can use another connection. */
export const toSetStatement = (settings: SessionSettings) =>
  `select ${Object.entries(settings)
    .map(([name, value]) => `set_config('${name}', '${value}', true)`)
    .join(', ')}`

/**
 * Plans for writes, which find their rows by key. PostgreSQL plans each statement once per connection, so a plan from an empty table stays in
 * use while the table fills: it must use indexes from the start. Reasons: contributing/decisions/0035-planner-fences.md.
 */
const genericPlans = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_mergejoin: 'off',
}

interface SettingsOptions {
  /** Milliseconds a statement can take; 0: no limit. */
  statementTimeoutMs: number
  /** Plans each statement once per connection, whatever its values. */
  genericPlans: boolean
  /** Milliseconds a statement can wait for a lock; 0: no limit. */
  lockTimeoutMs: number
}

/** Returns the settings of a session that runs statements of Tillbridge. */
export const createSessionSettings = (options: SettingsOptions): SessionSettings => ({
  timezone: 'UTC',
  statement_timeout: options.statementTimeoutMs,
  idle_in_transaction_session_timeout: 60_000,
  // Row locks and constraints isolate writes. A stricter default of the database would only make them fail.
  default_transaction_isolation: 'read committed',
  // Compiling a page of the change feed took PostgreSQL up to 15 s. Running it takes milliseconds.
  jit: 'off',
  ...(options.genericPlans && genericPlans),
  ...(options.lockTimeoutMs > 0 && { lock_timeout: options.lockTimeoutMs }),
})

/** For work of any duration, in a transaction that can be idle. */
export const withoutTimeouts = { timezone: 'UTC', statement_timeout: 0, idle_in_transaction_session_timeout: 0 }
