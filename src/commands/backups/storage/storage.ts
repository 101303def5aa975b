/**
 * The place of backups that are taken on a schedule. `folder.ts`, `sftp.ts` and `s3.ts` implement it.
 * Guarantee: a file of a backup's name is complete.
 */
export interface BackupStorage {
  list(): Promise<StoredBackup[]>
  /** Stores a complete file. Absent for a folder of this machine: backups are written there. */
  upload?(file: string, name: string): Promise<void>
  /** Copies a stored backup to a file. */
  fetch(name: string, file: string): Promise<void>
  remove(name: string): Promise<void>
  /** Deletes what interrupted runs left, if it is older than a day. */
  removeDrafts(): Promise<void>
  close(): Promise<void>
}

interface StoredBackup {
  name: string
  bytes: number
}

export const maxDraftAgeMs = 86_400_000

/** The name of a stored backup: `control` or the shard, then the UTC time. */
const namePattern = /^([\w-]+)-\d{8}T\d{6}Z\.tillbridge$/

export const formatName = (database: string) =>
  `${database}-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}.tillbridge`

export const isBackupName = (name: string) => namePattern.test(name)

/** True for a file that a run has not completed: of a folder (`writeAtomically`) or of an SFTP server. */
export const isDraftName = (name: string) => /^\.?[\w-]+-\d{8}T\d{6}Z\.tillbridge\.(.*\.)?part$/.test(name)

/** Returns the stored backups of a database, the newest first. */
export const listDatabaseBackups = async (storage: BackupStorage, database: string) =>
  (await storage.list())
    .filter(({ name }) => namePattern.exec(name)?.[1] === database)
    .toSorted((a, b) => (a.name < b.name ? 1 : -1))
