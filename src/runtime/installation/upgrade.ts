import { randomBytes } from 'node:crypto'
import { createBackup } from '../../backup/create-backup.ts'
import { readFrames, writeFile } from '../../backup/file.ts'
import type { Progress } from '../../backup/frames.ts'
import { restore } from '../../backup/restore.ts'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/db.ts'
import type { Connection } from '../../database/endpoints.ts'
import { countNoun } from '../../domain/values/nouns.ts'
import type { UpgradeRows } from '../../postgres/upgrade.ts'
import { connect } from './connect.ts'

const progressIntervalMs = 10_000

/** Upgrades a database to another major version of PostgreSQL through a backup and a restore. Reports its progress in lines. */
export const createUpgrade =
  (config: Config, onNotice: (notice: string) => void = () => {}): UpgradeRows =>
  async ({ from, to, file, withOlder, withNewer }) => {
    const withDatabase = async <T>(connection: Connection, work: (db: Database) => Promise<T>) => {
      const { db, close } = await connect(config, connection, { skipMigrations: true, statementTimeoutMs: 0, onNotice })
      return work(db).finally(close)
    }
    onNotice(`The database was written by PostgreSQL ${from}. It is being upgraded to PostgreSQL ${to}.`)
    const verified = await withOlder(older =>
      withDatabase(older, db =>
        writeFile(file, createBackup(db, { onProgress: reportProgress('Read', onNotice) }), {
          onVerify: reportProgress('Verified', onNotice),
          // The file is deleted after the upgrade. Until then it is next to the database, and only this process reads it.
          recipients: 'plain',
          keys: { signing: randomBytes(32) },
        }),
      ),
    )
    await withNewer(newer =>
      withDatabase(newer, db =>
        restore(db, verified, readFrames(file, { onProgress: reportProgress('Written', onNotice) }), {
          keepCursors: true,
        }),
      ),
    )
    onNotice(
      `The database was upgraded to PostgreSQL ${to}: ${countNoun(verified.rows, 'row')}. The previous data directory is kept in DATA_DIR.`,
    )
  }

/** Reports the progress of long work, one line every 10 s. */
function reportProgress(label: string, onNotice: (notice: string) => void): Progress {
  let next = performance.now() + progressIntervalMs
  return ({ bytes, size }) => {
    if (performance.now() < next) return
    next = performance.now() + progressIntervalMs
    onNotice(`${label}: ${(bytes / 1e6).toFixed(0)} MB${size ? ` of ${(size / 1e6).toFixed(0)}` : ''}.`)
  }
}
