import { copyFile, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { writeAtomically } from '../../../files/atomic-write.ts'
import { type BackupStorage, isBackupName, isDraftName, maxDraftAgeMs } from './storage.ts'

/** A folder of this machine, or of a mounted file system. */
export async function openFolder(path: string): Promise<BackupStorage> {
  await mkdir(path, { recursive: true, mode: 0o700 }).catch(({ code }: NodeJS.ErrnoException) => {
    throw new Error(`Folder ${path} of BACKUP_STORAGE can't be created (${code}). Create it, writable for Tillbridge.`)
  })
  const toPath = (name: string) => join(path, name)
  return {
    async list() {
      const names = (await readdir(path)).filter(isBackupName)
      return Promise.all(names.map(async name => ({ name, bytes: (await stat(toPath(name))).size })))
    },
    async store(file, name) {
      if (file !== toPath(name)) await writeAtomically(toPath(name), draft => copyFile(file, draft))
    },
    fetch: (name, file) => copyFile(toPath(name), file),
    remove: name => rm(toPath(name)),
    async removeDrafts() {
      for (const name of (await readdir(path)).filter(isDraftName)) {
        const { mtimeMs } = await stat(toPath(name))
        if (Date.now() - mtimeMs > maxDraftAgeMs) await rm(toPath(name), { force: true })
      }
    },
    close: async () => {},
  }
}
