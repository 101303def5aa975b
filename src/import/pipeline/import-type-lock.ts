import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../database/db.ts'
import { openDedicatedConnection } from '../../database/dedicated-connection.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { ImportError } from './import-error.ts'

interface LockOptions {
  /** Called once if the lock is taken. */
  onWait?: (() => void) | undefined
  signal?: AbortSignal | undefined
}

/**
 * Waits until no other import of this type runs for the service in any process, and takes the lock. Returns the function that releases it.
 * The lock belongs to a transaction on a dedicated connection, so that it ends with the process. A session lock could leak behind a
 * connection pooler. The transaction has no snapshot, so it doesn't delay vacuum.
 */
export async function lockImportType(
  db: Database,
  service: Service,
  type: string,
  { onWait = () => {}, signal }: LockOptions = {},
): Promise<() => Promise<void>> {
  const { client, withTimeout, markReusable, destroy, end } = await openDedicatedConnection(db).catch(throwUnreachable)
  signal?.addEventListener('abort', destroy)
  try {
    for (let waiting = false; ; waiting = true) {
      signal?.throwIfAborted()
      const { rows } = await withTimeout(
        client.query<{ taken: boolean }>(`select pg_try_advisory_xact_lock($1, hashtext($2)) as taken`, [
          service.id,
          `import ${type}`,
        ]),
      )
      if (rows[0]?.taken) {
        markReusable()
        return end
      }
      if (!waiting) onWait()
      await delay(500, undefined, { signal })
    }
  } catch (error) {
    await end()
    if (signal?.aborted)
      throw new ImportError('The import was stopped while it waited for another one. Nothing was imported.')
    return throwUnreachable(error)
  } finally {
    signal?.removeEventListener('abort', destroy)
  }
}

function throwUnreachable(cause: unknown): never {
  throw Object.assign(new ImportError('The database is unavailable. Import the file again when it is available.'), {
    cause,
  })
}
