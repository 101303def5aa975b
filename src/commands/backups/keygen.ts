import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createIdentity } from '../../backup/encryption.ts'
import type { Command } from '../terminal/command.ts'
import { rethrowWriteError } from '../terminal/outgoing-file.ts'

/** `tillbridge backup keygen`. It works without a database, for example on a machine that is never online. */
export const buildKeygenCommand = (backup: Command) =>
  backup
    .command('keygen')
    .argument('<file>', 'the new identity file, which restores need')
    .description('Create a key pair for backups (age)')
    .examples(['backup keygen backup-identity.txt', 'prints the public key for BACKUP_RECIPIENTS'])
    .action(async (file: string) => {
      const { recipient, text } = await createIdentity()
      await writeFile(file, text, { flag: 'wx', mode: 0o600 }).catch(rethrowWriteError(file))
      console.log(`Identity file written to ${resolve(file)}. Store it apart from this machine and from the backups.`)
      console.log(`BACKUP_RECIPIENTS=${recipient}`)
    })
