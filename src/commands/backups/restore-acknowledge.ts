import type { Command } from 'commander'
import { noteRestore } from '../../backup/history.ts'
import { examples } from '../terminal/examples.ts'
import { withDatabase } from '../terminal/session.ts'

/** `tillbridge restored`: what `tillbridge restore` does by itself. */
export const restoredCommand = (program: Command) =>
  program
    .command('restored')
    .description(
      'After you brought the database back to an earlier moment yourself: cursors that clients hold expire, so that they begin anew (docs/operate/backup-and-restore.md).',
    )
    .option('--database <name>', 'a data database, rather than the control database')
    .addHelpText('after', examples(['restored', 'after a point-in-time recovery, before tillbridge start']))
    .action(({ database }: { database?: string }) =>
      withDatabase(async ({ databases }) => {
        await noteRestore(await databases.open(database))
        console.log('Cursors from before are expired: whoever follows changes begins anew, and misses nothing.')
      }),
    )
