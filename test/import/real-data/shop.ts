import { openDatabase } from '../../../src/database/db.ts'
import { type ImportSummary, importFile } from '../../../src/import/import-file.ts'
import { openSource } from '../../../src/import/sources/file.ts'
import { startTestApi } from '../../support/service.ts'
import type { Kind } from './accounts.ts'

/** A service of its own on a database of its own, served over HTTPS. */
export interface Shop {
  /** Imports a file as `tillbridge import` does. */
  importFile(kind: Kind, path: string, rejectedFile: string): Promise<ImportSummary>
  /** The records of a list, page by page. */
  pages(path: string): AsyncGenerator<unknown[]>
  close(): Promise<void>
}

/** Opens a shop with an account that may read: in pounds, British time, and no limit of requests. */
export async function openShop(): Promise<Shop> {
  const settings = { currency: 'GBP', timeZone: 'Europe/London', readsPerMinute: 'off' } as const
  const api = await startTestApi({ settings, role: 'visitor' })
  // An import has no limit of time, and connections of its own.
  const importing = openDatabase(api.database.connection, { statementTimeoutMs: 0 })
  return {
    async importFile(kind, path, rejectedFile) {
      return importFile(importing, api.service, kind, await openSource(path), { rejectedPath: rejectedFile })
    },
    async *pages(path) {
      const query = new URLSearchParams({ limit: '100' })
      for (;;) {
        const { status, text, json } = await api.get(`${path}?${query}`)
        if (status !== 200) throw new Error(`${path} answers ${status}: ${text}`)
        yield json.data
        if (!json.meta.hasNextPage) return
        query.set('after_cursor', json.meta.endCursor)
      }
    },
    async close() {
      await importing.close()
      await api.stop()
    },
  }
}
