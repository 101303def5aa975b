import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { type Database, raw, sql } from '../../src/database/db.ts'
import { defaultSettings, type Service } from '../../src/domain/tenancy/service-settings.ts'
import { type ImportOptions, type ImportSummary, importFile } from '../../src/import/import-file.ts'
import { importTypes } from '../../src/import/pipeline/import-types.ts'
import { type Format, openSource } from '../../src/import/sources/file.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'

export interface ImportResult extends ImportSummary {
  /** The content of the file with the rejected rows; undefined if no row was rejected. */
  rejectedFile: string | undefined
}

/** A service on a separate database, to import files into. */
export interface Shop {
  db: Database
  service: Service
  directory: string
  /** The URL for `pg`. */
  connection: TestDatabase['connection']
  /** Imports text or bytes as a file of this import type. */
  importFile(kind: string, content: string | Buffer, options?: ImportOptions & { file?: string }): Promise<ImportResult>
  importStream(kind: string, chunks: Iterable<Buffer>, format: Format): Promise<ImportSummary>
  /** The contents of all tables that imports write, including change timestamps. */
  dumpTables(): Promise<string>
  /** Runs an SQL statement. Returns its rows. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  queryRows(text: string): Promise<any[]>
  close(): Promise<void>
}

const tables = [
  ...['store', 'staff', 'reference', 'product', 'colour', 'variant', 'stock', 'customer', 'retail_transaction'],
  ...['reward_program', 'reward_tier', 'reward_gift', 'reward_account', 'reward_lot', 'payment_gateway'],
  ...['sales_order', 'order_line', 'order_payment', 'voucher', 'voucher_entry'],
]

export async function openImportShop(): Promise<Shop> {
  const { db, connection, drop } = await createTestDatabase()
  const row = await db.row<{ id: number }>(sql`insert into service (name) values ('shop') returning service_id as id`)
  const service: Service = { id: row?.id ?? 0, name: 'shop', settings: { ...defaultSettings, currency: 'GBP' } }
  const keys = deriveKeys(randomBytes(32))
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-import-'))
  return {
    db,
    service,
    directory,
    connection,
    async importFile(kind, content, { file = `${kind}.csv`, ...options } = {}) {
      const path = join(directory, file)
      await writeFile(path, content)
      const source = await openSource(path)
      const rejectedPath = `${path}.rejected.${source.format}`
      const summary = await importFile(db, service, kind, source, { keys, rejectedPath, ...options })
      return { ...summary, rejectedFile: await readFile(rejectedPath, 'utf8').catch(() => undefined) }
    },
    importStream: (kind, chunks, format) =>
      importFile(db, service, kind, { name: 'a stream', format, stream: Readable.from(chunks) }),
    async dumpTables() {
      const texts = await Promise.all(
        tables.map(table =>
          db.row(sql`select string_agg(t::text, E'\n' order by t::text) as text from ${raw(table)} t`),
        ),
      )
      return JSON.stringify(texts)
    },
    queryRows: text => db.rows(raw(text)),
    async close() {
      await drop()
      await rm(directory, { recursive: true })
    },
  }
}

export const importTypeNames = Object.keys(importTypes) as (keyof typeof importTypes)[]
