/** Accounts and their use. They are always in the control database, whatever the service's shard. */
export const accountTables = [
  'account',
  'account_password',
  'account_service',
  'account_use',
  'api_key',
  'deprecated_use',
]

/** Tables that have rows only in the control database. */
export const controlTables = [...accountTables, 'service', 'service_move']

/**
 * Tables whose rows stay in the control database after a service has moved to a shard. Changes of its accounts still write audit entries and
 * idempotent responses there. Rows from before the move stay too: the responses expire within a day, and the entries wait to be
 * forwarded.
 */
export const retainedTables = [...controlTables, 'audit', 'idempotent_response']
