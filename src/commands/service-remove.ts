import { existsSync, mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createBackup } from '../backup/create-backup.ts'
import { type Protection, writeFile } from '../backup/file.ts'
import type { Progress } from '../backup/frames.ts'
import { defaultCpuShare } from '../backup/throttle.ts'
import { readConfig } from '../config/config.ts'
import type { Database } from '../database/db.ts'
import { authCacheTtlMs } from '../domain/accounts.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { countNoun } from '../domain/values/nouns.ts'
import { renewalMs } from '../store/jobs/jobs.ts'
import { findMove } from '../store/moves/moves.ts'
import {
  deleteService,
  listExclusiveAccounts,
  lockDeletion,
  lockService,
  startPurge,
  unlockService,
  waitForWriters,
} from '../store/service-deletion/deletion.ts'
import { purgeRows } from '../store/service-deletion/purge.ts'
import { hasCopy } from '../store/shards/misplaced-services.ts'
import { findMissingServices, forwardAuditEntries } from '../store/shards/shards.ts'
import { type DeletionState, listAllServices, listDeleting } from '../store/tenancy/services.ts'
import { chooseRecipients, plainDescription } from './backups/recipients.ts'
import { describeRunningRestore } from './service-restore.ts'
import type { Command } from './terminal/command.ts'
import { confirmByTyping } from './terminal/confirmation.ts'
import { rethrowWriteError } from './terminal/outgoing-file.ts'
import { createBytesDisplay, createRowsDisplay } from './terminal/progress.ts'
import { type Session, withDatabase } from './terminal/session.ts'
import { stopBySignal } from './terminal/stop.ts'

interface Options {
  yes?: string
  /** False if no backup is required. */
  backup?: string | false
  plain?: true
}

export const buildRemoveCommand = (service: Command) =>
  service
    .command('remove')
    .argument('<name>')
    .option('--yes <name>', 'repeat the name to skip the confirmation')
    .option('--backup <file>', 'backup file (default: DATA_DIR/removed/<name>-<time>.tillbridge)')
    .option('--plain', plainDescription)
    .option('--no-backup', 'keep no backup')
    .description('Permanently delete a service (keeps a backup)')
    .examples(
      ['service remove luma', 'asks for the name again'],
      ['service remove luma --yes luma --backup /backups/luma.tillbridge', 'for scripts'],
      ['service remove luma', 'continues an interrupted deletion'],
    )
    .action((name: string, options: Options) =>
      withDatabase(async session => {
        const deletion = await findDeletion(session, name, options.backup)
        // Reports a missing recipient before the question.
        if (deletion.deletionState !== 'purging') chooseProtection(session, options)
        await confirm(deletion, options.yes)
        const release = await lockDeletion(deletion.control, deletion.service)
        const stop = stopBySignal(createStopError(name))
        try {
          // Another process may have deleted it, or started to.
          const current = await findDeletion(session, name, options.backup)
          if (current.deletionState !== 'purging')
            await backUp(current, options.backup, chooseProtection(session, options), stop.signal)
          await purge(session, current, stop.signal)
        } finally {
          stop.end()
          await release()
        }
      }),
    )

const createStopError = (name: string) =>
  new Error(`Stopped. Service ${name} is closed and partly deleted. To continue: tillbridge service remove ${name}`)

/** A service, the database with its rows, the control database with its accounts, and the state of its deletion. */
interface Deletion {
  service: Service
  db: Database
  control: Database
  deletionState?: DeletionState
}

/** Returns the control database and the shard, or the only database. The first one has the deletion state, and is purged last. */
const listDatabases = ({ control, db }: Deletion) => (control === db ? [db] : [control, db])

/** Finds an active service or one with an interrupted deletion. Without a backup, also one that is missing from its shard. */
async function findDeletion(
  { control, databases, services }: Session,
  name: string,
  backup: Options['backup'],
): Promise<Deletion> {
  const service = (await listAllServices(control)).find(candidate => candidate.name === name)
  const move = service && (await findMove(control, service.id))
  if (move)
    throw new Error(
      move.target === null
        ? describeRunningRestore(name)
        : `${name} is being moved. Wait for the move to end, or undo it: tillbridge service move ${name} --undo`,
    )
  const interrupted = (await listDeleting(control)).find(deletion => deletion.service.name === name)
  if (interrupted) return { control, ...interrupted, db: await databases.open(interrupted.service.database) }
  if (backup === false && service?.database !== undefined) {
    const missing = await findMissingServices(control, await databases.open(service.database), service.database)
    if (missing.includes(name)) return { control, service, db: control }
  }
  return { control, ...(await services.find(name)) }
}

/** Asks the operator to type the name. Throws if it isn't typed. */
async function confirm({ control, service }: Deletion, yes: string | undefined) {
  const { name } = service
  if (yes === name) return
  if (yes !== undefined)
    throw new Error(`--yes must be the name of the service, ${name}; it is ${yes}. Nothing was deleted.`)
  const ownAccounts = await listExclusiveAccounts(control, service)
  const accounts = ownAccounts.length ? ` Accounts that are deleted too: ${ownAccounts.join(', ')}.` : ''
  process.stderr.write(`All data of ${name} will be permanently deleted.${accounts}\n`)
  if (!(await confirmByTyping(name, 'To delete this service'))) throw new Error('Not confirmed. Nothing was deleted.')
}

/** Closes the service and waits for its last write. */
async function closeService(deletion: Deletion, signal: AbortSignal) {
  const { db, control, service } = deletion
  for (const database of listDatabases(deletion)) {
    await lockService(database, service)
    if (database === control) console.log(`Service ${service.name} closed.`)
    // Until the cached state of every process has expired.
    await delay(Math.max(authCacheTtlMs, renewalMs) + 1_000, undefined, { signal })
    await waitForWriters(database, service, signal)
    // The backup must contain the audit entries about accounts.
    if (database !== db) await forwardAuditEntries(control, db, service.id, signal)
  }
}

/** Closes the service and writes its backup. Opens the service again if that fails or is stopped. */
async function backUp(deletion: Deletion, backup: Options['backup'], protection: Protection, signal: AbortSignal) {
  const { service } = deletion
  const path = backup === false ? undefined : chooseBackupPath(service, backup)
  if (path !== undefined && existsSync(path)) throw new Error(`${path} exists already. Nothing was deleted.`)
  let file: string | undefined
  try {
    await closeService(deletion, signal)
    if (path !== undefined) file = await writeBackup(deletion, protection, path, signal)
    signal.throwIfAborted()
    if (await startPurge(deletion.control, service)) return
  } catch (error) {
    for (const database of listDatabases(deletion).toReversed()) await unlockService(database, service)
    if (file) await rm(file)
    const reason = signal.aborted ? 'Stopped.' : (error as Error).message
    throw new Error(`${reason} Nothing was deleted. Service ${service.name} is open again.`)
  }
  if (file) await rm(file)
  throw new Error(`Another process has reopened service ${service.name}.`)
}

/** Returns how the backup is protected. Without a backup, its protection isn't used. */
const chooseProtection = ({ keys }: Session, { backup, plain }: Options): Protection => ({
  keys,
  recipients: chooseRecipients(readConfig(), plain || backup === false),
})

/** Returns the path of the backup file. */
function chooseBackupPath({ name }: Service, file: string | undefined) {
  if (file !== undefined) return resolve(file)
  const directory = resolve(readConfig().dataDir, 'removed')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  return join(directory, `${name}-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}.tillbridge`)
}

/** Writes and verifies the backup. The file must not exist, because it is deleted again if the service stays. */
async function writeBackup(
  { db, control, service }: Deletion,
  protection: Protection,
  file: string,
  signal: AbortSignal,
) {
  const [taking, checking] = [createBytesDisplay('Backup'), createBytesDisplay('Check')]
  const stopOnAbort =
    (show: Progress): Progress =>
    progress => {
      signal.throwIfAborted()
      show(progress)
    }
  const frames = createBackup(db, { service, control, onProgress: stopOnAbort(taking.show) })
  const { rows, head } = await writeFile(file, frames, {
    ...protection,
    onVerify: stopOnAbort(checking.show),
    share: defaultCpuShare,
    isNew: true,
  })
    .finally(() => {
      taking.end()
      checking.end()
    })
    .catch(rethrowWriteError(file))
  console.log(`Backup written to ${file} and verified: ${countNoun(rows, 'row')} as of ${head.takenAt}.`)
  return file
}

async function purge(session: Session, deletion: Deletion, signal: AbortSignal) {
  const { db, control, service } = deletion
  await startPurge(db, service)
  const rows = createRowsDisplay('Remove')
  await purgeRows(db, service, rows.show, signal).finally(rows.end)
  // These rows are about accounts: stored responses and last use.
  if (control !== db) await purgeRows(control, service, undefined, signal)
  await purgeCopies(session, service, signal)
  const deletedAccounts: string[] = []
  for (const database of listDatabases(deletion).toReversed())
    deletedAccounts.push(...(await deleteService(database, service)))
  console.log(
    `Service ${service.name} deleted.${deletedAccounts.length ? ` Accounts deleted with it: ${deletedAccounts.join(', ')}.` : ''}`,
  )
}

/** Deletes old copies of the service in shards that were restored to a time before it was moved. */
async function purgeCopies({ databases }: Session, service: Service, signal: AbortSignal) {
  for (const name of await databases.names()) {
    if (name === service.database) continue
    const db = await databases.open(name).catch((error: Error) => {
      console.error(`${error.message} If it has an old copy of ${service.name}, the copy stays.`)
    })
    if (!db || !(await hasCopy(db, service))) continue
    await purgeRows(db, service, undefined, signal)
    await deleteService(db, service)
  }
}
