import { readConfig } from '../config/config.ts'
import { countNoun } from '../domain/values/nouns.ts'
import { joinDatabase } from '../runtime/installation/installation.ts'
import { hasSecret } from '../runtime/installation/keys.ts'
import { rotateSecret } from '../runtime/shards/rotate-secret.ts'
import { deleteMark, readMark } from '../store/shards/shards.ts'
import { armFailpoint } from '../testing/failpoints.ts'
import type { Command } from './terminal/command.ts'
import { confirmByTyping } from './terminal/confirmation.ts'
import { createShareDisplay } from './terminal/progress.ts'
import { withDatabase } from './terminal/session.ts'

const describeNextStep = ({ isStarted, isEnded }: Awaited<ReturnType<typeof rotateSecret>>) => {
  if (isStarted) return 'Rotation started. Restart every process, then run this command again.'
  if (isEnded) return 'Rotation completed. Remove the previous secret key from SECRET_KEY.'
  return 'Rotation not completed. Keep both secret keys, and run this command again later.'
}

export function buildSecretCommand(program: Command) {
  const secret = program
    .command('secret')
    .description('Manage the secret key')
    .examples(
      ['secret rotate', 'replaces the secret key without an outage'],
      ['secret reset', 'replaces a lost secret key'],
    )

  secret
    .command('rotate')
    .option('--force', 'end the rotation although passwords, API keys or PINs still need the previous secret key')
    .description('Replace the secret key while Tillbridge runs')
    .examples(
      ['secret rotate', 'with SECRET_KEY=<new>,<previous> in every process; run it again after a restart'],
      ['secret rotate --force', 'remaining passwords, API keys and PINs become invalid'],
    )
    .action(({ force = false }: { force?: boolean }) =>
      withDatabase(async ({ control, keys, databases }) => {
        armFailpoint(readConfig().failpoint)
        const encrypting = createShareDisplay('Encrypt')
        const result = await rotateSecret(
          { control, keys, ...databases },
          { force, onProgress: encrypting.show },
        ).finally(encrypting.end)
        console.log(`${countNoun(result.reencrypted, 'value')} encrypted with the new secret key.`)
        const { passwords, pins } = result
        if (passwords + pins)
          console.log(
            `Passwords and API keys (${passwords}) and voucher PINs (${pins}) change to it at their next use.`,
          )
        console.log(describeNextStep(result))
      }),
    )

  secret
    .command('reset')
    .option('--yes', 'skip the confirmation')
    .description('Replace a lost secret key')
    .examples(
      ['secret reset', 'asks for confirmation; all processes must be stopped'],
      ['secret reset --yes', 'skips the confirmation; for a shard, set DATABASE_URL to it'],
    )
    .action(async ({ yes = false }: { yes?: boolean }) => {
      const config = readConfig()
      const { db, postgres, close } = await joinDatabase(config, { skipMigrations: true })
      try {
        // A running process would keep encrypting with the lost key.
        if (config.databaseUrl === undefined && !postgres)
          throw new Error('The database is in use. Stop every process first.')
        const mark = await readMark(db)
        if (!mark) throw new Error("This database has no secret key yet, so it can't be reset.")
        if (await hasSecret(config, mark.digest))
          throw new Error("The current secret key is the right one, so it can't be reset.")
        const label = mark.name === null ? 'this database' : `shard ${mark.name}`
        process.stderr.write(
          `Passwords, PINs, webhook secrets and queued emails in ${label} will be permanently lost. All processes must be stopped.\n`,
        )
        if (!(yes || (await confirmByTyping('reset', 'To reset the secret key'))))
          throw new Error('Not confirmed. The secret key was not reset.')
        await deleteMark(db)
        console.log(
          'Secret key reset. The next start stores a new one. Next steps: docs/operate/backup-and-restore.md, "A secret that is lost".',
        )
      } finally {
        await close()
      }
    })
}
