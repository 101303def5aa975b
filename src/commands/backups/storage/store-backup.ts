import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../../../config/config.ts'
import { createTemporaryFolder } from '../../../files/temporary-folder.ts'
import { withStorage } from './open-storage.ts'
import { formatName, listDatabaseBackups } from './storage.ts'

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
  // Another machine can't be written atomically.
  const staging = backupStorage?.type === 'folder' ? undefined : await createStagingFolder(config)
  const file = join(staging ?? (backupStorage?.type === 'folder' ? backupStorage.path : ''), name)
  try {
    const record = await write(file)
    await withStorage(config, async storage => {
      await storage.upload?.(file, name)
      await record()
      console.log(`Backup ${name} stored.`)
      for (const { name: old } of (await listDatabaseBackups(storage, database)).slice(backupKeep))
        await storage.remove(old).then(
          () => console.log(`Backup ${old} deleted, because BACKUP_KEEP is ${backupKeep}.`),
          // The new backup is stored. A failure would be retried with another one.
          ({ message }: Error) => console.error(`tillbridge: Backup ${old} couldn't be deleted: ${message}`),
        )
    })
  } finally {
    if (staging !== undefined) await rm(staging, { recursive: true, force: true })
  }
}

/** Each process has its own, because two can back up the same database. */
async function createStagingFolder({ dataDir }: Config) {
  const uploads = resolve(dataDir, 'backup-upload')
  await mkdir(uploads, { recursive: true, mode: 0o700 })
  return createTemporaryFolder(uploads, 'backup-')
}
