import type { Command } from 'commander'
import { checkFile, readFrames } from '../../backup/file.ts'
import { restore } from '../../backup/restore.ts'
import { readConfig } from '../../config/config.ts'
import { openWithoutMigrating } from '../../runtime/installation/installation.ts'
import { rightKeys } from '../../runtime/installation/keys.ts'
import { examples } from '../terminal/examples.ts'
import { bytesDisplay, rateOf, shareDisplay } from '../terminal/progress.ts'

export const restoreCommand = (program: Command) =>
  program
    .command('restore')
    .argument('<file>', 'what `tillbridge backup` has made')
    .option('--nothing-lost', 'nothing was written since the backup: cursors that clients hold stay good')
    .description(
      'Put a backup into an empty database: the bundled one, or that of DATABASE_URL. All of it comes in, or nothing.',
    )
    .addHelpText(
      'after',
      examples(
        [
          'restore 2026-11-22.tillbridge',
          'into the bundled PostgreSQL of a DATA_DIR that holds the secret, and nothing else',
        ],
        ['restore --nothing-lost moved.tillbridge', 'a move: the service was stopped before the backup was taken'],
      ),
    )
    .action(async (file: string, { nothingLost = false }: { nothingLost?: boolean }) => {
      const config = readConfig()
      const checking = bytesDisplay('Check')
      const checked = await checkFile(file, checking.show).finally(checking.end)
      await rightKeys(config, Buffer.from(checked.head.secret, 'hex'), 'goes with this backup')
      const { db, close } = await openWithoutMigrating(config)
      const loading = bytesDisplay('Load')
      const indexing = shareDisplay('Index')
      try {
        const began = performance.now()
        const { migrated, dataDatabase } = await restore(db, checked, readFrames(file, loading.show), {
          nothingLost,
          onIndexing(share) {
            loading.end()
            indexing.show(share)
          },
        }).finally(() => {
          loading.end()
          indexing.end()
        })
        const { head, rows, bytes } = checked
        console.log(
          `Restored ${rows.toLocaleString('en')} rows${head.service === undefined ? '' : ` of the service ${head.service}`} as of ${head.takenAt}: ${rateOf(bytes, performance.now() - began)}.`,
        )
        if (migrated.length) console.log(`Migrated: ${migrated.join(', ')}.`)
        if (dataDatabase !== undefined)
          console.log(
            `It is the data database ${dataDatabase}. Next, also where its address is what it was: tillbridge database add ${dataDatabase}`,
          )
        if (!nothingLost)
          console.log('Cursors from before are expired: whoever follows changes begins anew, and misses nothing.')
      } finally {
        await close()
      }
    })
