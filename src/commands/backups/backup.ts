import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { createBackup } from '../../backup/create-backup.ts'
import { writeFile, writeToStream } from '../../backup/file.ts'
import type { Head } from '../../backup/frames.ts'
import { recordBackup } from '../../backup/history.ts'
import { defaultCpuShare, throttle } from '../../backup/throttle.ts'
import { readConfig } from '../../config/config.ts'
import type { ConnectOptions, OpenedDatabase } from '../../runtime/installation/connect.ts'
import { joinDatabase } from '../../runtime/installation/installation.ts'
import { loadMarkedKeys } from '../../runtime/installation/keys.ts'
import { openShard } from '../../runtime/shards/open-shard.ts'
import { listShards } from '../../store/shards/shards.ts'
import { formatExamples } from '../terminal/examples.ts'
import { rethrowWriteError } from '../terminal/outgoing-file.ts'
import { createBytesDisplay, formatRate } from '../terminal/progress.ts'

/** `tillbridge backup`. It doesn't migrate: a backup before an upgrade must contain the old schema. */
export const buildBackupCommand = (program: Command) =>
  program
    .command('backup')
    .argument('<file>', 'the output file, or - for standard output')
    .option('--shard <name>', 'back up this shard instead of the control database')
    .addOption(
      new Option('--cpu-percent <percent>', 'CPU limit in percent of one core (100 = no limit)')
        .default(defaultCpuShare, String(defaultCpuShare * 100))
        .argParser(parsePercent),
    )
    .description('Back up the database (the secret key is not included)')
    .addHelpText(
      'after',
      formatExamples(
        ['backup /backups/$(date +%F).tillbridge', 'writes and verifies a backup while the server runs'],
        ['backup /backups/now.tillbridge --cpu-percent 100', 'takes an eighth of the time but slows other requests'],
        ['backup - | ssh elsewhere "cat > tillbridge.backup"', 'stores it on another machine'],
      ),
    )
    .action(async (file: string, { shard, cpuPercent: share }: { shard?: string; cpuPercent: number }) => {
      const config = readConfig()
      const opening: ConnectOptions = { skipMigrations: true, statementTimeoutMs: 0 }
      const control = await joinDatabase(config, opening)
      let data: OpenedDatabase | undefined
      try {
        const keys = await loadMarkedKeys(config, control.db)
        if (shard !== undefined) data = await openShard(config, { ...control, keys }, shard, opening)
        const { db } = data ?? control
        const notInIt = (data ? [] : await listShards(db)).map(
          ({ name }) => `Shard ${name} is not included. To back it up: tillbridge backup <file> --shard ${name}`,
        )
        const taking = createBytesDisplay('Backup')
        let takenAt = ''
        const onHead = (backupHead: Head) => {
          takenAt = backupHead.takenAt
        }
        const frames = createBackup(db, { onProgress: taking.show, onHead })
        if (file === '-') {
          await writeToStream(process.stdout, throttle(frames, share)).finally(taking.end)
          await recordBackup(db, takenAt)
          for (const line of notInIt) console.error(line)
          return
        }
        const began = performance.now()
        const checking = createBytesDisplay('Check')
        const { bytes, rows, head } = await writeFile(file, frames, { onVerify: checking.show, share })
          .finally(() => {
            taking.end()
            checking.end()
          })
          .catch(rethrowWriteError(file, '. Use - for standard output'))
        await recordBackup(db, takenAt)
        const { size } = await stat(file)
        console.log(
          `Backup written to ${resolve(file)} and verified: ${rows.toLocaleString('en')} rows as of ${head.takenAt}, ${formatRate(bytes, performance.now() - began)}, compressed to ${(size / 1e6).toFixed(1)} MB.`,
        )
        if (config.secretKey === undefined)
          console.log(
            `To restore it you also need the secret key in ${resolve(config.dataDir, 'secret')}. Store a copy of it in another place.`,
          )
        for (const line of notInIt) console.log(line)
      } finally {
        await data?.close()
        await control.close()
      }
    })

function parsePercent(text: string) {
  const value = Number(text)
  if (!(value >= 1 && value <= 100)) throw new InvalidArgumentError('It must be a number from 1 to 100.')
  return value / 100
}
