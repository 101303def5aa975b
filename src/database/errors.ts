/**
 * The database is away, or too busy to answer; `cause` says what was met. Nothing is kept of a transaction that ends in it; whether
 * a statement of its own was carried out nobody knows.
 */
export class DatabaseAway extends Error {
  constructor(cause: unknown, message = 'The database cannot be reached.') {
    super(message, { cause })
  }
}

/** PostgreSQL has no room for what is to be written. What is there can be read. */
export class DiskFull extends DatabaseAway {
  constructor(cause: unknown) {
    super(cause, 'The disk of the database is full.')
  }
}

/** It went while a transaction was committed: nobody knows whether the work is kept. */
export class CommitUnknown extends DatabaseAway {
  constructor(cause: unknown) {
    super(cause, 'The database went while the work was committed.')
  }
}

/** The service is written in another database by now, or will be in seconds. Nothing is kept of a transaction that ends in it. */
export class OnTheMove extends DatabaseAway {
  constructor(cause: unknown) {
    super(cause, 'The service is being moved to another database, which takes seconds, or removed.')
  }
}

/** An outage as what it is; anything else stays as it is. */
export const told = (error: unknown) =>
  isMoving(error)
    ? new OnTheMove(error)
    : isFull(error)
      ? new DiskFull(error)
      : isOutage(error)
        ? new DatabaseAway(error)
        : error

/** What `require_writable` of the migrations raises. */
const isMoving = (error: unknown) => (error as { code?: unknown } | undefined)?.code === '57M01'
const isFull = (error: unknown) => (error as { code?: unknown } | undefined)?.code === '53100'

/** Whether the database is away or too busy, rather than the statement wrong (SQLSTATE classes 08, 53 and 57, a statement that was cancelled among them; sockets, of which we may have none left). */
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
