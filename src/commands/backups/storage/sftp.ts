import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { posix } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Config } from '../../../config/config.ts'
import type { SftpAddress } from '../../../domain/tenancy/back-office-settings.ts'
import { openSftp } from '../../../import/sources/sftp-session.ts'
import { type BackupStorage, isBackupName, isDraftName, maxDraftAgeMs } from './storage.ts'

/** A folder of an SFTP server. */
export async function openSftpStorage(
  { backupSftpHostKey = '', backupSftpKeyFile, backupSftpPassword }: Config,
  address: SftpAddress,
): Promise<BackupStorage> {
  const hostKeys = backupSftpHostKey.split(',').map(key => key.trim().replace(/=$/, ''))
  const access = { address, hostKeys, keyFile: backupSftpKeyFile, password: backupSftpPassword }
  const { step, close } = await openSftp(access, new AbortController().signal)
  const folder = address.path
  const toPath = (name: string) => posix.join(folder, name)
  const listFiles = () =>
    step(`list ${folder}`, async client => {
      if (!(await client.exists(folder))) await client.mkdir(folder, true)
      return client.list(folder)
    })
  const remove = (name: string) =>
    step(`delete ${toPath(name)}`, async client => void (await client.delete(toPath(name))))
  return {
    async list() {
      return (await listFiles())
        .filter(({ name }) => isBackupName(name))
        .map(({ name, size }) => ({ name, bytes: size }))
    },
    async upload(file, name) {
      const draft = `${toPath(name)}.part`
      await step(`write ${toPath(name)}`, async (client, onProgress) => {
        const source = createReadStream(file)
        source.on('data', onProgress)
        await client.put(source, draft, { writeStreamOptions: { mode: 0o600 } })
        const [{ size }, stored] = await Promise.all([stat(file), client.stat(draft)])
        if (stored.size !== size) throw new Error(`only ${stored.size} of ${size} bytes were stored`)
        await client.rename(draft, toPath(name))
      })
    },
    fetch: (name, file) =>
      step(`read ${toPath(name)}`, async (client, onProgress) => {
        const source = client.createReadStream(toPath(name))
        source.on('data', onProgress)
        await pipeline(source, createWriteStream(file, { mode: 0o600 }))
      }),
    remove,
    async removeDrafts() {
      for (const { name, modifyTime } of await listFiles())
        if (isDraftName(name) && Date.now() - modifyTime > maxDraftAgeMs) await remove(name)
    },
    close,
  }
}
