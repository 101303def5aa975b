import { existsSync, mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { writeFile } from '../backup/file.ts'
import type { Progress } from '../backup/progress.ts'
import { backupOf } from '../backup/take.ts'
import { usualShare } from '../backup/throttle.ts'
import { readConfig } from '../config/config.ts'
import type { Database } from '../database/db.ts'
import { authCacheTtlMs } from '../domain/accounts.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { renewalMs } from '../store/jobs/jobs.ts'
import { findMove } from '../store/moves/moves.ts'
import { accountsOfIt, beginEmptying, end, reopen, shut, waitForWriters } from '../store/service-deletion/deletion.ts'
import { holdRemoval } from '../store/service-deletion/lock.ts'
import { empty } from '../store/service-deletion/purge.ts'
import { hasCopy } from '../store/shards/copies.ts'
import { handOnAll, missingFrom } from '../store/shards/shards.ts'
import { type DeletionState, listAllServices, listEnding } from '../store/tenancy/services.ts'
import { isTyped } from './terminal/confirmation.ts'
import { examples } from './terminal/examples.ts'
import { notWritten } from './terminal/outgoing-file.ts'
import { bytesDisplay, rowsDisplay } from './terminal/progress.ts'
import { type Session, withDatabase } from './terminal/session.ts'
import { stopBySignal } from './terminal/stop.ts'

interface Options {
  yes?: string
  /** False: none is wanted. */
  backup?: string | false
}

export const removeCommand = (service: Command) =>
  service
    .command('remove')
    .argument('<name>')
    .option('--yes <name>', 'repeat the name to skip the confirmation')
    .option('--backup <file>', 'backup file (default: DATA_DIR/removed/<name>-<time>.tillbridge)')
    .option('--no-backup', 'keep no backup')
    .description('Permanently delete a service (keeps a backup)')
    .addHelpText(
      'after',
      examples(
        ['service remove luma', 'asks for the name again'],
        ['service remove luma --yes luma --backup /backups/luma.tillbridge', 'for scripts'],
        ['service remove luma', 'continues an interrupted deletion'],
      ),
    )
    .action((name: string, options: Options) =>
      withDatabase(async session => {
        const found = await findEither(session, name, options.backup)
        await confirm(found, options.yes)
        const letGo = await holdRemoval(found.control, found.service)
        const stop = stopBySignal(stopped(name))
        try {
          // Somebody may have removed it since, or begun to.
          const removed = await findEither(session, name, options.backup)
          if (removed.deletionState !== 'purging') await backUp(removed, options.backup, stop.signal)
          await takeAway(session, removed, stop.signal)
        } finally {
          stop.end()
          await letGo()
        }
      }),
    )

const stopped = (name: string) =>
  new Error(`Stopped. Service ${name} is closed and partly deleted. To continue: tillbridge service remove ${name}`)

/** A service, the database with its rows, and the one with its accounts; how far its removal has come. */
interface Removed {
  service: Service
  db: Database
  control: Database
  deletionState?: DeletionState
}

/** Both databases, or the only one; the first says whether it is to go, and is the last to forget it. */
const both = ({ control, db }: Removed) => (control === db ? [db] : [control, db])

/** A service that serves, one whose removal was broken off or, where no backup is wanted, one that its data database does not have. */
async function findEither(
  { control, databases, services }: Session,
  name: string,
  backup: Options['backup'],
): Promise<Removed> {
  const service = (await listAllServices(control)).find(each => each.name === name)
  if (service && (await findMove(control, service.id)))
    throw new Error(
      `${name} is being moved. Wait for the move to end, or undo it: tillbridge service move ${name} --undo`,
    )
  const broken = (await listEnding(control)).find(({ service }) => service.name === name)
  if (broken) return { control, ...broken, db: await databases.open(broken.service.database) }
  if (backup === false && service?.database !== undefined) {
    const missing = await missingFrom(control, await databases.open(service.database), service.database)
    if (missing.includes(name)) return { control, service, db: control }
  }
  return { control, ...(await services.find(name)) }
}

/** Throws unless the name is given once more. */
async function confirm({ control, service }: Removed, yes: string | undefined) {
  const { name } = service
  if (yes === name) return
  if (yes !== undefined)
    throw new Error(`--yes must be the name of the service, ${name}; it is ${yes}. Nothing was deleted.`)
  const alone = await accountsOfIt(control, service)
  const accounts = alone.length ? ` Accounts that are deleted too: ${alone.join(', ')}.` : ''
  process.stderr.write(`All data of ${name} will be permanently deleted.${accounts}\n`)
  if (!(await isTyped(name, 'To delete this service'))) throw new Error('Not confirmed. Nothing was deleted.')
}

/** Shuts the service, and waits until nobody writes for it any more. */
async function close(removed: Removed, signal: AbortSignal) {
  const { db, control, service } = removed
  for (const each of both(removed)) {
    await shut(each, service)
    if (each === control) console.log(`Service ${service.name} closed.`)
    // Until each process has looked anew.
    await delay(Math.max(authCacheTtlMs, renewalMs) + 1_000, undefined, { signal })
    await waitForWriters(each, service, signal)
    // As long as it takes them: lines about accounts belong to its backup.
    if (each !== db) await handOnAll(control, db, service.id, signal)
  }
}

/** Shuts the service, and keeps a backup of it; where that fails, or is stopped, the service is opened again. */
async function backUp(removed: Removed, wanted: string | false | undefined, signal: AbortSignal) {
  const { service } = removed
  const path = wanted === false ? undefined : pathFor(service, wanted)
  if (path !== undefined && existsSync(path)) throw new Error(`${path} exists already. Nothing was deleted.`)
  let file: string | undefined
  try {
    await close(removed, signal)
    if (path !== undefined) file = await written(removed, path, signal)
    signal.throwIfAborted()
    if (await beginEmptying(removed.control, service)) return
  } catch (error) {
    for (const each of both(removed).toReversed()) await reopen(each, service)
    if (file) await rm(file)
    const why = signal.aborted ? 'Stopped.' : (error as Error).message
    throw new Error(`${why} Nothing was deleted. Service ${service.name} is open again.`)
  }
  if (file) await rm(file)
  throw new Error(`Another process has reopened service ${service.name}.`)
}

/** Where its backup goes. */
function pathFor({ name }: Service, wanted: string | undefined) {
  if (wanted !== undefined) return resolve(wanted)
  const directory = resolve(readConfig().dataDir, 'removed')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  return join(directory, `${name}-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}.tillbridge`)
}

/** Writes the backup, to a file that nobody else has made: it is removed again where the service stays. */
async function written({ db, control, service }: Removed, file: string, signal: AbortSignal) {
  const [taking, checking] = [bytesDisplay('Backup'), bytesDisplay('Check')]
  const untilStopped =
    (show: Progress): Progress =>
    progress => {
      signal.throwIfAborted()
      show(progress)
    }
  const frames = backupOf(db, { service, control, onProgress: untilStopped(taking.show) })
  const { rows, head } = await writeFile(file, frames, {
    onCheck: untilStopped(checking.show),
    share: usualShare,
    isNew: true,
  })
    .finally(() => {
      taking.end()
      checking.end()
    })
    .catch(notWritten(file))
  console.log(`Backup written to ${file} and verified: ${rows.toLocaleString('en')} rows as of ${head.takenAt}.`)
  return file
}

async function takeAway(session: Session, removed: Removed, signal: AbortSignal) {
  const { db, control, service } = removed
  await beginEmptying(db, service)
  const removing = rowsDisplay('Remove')
  await empty(db, service, removing.show, signal).finally(removing.end)
  // What it has there is about accounts: answers, and who used it.
  if (control !== db) await empty(control, service, undefined, signal)
  await takeCopies(session, service, signal)
  const ended: string[] = []
  for (const each of both(removed).toReversed()) ended.push(...(await end(each, service)))
  console.log(
    `Service ${service.name} deleted.${ended.length ? ` Accounts deleted with it: ${ended.join(', ')}.` : ''}`,
  )
}

/** Takes away what is left of it in databases that were restored from before it was moved elsewhere. */
async function takeCopies({ databases }: Session, service: Service, signal: AbortSignal) {
  for (const name of await databases.names()) {
    if (name === service.database) continue
    const db = await databases.open(name).catch((error: Error) => {
      console.error(`${error.message} If it has an old copy of ${service.name}, the copy stays.`)
    })
    if (!db || !(await hasCopy(db, service))) continue
    await empty(db, service, undefined, signal)
    await end(db, service)
  }
}
