import { createWriteStream, openAsBlob } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { S3mini } from 's3mini'
import type { BackupStorageAddress } from '../../../config/backup.ts'
import type { Config } from '../../../config/config.ts'
import { type BackupStorage, isBackupName } from './storage.ts'

/** Size of a part of an upload. S3 accepts 10,000 parts, so a file can have 160 GB. */
const partBytes = 16 * 1024 * 1024
const requestTimeoutMs = 300_000

/** A bucket of an S3-compatible service. Objects are visible only when their upload is complete. */
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
    requestAbortTimeout: requestTimeoutMs,
  })
  const step = <T>(action: string, work: Promise<T>): Promise<T> =>
    work.catch((error: Error & { code?: string; cause?: { code?: string } }) => {
      const reason = error.code ?? error.cause?.code ?? error.message
      throw new Error(`The S3 bucket ${bucket} at ${backupS3Endpoint} couldn't ${action}: ${reason}.`)
    })
  return {
    async list() {
      const objects = await step('list backups', client.listObjects('/', prefix))
      return (objects ?? [])
        .map(({ Key, Size }) => ({ name: Key.slice(prefix.length), bytes: Number(Size) }))
        .filter(({ name }) => isBackupName(name))
    },
    async store(file, name) {
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
