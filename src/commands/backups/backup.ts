import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { createBackup } from '../../backup/create-backup.ts'
import type { Recipients } from '../../backup/encryption.ts'
import { writeFile, writeToStream } from '../../backup/file.ts'
import { recordBackup } from '../../backup/history.ts'
import { defaultCpuShare, throttle } from '../../backup/throttle.ts'
import { type Config, readConfig } from '../../config/config.ts'
import type { Keys } from '../../crypto/keys.ts'
import type { Database } from '../../database/db.ts'
import { countNoun } from '../../domain/values/nouns.ts'
import type { ConnectOptions, OpenedDatabase } from '../../runtime/installation/connect.ts'
import { joinDatabase } from '../../runtime/installation/installation.ts'
import { loadMarkedKeys } from '../../runtime/installation/keys.ts'
import { openShard } from '../../runtime/shards/open-shard.ts'
import { listShards } from '../../store/shards/shards.ts'
import type { Command } from '../terminal/command.ts'
import { rethrowWriteError } from '../terminal/outgoing-file.ts'
import { createBytesDisplay, formatRate } from '../terminal/progress.ts'
import { buildKeygenCommand } from './keygen.ts'
import { chooseRecipients, plainDescription } from './recipients.ts'
import { storeBackup } from './storage/store-backup.ts'
import { buildFetchCommand, buildListCommand } from './stored.ts'
import { buildVerifyCommand } from './verify.ts'

/** `tillbridge backup` and its subcommands. */
export function buildBackupCommand(program: Command) {
  const backup = buildCreateCommand(program)
  buildVerifyCommand(backup)
  buildKeygenCommand(backup)
  buildListCommand(backup)
  buildFetchCommand(backup)
}

interface CreateOptions {
  shard?: string
  plain?: true
  cpuPercent: number
}

/** `tillbridge backup [file]`. It doesn't migrate: a backup before an upgrade must contain the old schema. */
const buildCreateCommand = (program: Command) =>
  program
    .command('backup')
    .argument('[file]', 'the output file, or - for standard output (default: a new file in BACKUP_STORAGE)')
    .option('--shard <name>', 'back up this shard instead of the control database')
    .option('--plain', plainDescription)
    .addOption(
      new Option('--cpu-percent <percent>', 'CPU limit in percent of one core (100 = no limit)')
        .default(defaultCpuShare, String(defaultCpuShare * 100))
        .argParser(parsePercent),
    )
    .description('Back up the database, encrypted (the secret key is not included)')
    .examples(
      ['backup', 'stores a backup in BACKUP_STORAGE and deletes old ones (BACKUP_KEEP)'],
      ['backup /backups/$(date +%F).tillbridge', 'writes and verifies a backup while the server runs'],
      ['backup /backups/now.tillbridge --cpu-percent 100', 'takes an eighth of the time but slows other requests'],
      ['backup - | ssh elsewhere "cat > tillbridge.backup"', 'stores it on another machine'],
    )
    .action(async (file: string | undefined, { shard, plain, cpuPercent: share }: CreateOptions) => {
      const config = readConfig()
      const recipients = chooseRecipients(config, plain)
      const opening: ConnectOptions = { skipMigrations: true, statementTimeoutMs: 0 }
      const control = await joinDatabase(config, opening)
      let data: OpenedDatabase | undefined
      try {
        const keys = await loadMarkedKeys(config, control.db)
        if (shard !== undefined) data = await openShard(config, { ...control, keys }, shard, opening)
        const { db } = data ?? control
        const source = { db, keys, recipients, share }
        if (file === '-') await writeToStandardOutput(source)
        else if (file !== undefined) await writeToFile(config, source, file)
        else
          await storeBackup(config, shard ?? 'control', async path => {
            const takenAt = await writeToFile(config, source, path, false)
            return () => recordBackup(db, takenAt)
          })
        // Standard output may be the backup itself.
        const print = file === '-' ? console.error : console.log
        for (const { name } of data ? [] : await listShards(db))
          print(`Shard ${name} is not included. To back it up: tillbridge backup <file> --shard ${name}`)
      } finally {
        await data?.close()
        await control.close()
      }
    })

/** The database of a backup, its protection, and the share of one core's time. */
interface Source {
  db: Database
  keys: Keys
  recipients: Recipients
  share: number
}

async function writeToStandardOutput({ db, share, ...protection }: Source) {
  const taking = createBytesDisplay('Backup')
  const frames = throttle(createBackup(db, { onProgress: taking.show }), share)
  const { manifest } = await writeToStream(process.stdout, frames, protection).finally(taking.end)
  await recordBackup(db, manifest.takenAt)
}

/** Writes and verifies a file, and prints the result. The file of a storage is not final yet. Returns the time of the backup. */
async function writeToFile(config: Config, { db, ...writeOptions }: Source, file: string, isFinal = true) {
  const [taking, checking] = [createBytesDisplay('Backup'), createBytesDisplay('Check')]
  const began = performance.now()
  const frames = createBackup(db, { onProgress: taking.show })
  const { bytes, rows, head } = await writeFile(file, frames, { ...writeOptions, onVerify: checking.show })
    .finally(() => {
      taking.end()
      checking.end()
    })
    .catch(rethrowWriteError(file, '. Use - for standard output'))
  if (isFinal) await recordBackup(db, head.takenAt)
  const { recipients } = writeOptions
  console.log(
    `${recipients === 'plain' ? 'Plain' : 'Encrypted'} backup ${isFinal ? `written to ${resolve(file)}` : 'taken'} and verified: ${countNoun(rows, 'row')} as of ${head.takenAt}, ${formatRate(bytes, performance.now() - began)}, compressed to ${((await stat(file)).size / 1e6).toFixed(1)} MB.`,
  )
  if (recipients !== 'plain') console.log(`To restore it you need the identity file of ${recipients.join(' or ')}.`)
  const secret =
    config.secretKey === undefined ? `the secret key in ${resolve(config.dataDir, 'secret')}` : 'SECRET_KEY'
  console.log(`To restore it you also need ${secret}. Store a copy of it in another place.`)
  return head.takenAt
}

function parsePercent(text: string) {
  const value = Number(text)
  if (!(value >= 1 && value <= 100)) throw new InvalidArgumentError('It must be a number from 1 to 100.')
  return value / 100
}
