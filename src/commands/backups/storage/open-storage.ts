import type { Config } from '../../../config/config.ts'
import type { BackupStorage } from './storage.ts'

/** Opens BACKUP_STORAGE for some work, and closes it. Throws if the setting is missing. */
export async function withStorage<T>(config: Config, work: (storage: BackupStorage) => Promise<T>): Promise<T> {
  const storage = await openStorage(config)
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}

async function openStorage(config: Config): Promise<BackupStorage> {
  const { backupStorage: address } = config
  switch (address?.type) {
    case 'folder':
      return (await import('./folder.ts')).openFolder(address.path)
    case 'sftp':
      return (await import('./sftp.ts')).openSftpStorage(config, address.address)
    case 's3':
      return (await import('./s3.ts')).openS3(config, address)
    default:
      throw new Error(
        'BACKUP_STORAGE must be set to a folder, an SFTP server or an S3-compatible bucket, or name a file.',
      )
  }
}
