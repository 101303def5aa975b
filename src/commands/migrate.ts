import { readConfig } from '../config/config.ts'
import { joinDatabase } from '../runtime/installation/installation.ts'
import type { Command } from './terminal/command.ts'

export const buildMigrateCommand = (program: Command) =>
  program
    .command('migrate')
    .description('Run database migrations')
    .examples(['migrate', 'migrates before a rollout; every start migrates too'])
    .action(async () => {
      const database = await joinDatabase(readConfig(), { canCreate: true })
      console.log(
        database.migrated.length ? `Applied: ${database.migrated.join(', ')}.` : 'The database is up to date.',
      )
      await database.close()
    })
