import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { joinInstallation } from '../running/installation.ts'
import { examples } from './terminal/examples.ts'

export const migrateCommand = (program: Command) =>
  program
    .command('migrate')
    .description('Bring the database up to date; every start does this too.')
    .addHelpText('after', examples(['migrate', 'before new processes are rolled out']))
    .action(async () => {
      const installation = await joinInstallation(readConfig())
      console.log(
        installation.migrated.length ? `Applied: ${installation.migrated.join(', ')}.` : 'The database is up to date.',
      )
      await installation.close()
    })
