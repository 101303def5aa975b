import { openDatabase } from '../../../src/database/db.ts'
import { type ImportSummary, importFile } from '../../../src/import/import-file.ts'
import { openSource } from '../../../src/import/sources/file.ts'
import { startTestApi } from '../../support/service.ts'
import type { RealDataType } from './accounts.ts'

/** A service with its own database, served over HTTPS. */
export interface Shop {
  /** Imports a file as `tillbridge import` does. */
  importFile(kind: RealDataType, path: string, rejectedFile: string): Promise<ImportSummary>
  /** Yields the pages of a list. */
  readPages(path: string): AsyncGenerator<unknown[]>
  close(): Promise<void>
}

/** Opens a shop in pounds and British time, with a read-only account and without request limits. */
export async function openShop(): Promise<Shop> {
  const settings = { currency: 'GBP', timeZone: 'Europe/London', readsPerMinute: 'off' } as const
  const api = await startTestApi({ settings, role: 'visitor' })
  // Imports have no statement timeout and use their own connections.
  const importDatabase = openDatabase(api.database.connection, { statementTimeoutMs: 0 })
  return {
    async importFile(kind, path, rejectedFile) {
      return importFile(importDatabase, api.service, kind, await openSource(path), { rejectedPath: rejectedFile })
    },
    async *readPages(path) {
      const query = new URLSearchParams({ limit: '100' })
      for (;;) {
        const { status, text, json } = await api.get(`${path}?${query}`)
        if (status !== 200) throw new Error(`${path} returned ${status}: ${text}`)
        yield json.data
        if (!json.meta.hasNextPage) return
        query.set('after_cursor', json.meta.endCursor)
      }
    },
    async close() {
      await importDatabase.close()
      await api.stop()
    },
  }
}
