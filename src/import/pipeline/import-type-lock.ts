import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../database/db.ts'
import { openDedicatedConnection } from '../../database/dedicated-connection.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { ImportError } from './import-error.ts'

interface Waiting {
  /** Called where it has to wait. */
  onWait?: (() => void) | undefined
  signal?: AbortSignal | undefined
}

/**
 * Waits until no other import of this kind runs for the service, in whatever process, and keeps others waiting until the answer is
 * called. The lock belongs to a transaction that stays open on a connection of its own, beside the pool that others read by, so that it
 * goes with the process, however that ends; behind a pooler the connection alone would be another one's too. It looks at nothing, so that no
 * vacuum waits for it.
 */
export async function lockImportType(
  db: Database,
  service: Service,
  type: string,
  { onWait = () => {}, signal }: Waiting = {},
): Promise<() => Promise<void>> {
  const { client, withTimeout, markReusable, destroy, end } = await openDedicatedConnection(db).catch(away)
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
    if (signal?.aborted) throw new ImportError('Stopped while it waited: nothing was imported.')
    return away(error)
  } finally {
    signal?.removeEventListener('abort', destroy)
  }
}

function away(cause: unknown): never {
  throw Object.assign(new ImportError('The database cannot be reached; import the file again when it is back.'), {
    cause,
  })
}
