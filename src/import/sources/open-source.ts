import { access, lstat, mkdir, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type BackOfficeSettings, parseSftpAddress } from '../../domain/tenancy/back-office-settings.ts'
import { ignoreError } from '../../telemetry/ignored-errors.ts'
import { type ExportFolder, ExportsUnreadable, findFreeName } from './export-source.ts'
import { openSftpFolder } from './sftp.ts'

/** Opens the export folder: a local one, or one on an SFTP server. The caller must close it. `signal` aborts the work. */
export async function openExports(settings: BackOfficeSettings, signal: AbortSignal): Promise<ExportFolder> {
  const { exportFolder = '', sftpHostKey = '', sftpKeyFile: keyFile, sftpPassword: password } = settings
  const address = parseSftpAddress(exportFolder)
  if (!address) return openFolder(exportFolder)
  const hostKeys = sftpHostKey.split(',').map(fingerprint => fingerprint.trim().replace(/=+$/, ''))
  return openSftpFolder({ address, hostKeys, keyFile, password }, signal)
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

export function openFolder(folder: string): ExportFolder {
  const toExportsUnreadable = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      const { code = 'no code' } = error as NodeJS.ErrnoException
      throw new ExportsUnreadable(`The export folder ${folder} can't be used (${code}).`)
    }
  }
  const createFolders = async () => {
    for (const name of ['done', 'failed']) await mkdir(join(folder, name), { recursive: true })
  }
  return {
    createFolders: () => toExportsUnreadable(access(folder).then(createFolders)),
    listNames: () => toExportsUnreadable(readdir(folder)),
    async getVersion(name) {
      // The file can have been removed since it was listed.
      const file = await ignoreError(lstat(join(folder, name)), 'export file disappeared')
      return file?.isFile() ? { size: file.size, changedAt: file.mtimeMs } : undefined
    },
    async fetch(name) {
      await toExportsUnreadable(createFolders())
      return { path: join(folder, name), rejectedPath: join(folder, 'failed', `${name}.rejected.ndjson`) }
    },
    moveTo: (name, to) =>
      toExportsUnreadable(
        (async () => {
          await createFolders()
          const target = await findFreeName(join(folder, to, name), exists)
          await rename(join(folder, name), target)
          return target
        })(),
      ),
    async close() {},
  }
}
