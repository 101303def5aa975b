import { readIdentities } from '../backup/encryption.ts'
import { readFrames, verifyFile } from '../backup/file.ts'
import { countReplacedRows, requireRestorable, restoreService } from '../backup/restore-service.ts'
import { createServiceSummary, type ServiceSummary } from '../backup/service-rows.ts'
import type { VerifiedBackup } from '../backup/verify.ts'
import { readConfig } from '../config/config.ts'
import type { Database } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { countNoun } from '../domain/values/nouns.ts'
import { undoRestore } from '../store/moves/finish.ts'
import { beginMove, findMove, takeOverMove } from '../store/moves/moves.ts'
import { armFailpoint } from '../testing/failpoints.ts'
import { identityOption, readSignedBy } from './backups/verify.ts'
import { recordCommand } from './terminal/audit.ts'
import type { Command } from './terminal/command.ts'
import { confirmByTyping } from './terminal/confirmation.ts'
import { createBytesDisplay } from './terminal/progress.ts'
import { type LocatedService, type Session, withDatabase } from './terminal/session.ts'
import { stopBySignal } from './terminal/stop.ts'
import { formatTable } from './terminal/table.ts'

interface Options {
  identity?: string
  yes?: string
  dryRun?: true
  undo?: true
}

/** `tillbridge service restore <name> <file>`. */
export const buildRestoreServiceCommand = (service: Command) =>
  service
    .command('restore')
    .argument('<name>')
    .argument('[file]', 'a file from `tillbridge backup` that contains the service')
    .option(...identityOption)
    .option('--dry-run', 'show what would be replaced')
    .option('--yes <name>', 'repeat the name to skip the confirmation')
    .option('--undo', 'end an interrupted restore, so that writes resume')
    .description("Replace a service's data with that of a backup, while other services are served")
    .examples(
      ['service restore luma 3.tillbridge --dry-run', 'compares the rows of each table'],
      ['service restore luma 3.tillbridge --identity backup-identity.txt', 'asks for the name again'],
      ['service restore luma --undo', 'ends an interrupted restore; a worker does the same within seconds'],
    )
    .action((name: string, file: string | undefined, { undo, ...options }: Options) => {
      if ((file === undefined) !== (undo ?? false)) throw new Error('Exactly one of <file> and --undo is required.')
      return withDatabase(async session => {
        armFailpoint(readConfig().failpoint)
        const located = await session.services.find(name)
        const isUndone = await undoInterruptedRestore(session, located)
        if (undo)
          return console.log(
            isUndone
              ? `Interrupted restore of ${name} ended. Writes are accepted again.`
              : `${name} is not being restored.`,
          )
        await restore(session, located, file as string, options)
      })
    })

/** Says that a service is being restored, and how to end a restore whose process has died. */
export const describeRunningRestore = (name: string) =>
  `${name} is being restored. Wait for the restore to end. If it was interrupted: tillbridge service restore ${name} --undo`

/** Ends the restore of a process that has died. Returns false if the service isn't being restored. Throws if the process lives, or the service is moving. */
async function undoInterruptedRestore({ control }: Session, { service, db }: LocatedService) {
  const { id, name } = service
  const interrupted = await findMove(control, id)
  if (!interrupted) return false
  if (interrupted.target !== null)
    throw new Error(
      `${name} is being moved. Wait for the move to end, or undo it: tillbridge service move ${name} --undo`,
    )
  const taken = await takeOverMove(control, interrupted)
  if (!taken) throw new Error(`Another process is restoring ${name}, or was until seconds ago. Try again in 10 s.`)
  await undoRestore({ control, source: db }, taken)
  return true
}

async function restore(session: Session, { service, db }: LocatedService, file: string, options: Options) {
  const { control, keys } = session
  const { name } = service
  const { manifest, seeds } = await readSignedBy(file)
  const identities = options.identity === undefined ? undefined : await readIdentities(options.identity)
  const { summary, add } = createServiceSummary()
  const checking = createBytesDisplay('Check')
  const backup = await verifyFile(file, seeds, { identities, onProgress: checking.show, onFrame: add }).finally(
    checking.end,
  )
  requireServiceIn(summary, service, file)
  await requireRestorable(db, backup)
  const rows = await showReplacedRows(db, service, backup, summary)
  if (options.dryRun) return console.log('Dry run: nothing was replaced.')
  await confirm(name, options.yes)

  const begun = await beginMove(control, service, null)
  if (!begun) throw new Error(`${name} is already being moved or restored. Nothing was replaced.`)
  const stop = stopBySignal(new Error('Stopped. Nothing was replaced, and writes are accepted again.'))
  const loading = createBytesDisplay('Load')
  try {
    const pausedMs = await restoreService(
      { control, source: db },
      begun,
      {
        backup,
        frames: readFrames(file, { identities, onProgress: loading.show }),
        onWaiting: console.error,
        record: tx =>
          recordCommand(tx, service, {
            operation: 'service restore',
            subject: '/settings',
            changes: [{ field: 'backup', before: null, after: backup.head.takenAt }],
          }),
      },
      stop.signal,
    )
    loading.end()
    console.log(
      `Restored ${name} as of ${backup.head.takenAt}: ${countNoun(rows, 'row')}. Writes paused for ${(pausedMs / 1_000).toFixed(1)} s.`,
    )
    console.log('Older cursors expired. Clients of the change feed start over and miss no change.')
    if (manifest.secret !== keys.digest.toString('hex'))
      console.log(
        'The backup was made with a previous secret key. Keep it in SECRET_KEY of each process, and run: tillbridge secret rotate',
      )
  } finally {
    stop.end()
    loading.end()
  }
}

/** Throws if the backup doesn't have all rows of this service. */
function requireServiceIn({ services }: ServiceSummary, { id, name }: Service, file: string) {
  const stored = services.find(candidate => candidate.id === id)
  const names = services.filter(({ shard }) => shard === null).map(candidate => candidate.name)
  if (!stored) {
    const isOlder = services.some(candidate => candidate.name === name)
    throw new Error(
      isOlder
        ? `${file} has an earlier service with the name ${name}, which was deleted since. Restore it into an empty installation.`
        : `${file} doesn't contain ${name}. Services in it: ${names.join(', ') || 'none'}.`,
    )
  }
  if (stored.shard !== null)
    throw new Error(`${name} was in shard ${stored.shard} at the time of ${file}. Use a backup of that shard.`)
  if (stored.isIncomplete)
    throw new Error(`${file} doesn't have all rows of ${name}, which was being moved or deleted. Use another backup.`)
}

/** Prints the rows of each table now and in the backup. Returns the number of rows in the backup. */
async function showReplacedRows(db: Database, service: Service, { head }: VerifiedBackup, { counts }: ServiceSummary) {
  const currentCounts = await countReplacedRows(db, service)
  const backupCounts = counts.get(service.id) ?? new Map<string, number>()
  const tables = [...new Set([...currentCounts.keys(), ...backupCounts.keys()])].sort()
  const show = (rows: number | undefined) => (rows ?? 0).toLocaleString('en')
  console.log(
    formatTable(
      ['Table', 'Now', `Backup of ${head.takenAt}`],
      tables.map(table => [table, show(currentCounts.get(table)), show(backupCounts.get(table))]),
    ),
  )
  console.log('Accounts, the audit log, the request log and the record of erased customers stay.')
  return [...backupCounts.values()].reduce((sum, rows) => sum + rows, 0)
}

/** Asks the operator to type the name. Throws if it isn't typed. */
async function confirm(name: string, yes: string | undefined) {
  if (yes === name) return
  if (yes !== undefined)
    throw new Error(`--yes must be the name of the service, ${name}; it is ${yes}. Nothing was replaced.`)
  process.stderr.write(`Changes of ${name} after the backup will be permanently lost.\n`)
  if (!(await confirmByTyping(name, 'To restore this service'))) throw new Error('Not confirmed. Nothing was replaced.')
}
