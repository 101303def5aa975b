import type { Command } from 'commander'
import { readConfig } from '../config/config.ts'
import { joinDatabase } from '../runtime/installation/installation.ts'
import { examples } from './terminal/examples.ts'

export const migrateCommand = (program: Command) =>
  program
    .command('migrate')
    .description('Bring the database up to date; every start does this too.')
    .addHelpText('after', examples(['migrate', 'before new processes are rolled out']))
    .action(async () => {
      const database = await joinDatabase(readConfig(), { mayMake: true })
      console.log(
        database.migrated.length ? `Applied: ${database.migrated.join(', ')}.` : 'The database is up to date.',
      )
      await database.close()
    })
