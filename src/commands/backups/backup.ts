import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { writeFile, writeTo } from '../../backup/file.ts'
import type { Head } from '../../backup/frames.ts'
import { noteBackup } from '../../backup/history.ts'
import { backupOf } from '../../backup/take.ts'
import { paced, usualShare } from '../../backup/throttle.ts'
import { readConfig } from '../../config/config.ts'
import type { OpenedDatabase } from '../../runtime/installation/connect.ts'
import { joinDatabase } from '../../runtime/installation/installation.ts'
import { knownKeys } from '../../runtime/installation/keys.ts'
import { reachDatabase } from '../../runtime/shards/reach-shard.ts'
import { listDatabases } from '../../store/shards/shards.ts'
import { examples } from '../terminal/examples.ts'
import { notWritten } from '../terminal/outgoing-file.ts'
import { bytesDisplay, rateOf } from '../terminal/progress.ts'

/** `tillbridge backup`. It migrates nothing: a backup before an upgrade is one of what was there. */
export const backupCommand = (program: Command) =>
  program
    .command('backup')
    .argument('<file>', 'where to; - is standard output')
    .option('--database <name>', 'a data database, rather than the control database: each has a backup of its own')
    .addOption(
      new Option('--share <percent>', "of one core's time that it may take; 100: as fast as it can")
        .default(usualShare, String(usualShare * 100))
        .argParser(percent),
    )
    .description(
      'Back up everything, as it stands at one moment, while the service goes on. The secret is not in it: keep that elsewhere (docs/operate/backup-and-restore.md).',
    )
    .addHelpText(
      'after',
      examples(
        ['backup /backups/$(date +%F).tillbridge', 'checked by reading it back before it gets its name'],
        [
          'backup /backups/now.tillbridge --share 100',
          'in an eighth of the time, while others wait longer for their answers',
        ],
        ['backup - | ssh elsewhere "cat > tillbridge.backup"', 'kept on another machine; there: tillbridge restore'],
      ),
    )
    .action(async (file: string, { database, share }: { database?: string; share: number }) => {
      const config = readConfig()
      const opening = { asItIs: true, statementTimeoutMs: 0 }
      const control = await joinDatabase(config, opening)
      let data: OpenedDatabase | undefined
      try {
        const keys = await knownKeys(config, control.db)
        if (database !== undefined) data = await reachDatabase(config, { ...control, keys }, database, opening)
        const { db } = data ?? control
        const notInIt = (data ? [] : await listDatabases(db)).map(
          ({ name }) => `Not in it: what is in ${name}. To back that up: tillbridge backup <file> --database ${name}`,
        )
        const taking = bytesDisplay('Backup')
        let takenAt = ''
        const onHead = (head: Head) => {
          takenAt = head.takenAt
        }
        const frames = backupOf(db, { onProgress: taking.show, onHead })
        if (file === '-') {
          await writeTo(process.stdout, paced(frames, share)).finally(taking.end)
          await noteBackup(db, takenAt)
          for (const line of notInIt) console.error(line)
          return
        }
        const began = performance.now()
        const checking = bytesDisplay('Check')
        const { bytes, rows, head } = await writeFile(file, frames, { onCheck: checking.show, share })
          .finally(() => {
            taking.end()
            checking.end()
          })
          .catch(notWritten(file, '; - is standard output'))
        await noteBackup(db, takenAt)
        const { size } = await stat(file)
        console.log(
          `${resolve(file)} is a backup of ${rows.toLocaleString('en')} rows as of ${head.takenAt}, read back and whole: ${rateOf(bytes, performance.now() - began)}, compressed to ${(size / 1e6).toFixed(1)} MB.`,
        )
        if (config.secretKey === undefined)
          console.log(
            `It is of use only with the secret in ${resolve(config.dataDir, 'secret')}: keep a copy of that elsewhere.`,
          )
        for (const line of notInIt) console.log(line)
      } finally {
        await data?.close()
        await control.close()
      }
    })

function percent(text: string) {
  const value = Number(text)
  if (!(value >= 1 && value <= 100)) throw new InvalidArgumentError('A number from 1 to 100.')
  return value / 100
}
