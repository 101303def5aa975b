import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../../../config/config.ts'
import { withStorage } from './open-storage.ts'
import { formatName, listBackupsOf } from './storage.ts'

/**
 * Writes a backup with `write`, stores it in BACKUP_STORAGE, calls the function that `write` returned, then deletes the backups beyond
 * BACKUP_KEEP. No connection to the storage is open while the database is read.
 */
export async function storeBackup(
  config: Config,
  database: string,
  write: (path: string) => Promise<() => Promise<unknown>>,
): Promise<void> {
  // Fails before the backup if the storage is unreachable.
  await withStorage(config, async storage => {
    await storage.list()
    await storage.removeDrafts()
  })
  const { backupStorage, backupKeep } = config
  const name = formatName(database)
  // Another file system or machine can't be written atomically.
  const staging = backupStorage?.type === 'folder' ? undefined : resolve(config.dataDir, 'backup-upload', database)
  const folder = staging ?? (backupStorage?.type === 'folder' ? backupStorage.path : '')
  try {
    if (staging !== undefined) {
      await rm(staging, { recursive: true, force: true })
      await mkdir(staging, { recursive: true, mode: 0o700 })
    }
    const record = await write(join(folder, name))
    await withStorage(config, async storage => {
      await storage.store(join(folder, name), name)
      await record()
      console.log(`Backup ${name} stored.`)
      for (const old of (await listBackupsOf(storage, database)).slice(backupKeep)) {
        await storage.remove(old.name)
        console.log(`Backup ${old.name} deleted, because BACKUP_KEEP is ${backupKeep}.`)
      }
    })
  } finally {
    if (staging !== undefined) await rm(staging, { recursive: true, force: true })
  }
}
