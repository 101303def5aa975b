import { readIdentities } from '../../backup/encryption.ts'
import { readFrames, verifyFile } from '../../backup/file.ts'
import { recordRestore } from '../../backup/history.ts'
import { restore } from '../../backup/restore.ts'
import { readConfig } from '../../config/config.ts'
import { countNoun } from '../../domain/values/nouns.ts'
import { openWithoutMigrating } from '../../runtime/installation/installation.ts'
import type { Command } from '../terminal/command.ts'
import { createBytesDisplay, createShareDisplay, formatRate } from '../terminal/progress.ts'
import { withDatabase } from '../terminal/session.ts'
import { identityOption, readSignedBy } from './verify.ts'

/** `tillbridge restore <file>` and `tillbridge restore acknowledge`. */
export function buildRestoreCommand(program: Command) {
  const restoreInto = program
    .command('restore')
    .argument('<file>', 'a file from `tillbridge backup`')
    .option(...identityOption)
    .option('--keep-cursors', 'keep client cursors valid (only if nothing was written since the backup)')
    .description('Restore a backup into an empty database')
    .examples(
      [
        'restore --identity backup-identity.txt 2026-11-22.tillbridge',
        'restores into the bundled PostgreSQL; DATA_DIR must contain only the secret key',
      ],
      [
        'restore --keep-cursors --identity backup-identity.txt moved.tillbridge',
        'after a move with all processes stopped',
      ],
      ['restore acknowledge', 'after a restore with other tools'],
    )
    .action(async (file: string, { identity, keepCursors = false }: RestoreOptions) => {
      const { seeds } = await readSignedBy(file)
      const identities = identity === undefined ? undefined : await readIdentities(identity)
      const checking = createBytesDisplay('Check')
      const checked = await verifyFile(file, seeds, { identities, onProgress: checking.show }).finally(checking.end)
      const { db, close } = await openWithoutMigrating(readConfig())
      const loading = createBytesDisplay('Load')
      const indexing = createShareDisplay('Index')
      try {
        const began = performance.now()
        const { migrated, shard } = await restore(
          db,
          checked,
          readFrames(file, { identities, onProgress: loading.show }),
          {
            keepCursors,
            onIndexing(share) {
              loading.end()
              indexing.show(share)
            },
          },
        ).finally(() => {
          loading.end()
          indexing.end()
        })
        const { head, rows, bytes } = checked
        console.log(
          `Restored ${countNoun(rows, 'row')}${head.service === undefined ? '' : `, service ${head.service},`} as of ${head.takenAt}: ${formatRate(bytes, performance.now() - began)}.`,
        )
        if (migrated.length) console.log(`Migrated: ${migrated.join(', ')}.`)
        if (shard !== undefined)
          console.log(`It is shard ${shard}. Next, even if its URL is unchanged: tillbridge shard add ${shard}`)
        if (!keepCursors)
          console.log('Older cursors expired. Clients of the change feed start over and miss no change.')
      } finally {
        await close()
      }
    })
  buildAcknowledgeCommand(restoreInto)
}

interface RestoreOptions {
  identity?: string
  keepCursors?: boolean
}

/** `tillbridge restore acknowledge`. `tillbridge restore <file>` does the same automatically. */
const buildAcknowledgeCommand = (parent: Command) =>
  parent
    .command('acknowledge')
    .description('Expire cursors after a restore with other tools')
    .option('--shard <name>', 'a shard instead of the control database')
    .examples(['restore acknowledge', 'after a point-in-time recovery, before tillbridge start'])
    .action(({ shard }: { shard?: string }) =>
      withDatabase(async ({ databases }) => {
        await recordRestore(await databases.open(shard))
        console.log('Older cursors expired. Clients of the change feed start over and miss no change.')
      }),
    )
