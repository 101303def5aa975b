/**
 * The database is unavailable or overloaded; `cause` is the original error. A transaction that throws this is rolled back. A single statement
 * outside a transaction may have run.
 */
export class DatabaseUnavailable extends Error {
  constructor(cause: unknown, message = 'The database is unavailable.') {
    super(message, { cause })
  }
}

/** The disk of the database is full. Reads still work. */
export class DiskFull extends DatabaseUnavailable {
  constructor(cause: unknown) {
    super(cause, 'The disk of the database is full.')
  }
}

/** The connection broke during a commit. The work may be committed or not. */
export class CommitUnknown extends DatabaseUnavailable {
  constructor(cause: unknown) {
    super(cause, 'The connection to the database broke during a commit.')
  }
}

/** Writes of the service are paused, or go to another shard, now or within seconds. A transaction that throws this is rolled back. */
export class ServiceMoving extends DatabaseUnavailable {
  constructor(cause: unknown) {
    super(cause, 'The service is being moved to another shard, restored or deleted.')
  }
}

/** Converts an outage to one of the errors above. Returns other errors unchanged. */
export const toDatabaseError = (error: unknown) =>
  isMoving(error)
    ? new ServiceMoving(error)
    : isDiskFull(error)
      ? new DiskFull(error)
      : isOutage(error)
        ? new DatabaseUnavailable(error)
        : error

/** True for the error that the SQL function `require_writable` raises. */
const isMoving = (error: unknown) => (error as { code?: unknown } | undefined)?.code === '57M01'
const isDiskFull = (error: unknown) => (error as { code?: unknown } | undefined)?.code === '53100'

/**
 * True if the database is unavailable or overloaded, so that the statement is not the cause.
 * These are SQLSTATE classes 08, 53 and 57 (also a cancelled statement) and socket errors (also a lack of file descriptors).
 */
export function isOutage(error: unknown) {
  if (!(error instanceof Error)) return false
  const code = String((error as { code?: unknown }).code ?? '')
  if (
    /^(08|53|57)|^(ECONN|ENOENT|EPIPE|EMFILE|ENFILE|EAGAIN|EADDRNOTAVAIL|ENOBUFS|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_)/.test(
      code,
    )
  )
    return true
  return /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered|Cannot use a pool after)/.test(
    error.message,
  )
}
