import type { Command } from 'commander'
import { noteRestore } from '../../backup/history.ts'
import { examples } from '../terminal/examples.ts'
import { withDatabase } from '../terminal/session.ts'

/** `tillbridge restore acknowledge`. `tillbridge restore <file>` does the same automatically. */
export const acknowledgeCommand = (restore: Command) =>
  restore
    .command('acknowledge')
    .description('Expire cursors after a restore with other tools')
    .option('--shard <name>', 'a shard instead of the control database')
    .addHelpText('after', examples(['restore acknowledge', 'after a point-in-time recovery, before tillbridge start']))
    .action(({ shard }: { shard?: string }) =>
      withDatabase(async ({ databases }) => {
        await noteRestore(await databases.open(shard))
        console.log('Older cursors expired. Clients of the change feed start over and miss no change.')
      }),
    )
