import { backOfficeFields, parseSftpAddress, type SftpAddress } from '../domain/tenancy/back-office-settings.ts'
import { file, InvalidSetting, integer, optional, type Setting, string } from './parsers.ts'

/** The place of scheduled backups. */
export type BackupStorageAddress =
  | { type: 'folder'; path: string }
  | { type: 'sftp'; address: SftpAddress }
  | { type: 's3'; bucket: string; prefix: string }

function parseStorage(value: string): BackupStorageAddress | undefined {
  if (value.startsWith('/')) return { type: 'folder', path: value }
  const address = parseSftpAddress(value)
  if (address) return { type: 'sftp', address }
  const [, bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]+)(?:\/([\w./-]*))?$/.exec(value) ?? []
  const prefix = path
    .split('/')
    .filter(Boolean)
    .map(part => `${part}/`)
    .join('')
  return bucket === undefined ? undefined : { type: 's3', bucket, prefix }
}

export const backupSettings = {
  BACKUP_RECIPIENTS: {
    description:
      'The age public keys that backups are encrypted to, separated by commas. `tillbridge backup keygen` creates a key pair. `plain`: backups are not encrypted.',
    example: 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p',
    read(value: string | undefined): readonly string[] | 'plain' | undefined {
      if (value === undefined || value === 'plain') return value
      const recipients = value.split(',').map(recipient => recipient.trim())
      if (!recipients.every(recipient => /^age1[a-z0-9]{50,}$/.test(recipient)))
        throw new InvalidSetting('must be age public keys (age1…), separated by commas, or plain')
      return recipients
    },
  } satisfies Setting<readonly string[] | 'plain' | undefined>,
  BACKUP_STORAGE: {
    description:
      'The place of backups: an absolute path, sftp://user@host:22/folder (/~/folder is relative to the home directory), or s3://bucket/prefix. Each installation needs its own.',
    example: '/var/backups/tillbridge',
    read(value: string | undefined): BackupStorageAddress | undefined {
      if (value === undefined) return
      const storage = parseStorage(value)
      if (!storage)
        throw new InvalidSetting(
          'must be an absolute path, sftp://user@host:22/folder without a password, or s3://bucket/prefix',
        )
      return storage
    },
  } satisfies Setting<BackupStorageAddress | undefined>,
  BACKUP_INTERVAL_HOURS: {
    ...integer(
      'Hours between two scheduled backups to BACKUP_STORAGE. If unset, Tillbridge schedules none.',
      24,
      [1, 744],
    ),
    read: (value: string | undefined) => (value === undefined ? undefined : integer('', 0, [1, 744]).read(value)),
  } satisfies Setting<number | undefined>,
  BACKUP_KEEP: integer(
    'Number of backups to keep in BACKUP_STORAGE, of the control database and of each shard. Older ones are deleted after each backup.',
    14,
    [1, 10_000],
  ),
  BACKUP_SFTP_HOST_KEY: {
    description: backOfficeFields.sftpHostKey.description,
    example: backOfficeFields.sftpHostKey.example,
    read(value: string | undefined) {
      const problem = value === undefined ? undefined : backOfficeFields.sftpHostKey.findProblem(value)
      if (problem !== undefined) throw new InvalidSetting(problem)
      return value
    },
  } satisfies Setting<string | undefined>,
  BACKUP_SFTP_KEY_FILE: file(backOfficeFields.sftpKeyFile.description, '/etc/tillbridge/backup_key'),
  BACKUP_SFTP_PASSWORD: optional('The password of the SFTP user, or of the private key.', 'secret'),
  BACKUP_S3_ENDPOINT: {
    description: 'The URL of the S3-compatible service, without the bucket.',
    example: 'https://s3.eu-central-1.amazonaws.com',
    read(value: string | undefined) {
      if (value !== undefined && !/^https?:\/\/[^/?#@]+\/?$/.test(value))
        throw new InvalidSetting('must be a URL such as https://s3.eu-central-1.amazonaws.com')
      return value?.replace(/\/$/, '')
    },
  } satisfies Setting<string | undefined>,
  BACKUP_S3_REGION: string('The region of the bucket. `auto` suits services without regions.', 'auto', 'eu-central-1'),
  BACKUP_S3_ACCESS_KEY: optional('The access key ID of the S3-compatible service.', 'AKIAIOSFODNN7EXAMPLE'),
  BACKUP_S3_SECRET_KEY: optional('The secret access key of that access key ID.', 'secret'),
}

interface BackupConfig {
  backupRecipients: readonly string[] | 'plain' | undefined
  backupStorage: BackupStorageAddress | undefined
  backupIntervalHours: number | undefined
  backupSftpHostKey: string | undefined
  backupSftpKeyFile: string | undefined
  backupSftpPassword: string | undefined
  backupS3Endpoint: string | undefined
  backupS3AccessKey: string | undefined
  backupS3SecretKey: string | undefined
}

/** Returns one sentence per contradiction between the settings of backups. */
export function findBackupContradictions(config: BackupConfig): string[] {
  const { backupStorage: storage, backupIntervalHours, backupRecipients } = config
  const problems: string[] = []
  if (backupIntervalHours !== undefined && (!storage || !backupRecipients))
    problems.push('BACKUP_INTERVAL_HOURS requires BACKUP_STORAGE and BACKUP_RECIPIENTS.')
  if (storage?.type === 'sftp' && config.backupSftpHostKey === undefined)
    problems.push("BACKUP_SFTP_HOST_KEY must be set to the fingerprint of the SFTP server's host key (SHA256:…).")
  if (storage?.type === 'sftp' && config.backupSftpKeyFile === undefined && config.backupSftpPassword === undefined)
    problems.push('BACKUP_SFTP_PASSWORD or BACKUP_SFTP_KEY_FILE must be set to sign in to the SFTP server.')
  const { backupS3Endpoint, backupS3AccessKey, backupS3SecretKey } = config
  if (storage?.type === 's3' && [backupS3Endpoint, backupS3AccessKey, backupS3SecretKey].includes(undefined))
    problems.push('BACKUP_S3_ENDPOINT, BACKUP_S3_ACCESS_KEY and BACKUP_S3_SECRET_KEY must be set for s3:// storage.')
  return problems
}
