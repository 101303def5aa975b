import type { Command } from 'commander'
import { readConfig } from '../config/config.ts'
import { joinDatabase } from '../runtime/installation/installation.ts'
import { isKept } from '../runtime/installation/keys.ts'
import { forgetMark, readMark } from '../store/shards/shards.ts'
import { isTyped } from './terminal/confirmation.ts'
import { examples } from './terminal/examples.ts'

export function secretCommand(program: Command) {
  const secret = program
    .command('secret')
    .description('The secret that passwords, PINs and all that is encrypted go with.')
    .addHelpText('after', examples(['secret forget', 'where it is lost for good']))

  secret
    .command('forget')
    .option('--yes', 'do not ask')
    .description('Where the secret is lost for good: have the database take another one (docs/operate/backup-and-restore.md).')
    .addHelpText(
      'after',
      examples(
        ['secret forget', 'while no process runs; asks first'],
        ['secret forget --yes', 'for scripts; a data database is named by DATABASE_URL'],
      ),
    )
    .action(async ({ yes = false }: { yes?: boolean }) => {
      const config = readConfig()
      const { db, postgres, close } = await joinDatabase(config, { asItIs: true })
      try {
        // A process that has begun with the lost one would go on sealing with it.
        if (config.databaseUrl === undefined && !postgres)
          throw new Error('A process has this database open: stop every process first.')
        const known = await readMark(db)
        if (!known) throw new Error('This database goes with no secret yet: nothing is to be forgotten.')
        if (await isKept(config, known.digest))
          throw new Error('The secret is here, and the right one: nothing is to be forgotten.')
        const what = known.name === null ? 'this database' : `the data database ${known.name}`
        process.stderr.write(
          `Passwords, PINs, secrets of webhooks and e-mails that wait in ${what} are lost for good. No process may run on it.\n`,
        )
        if (!(yes || (await isTyped('forget', 'To have it take another secret'))))
          throw new Error('Nothing was forgotten.')
        await forgetMark(db)
        console.log(
          'The secret is forgotten; the next one that the database sees is the one it goes with. What is to be done next: docs/operate/backup-and-restore.md, "A secret that is lost".',
        )
      } finally {
        await close()
      }
    })
}
