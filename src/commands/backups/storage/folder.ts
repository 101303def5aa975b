import { copyFile, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoreError } from '../../../telemetry/ignored-errors.ts'
import { type BackupStorage, isBackupName, isDraftName, maxDraftAgeMs } from './storage.ts'

/** A folder of this machine, or of a mounted file system. Backups of several databases are written to it at the same time. */
export async function openFolder(path: string): Promise<BackupStorage> {
  await mkdir(path, { recursive: true, mode: 0o700 }).catch(({ code }: NodeJS.ErrnoException) => {
    throw new Error(`Folder ${path} of BACKUP_STORAGE can't be created (${code}). Create it, writable for Tillbridge.`)
  })
  const toPath = (name: string) => join(path, name)
  /** Lists the files whose name matches. Those that another process deletes or renames in this moment are left out. */
  async function listFiles(matches: (name: string) => boolean) {
    const files = (await readdir(path)).filter(matches).map(async name => {
      const file = await ignoreError(stat(toPath(name)), 'backup disappeared')
      return file ? [{ name, bytes: file.size, mtimeMs: file.mtimeMs }] : []
    })
    return (await Promise.all(files)).flat()
  }
  return {
    list: () => listFiles(isBackupName),
    fetch: (name, file) => copyFile(toPath(name), file),
    remove: name => rm(toPath(name), { force: true }),
    async removeDrafts() {
      for (const { name, mtimeMs } of await listFiles(isDraftName))
        if (Date.now() - mtimeMs > maxDraftAgeMs) await rm(toPath(name), { force: true })
    },
    close: async () => {},
  }
}
