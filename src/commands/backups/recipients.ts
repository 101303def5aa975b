import type { Recipients } from '../../backup/encryption.ts'
import type { Config } from '../../config/config.ts'

export const plainDescription = "don't encrypt the backup"

/** Returns the recipients of a new backup. Throws if none are configured and `--plain` is not set. */
export function chooseRecipients({ backupRecipients }: Config, plain = false): Recipients {
  const recipients = plain ? 'plain' : backupRecipients
  if (recipients) return recipients
  throw new Error(
    'A backup must be encrypted, but BACKUP_RECIPIENTS is not set. Set it to the public key that "tillbridge backup keygen <file>" prints, or add --plain.',
  )
}
