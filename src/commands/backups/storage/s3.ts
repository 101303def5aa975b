import { createWriteStream, openAsBlob } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { S3mini } from 's3mini'
import type { BackupStorageAddress } from '../../../config/backup.ts'
import type { Config } from '../../../config/config.ts'
import { type BackupStorage, isBackupName } from './storage.ts'

/** Size of a part of an upload. S3 accepts 10,000 parts, so a file can have 160 GB. */
const partBytes = 16 * 1024 * 1024

/**
 * A bucket of an S3-compatible service. Objects are visible only when their upload is complete. `fetch` of Node.js ends a request that makes
 * no progress for five minutes. A limit for the whole request would make downloads of large backups fail.
 */
export function openS3(
  { backupS3Endpoint = '', backupS3Region, backupS3AccessKey = '', backupS3SecretKey = '' }: Config,
  { bucket, prefix }: Extract<BackupStorageAddress, { type: 's3' }>,
): BackupStorage {
  const client = new S3mini({
    endpoint: `${backupS3Endpoint}/${bucket}`,
    region: backupS3Region,
    accessKeyId: backupS3AccessKey,
    secretAccessKey: backupS3SecretKey,
    requestSizeInBytes: partBytes,
    minPartSize: partBytes,
  })
  const label = `The S3 bucket ${bucket} at ${backupS3Endpoint}`
  const step = <T>(action: string, work: Promise<T>): Promise<T> =>
    work.catch(({ message, cause }: Error & { cause?: { code?: string } }) => {
      throw new Error(`${label} couldn't ${action}: ${cause?.code ?? message}.`)
    })
  return {
    async list() {
      const objects = await step('list backups', client.listObjects('/', prefix))
      if (!objects) throw new Error(`${label} doesn't exist. Create it, or correct BACKUP_STORAGE.`)
      return objects
        .map(({ Key, Size }) => ({ name: Key.slice(prefix.length), bytes: Number(Size) }))
        .filter(({ name }) => isBackupName(name))
    },
    async upload(file, name) {
      await step(`store ${name}`, client.putAnyObject(prefix + name, await openAsBlob(file)))
    },
    async fetch(name, file) {
      const response = await step(`read ${name}`, client.getObjectResponse(prefix + name))
      if (!response?.body) throw new Error(`Backup ${name} not found. Run "tillbridge backup list".`)
      await step(`read ${name}`, pipeline(Readable.from(response.body), createWriteStream(file, { mode: 0o600 })))
    },
    async remove(name) {
      await step(`delete ${name}`, client.deleteObject(prefix + name))
    },
    // Interrupted uploads aren't objects. A lifecycle rule of the bucket deletes their parts.
    removeDrafts: async () => {},
    close: async () => {},
  }
}
