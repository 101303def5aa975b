import { resolve } from 'node:path'
import { readManifest } from '../../backup/manifest.ts'
import { readConfig } from '../../config/config.ts'
import { writeAtomically } from '../../files/atomic-write.ts'
import type { Command } from '../terminal/command.ts'
import { rethrowWriteError } from '../terminal/outgoing-file.ts'
import { formatTable } from '../terminal/table.ts'
import { withStorage } from './storage/open-storage.ts'

/** `tillbridge backup list`. It works without a database. */
export const buildListCommand = (backup: Command) =>
  backup
    .command('list')
    .description('List the backups in BACKUP_STORAGE')
    .examples(['backup list', 'the newest first'])
    .action(async () => {
      const backups = await withStorage(readConfig(), storage => storage.list())
      const toTime = (name: string) => name.replace(/^.*-(\d{8}T\d{6}Z)\.tillbridge$/, '$1')
      const sorted = backups.toSorted((a, b) => toTime(b.name).localeCompare(toTime(a.name)))
      const rows = sorted.map(({ name, bytes }) => [name, `${(bytes / 1e6).toFixed(1)} MB`])
      console.log(rows.length ? formatTable(['name', 'size'], rows) : 'No backups.')
    })

/** `tillbridge backup fetch`. It works without a database, for example on the machine of a restore. */
export const buildFetchCommand = (backup: Command) =>
  backup
    .command('fetch')
    .argument('<name>', 'a name from `tillbridge backup list`')
    .argument('<file>', 'the new file')
    .description('Copy a backup from BACKUP_STORAGE to a file')
    .examples(['backup fetch control-20261127T021500Z.tillbridge now.tillbridge', 'then: backup verify, restore'])
    .action(async (name: string, file: string) => {
      await withStorage(readConfig(), async storage => {
        if (!(await storage.list()).some(stored => stored.name === name))
          throw new Error(`Backup ${name} not found. Run "tillbridge backup list".`)
        await writeAtomically(
          file,
          async draft => {
            await storage.fetch(name, draft)
            await readManifest(draft)
          },
          { isNew: true },
        ).catch(rethrowWriteError(file))
      })
      console.log(`Backup copied to ${resolve(file)}. To check it: tillbridge backup verify ${file}`)
    })
