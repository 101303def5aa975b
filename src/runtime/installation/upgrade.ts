import { readFrames, writeFile } from '../../backup/file.ts'
import type { Progress } from '../../backup/progress.ts'
import { restore } from '../../backup/restore.ts'
import { backupOf } from '../../backup/take.ts'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/db.ts'
import type { Connection } from '../../database/endpoints.ts'
import type { UpgradeRows } from '../../postgres/upgrade.ts'
import { connect } from './connect.ts'

const lineEveryMs = 10_000

/** Upgrades a database to another major version of PostgreSQL through a backup and a restore. Reports its progress in lines. */
export const carryingBy =
  (config: Config, onNotice: (notice: string) => void = () => {}): UpgradeRows =>
  async ({ from, to, file, withOlder: whileOlder, withNewer: whileNewer }) => {
    const by = async <T>(connection: Connection, work: (db: Database) => Promise<T>) => {
      const { db, close } = await connect(config, connection, { asItIs: true, statementTimeoutMs: 0, onNotice })
      return work(db).finally(close)
    }
    onNotice(`The database was written by PostgreSQL ${from}: it is carried over to ${to}, once.`)
    const checked = await whileOlder(older =>
      by(older, db =>
        writeFile(file, backupOf(db, { onProgress: told('Read', onNotice) }), { onCheck: told('Checked', onNotice) }),
      ),
    )
    await whileNewer(newer =>
      by(newer, db => restore(db, checked, readFrames(file, told('Written', onNotice)), { nothingLost: true })),
    )
    onNotice(
      `The database is one of PostgreSQL ${to} now: ${checked.rows.toLocaleString('en')} rows. A copy of before is kept in DATA_DIR.`,
    )
  }

/** Reports the progress of long work, one line every 10 s. */
function told(what: string, onNotice: (notice: string) => void): Progress {
  let next = performance.now() + lineEveryMs
  return ({ bytes, size }) => {
    if (performance.now() < next) return
    next = performance.now() + lineEveryMs
    onNotice(`${what}: ${(bytes / 1e6).toFixed(0)} MB${size ? ` of ${(size / 1e6).toFixed(0)}` : ''}.`)
  }
}
