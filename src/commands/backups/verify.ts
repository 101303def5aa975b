import { resolve } from 'node:path'
import { readIdentities } from '../../backup/encryption.ts'
import { listSigningSeeds, verifyFile, verifyPayload } from '../../backup/file.ts'
import { readManifest } from '../../backup/manifest.ts'
import { readConfig } from '../../config/config.ts'
import { countNoun } from '../../domain/values/nouns.ts'
import { deriveVerifiedKeys } from '../../runtime/installation/keys.ts'
import type { Command } from '../terminal/command.ts'
import { createBytesDisplay } from '../terminal/progress.ts'

export const identityOption = ['--identity <file>', 'identity file that decrypts the backup'] as const

/** `tillbridge backup verify`. It needs the secret, but no database. */
export const buildVerifyCommand = (backup: Command) =>
  backup
    .command('verify')
    .argument('<file>', 'a file from `tillbridge backup`')
    .option(...identityOption)
    .description('Check a backup: signature, digest and, if it can be decrypted, every row')
    .examples(
      ['backup verify 3.tillbridge', 'checks signature and digest without decrypting the file'],
      ['backup verify 3.tillbridge --identity backup-identity.txt', 'also decrypts it and checks every row'],
    )
    .action(async (file: string, { identity }: { identity?: string }) => {
      const { manifest, seeds } = await readSignedBy(file)
      const identities = identity === undefined ? undefined : await readIdentities(identity)
      const checking = createBytesDisplay('Check')
      const isReadable = identities !== undefined || manifest.recipients === null
      await (isReadable
        ? verifyFile(file, seeds, { identities, onProgress: checking.show })
        : verifyPayload(file, seeds, checking.show)
      ).finally(checking.end)
      const { service, rows, takenAt, release, recipients } = manifest
      console.log(
        `${resolve(file)} is valid: ${countNoun(rows, 'row')}${service === undefined ? '' : `, service ${service},`} as of ${takenAt}, written by Tillbridge ${release}.`,
      )
      console.log(
        isReadable
          ? 'Signature, digest and every row match.'
          : `Signature and digest match. It was not decrypted: add --identity <file> with the private key of ${recipients?.join(' or ')}.`,
      )
    })

/** Reads the manifest of a backup, and returns the seeds of the keys that can have signed it. Throws if this installation has another secret. */
export async function readSignedBy(file: string) {
  const { manifest } = await readManifest(file)
  const digest = Buffer.from(manifest.secret, 'hex')
  const keys = await deriveVerifiedKeys(readConfig(), { digest }, 'goes with this backup')
  return { manifest, seeds: listSigningSeeds(keys) }
}
