import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { failpoint } from '../testing/failpoints.ts'
import { accessDenied } from './access-denied.ts'
import { endOrphans, killInitdb } from './orphans.ts'
import { environment, type RunAs } from './run-as.ts'
import type { Connection } from './server.ts'
import { port } from './socket.ts'

/** `initdb`, and the major version that it creates. */
interface Programs {
  initdb: string
  major: string
}

/** The name of the database, and of its only user. */
const databaseName = 'tillbridge'

/** The prefix of unfinished directories. The next start deletes them. */
export const draftPrefix = 'data.new-'

/** Returns the client configuration for a server whose socket is in this directory. */
export const toConnection = (socket: string): Connection => ({
  host: socket,
  port,
  user: databaseName,
  database: databaseName,
  ssl: false,
})

/** Returns the data directory in `directory` and the major version that wrote it. Creates it if it is missing. */
export async function openCluster(directory: string, clusterName: string, programs: Programs, runAs: RunAs) {
  const data = join(directory, 'data')
  await deleteDrafts(directory, clusterName)
  if (existsSync(getUpgradedPath(data))) activateUpgraded(directory, data)
  if (!existsSync(data)) moveDirectory(directory, await createCluster(directory, programs, runAs), data)
  return { data, dataMajor: readMajorVersion(data) }
}

/** Returns the major version of an existing data directory, without changing anything. Returns undefined if it can't be read. */
export function peekMajorVersion(directory: string): string | undefined {
  const data = join(directory, 'data')
  try {
    return readMajorVersion(existsSync(getUpgradedPath(data)) ? getUpgradedPath(data) : data)
  } catch {
    // Opening the directory reports the reason.
    return undefined
  }
}

/** True if `directory` has a data directory, or one is being created. */
export async function hasCluster(directory: string): Promise<boolean> {
  try {
    return (await readdir(directory)).some(name => name === 'data' || name.startsWith('data.'))
  } catch (error) {
    // A directory that can't be read exists.
    return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
}

/** The path of the data directory of an older major version after an upgrade. */
export const archivePath = (data: string, major: string) => `${data}-${major}`
/** The path of the complete upgraded directory until it replaces the older one. */
export const getUpgradedPath = (data: string) => `${data}.upgraded`

/** Replaces the data directory by the upgraded one, and keeps the older one. Also continues an interrupted replacement. */
export function activateUpgraded(directory: string, data: string): void {
  if (existsSync(data)) moveDirectory(directory, data, archivePath(data, readMajorVersion(data)))
  failpoint('older_data_moved')
  moveDirectory(directory, getUpgradedPath(data), data)
}

/** Renames a directory durably: a power failure can't undo it. */
export function moveDirectory(directory: string, from: string, to: string): void {
  renameSync(from, to)
  const handle = openSync(directory, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

/** Creates the directory for log files, owned by the server's user. Returns its path. */
export function prepareLogDirectory(directory: string, runAs: RunAs): string {
  const logs = join(directory, 'log')
  mkdirSync(logs, { recursive: true, mode: 0o700 })
  takeOwnership(logs, runAs)
  return logs
}

/** Creates a data directory under a draft name. The caller renames it, so a crash leaves a complete directory or none. */
export async function createCluster(directory: string, { initdb, major }: Programs, runAs: RunAs): Promise<string> {
  const unfinished = mkdtempSync(join(directory, draftPrefix))
  takeOwnership(unfinished, runAs)
  await run(initdb, runAs, [
    `--pgdata=${unfinished}`,
    `--username=${databaseName}`,
    '--auth-local=trust',
    '--auth-host=reject',
    '--encoding=UTF8',
    // Sorts by code point on every machine; lower() and upper() cover all of Unicode. Before 17, only the C library has such a locale.
    ...(Number(major) >= 17
      ? ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
      : ['--locale=C.UTF-8', '--lc-messages=C']),
    '--data-checksums',
    '--no-instructions',
  ])
  return unfinished
}

async function run(program: string, runAs: RunAs, args: string[]): Promise<void> {
  const [command = '', ...commandArguments] = [...runAs.prefix, program, ...args]
  const child = spawn(command, commandArguments, {
    ...runAs.credentials,
    env: environment,
    cwd: '/',
    // A process group of its own, so that it can be killed together with its children.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [errors, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  if (code !== 0) throw new Error(`The database can't be created: ${errors.trim() || `initdb ended by ${signal}`}`)
}

async function deleteDrafts(directory: string, clusterName: string): Promise<void> {
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(draftPrefix)) continue
    const unfinished = join(directory, name)
    killInitdb(unfinished)
    // An orphaned server may still use a directory of an interrupted upgrade.
    await endOrphans(unfinished, clusterName)
    rmSync(unfinished, { recursive: true, force: true, maxRetries: 5 })
  }
}

function readMajorVersion(data: string): string {
  try {
    return readFileSync(join(data, 'PG_VERSION'), 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') throw accessDenied(data, 'read')
    throw new Error(`${data} must be a data directory of PostgreSQL, with a readable file PG_VERSION.`)
  }
}

/**
 * Gives a directory to the server's user, because root can start the server as a different user than before. The top directory comes last,
 * because its owner shows that everything below is done.
 */
export function takeOwnership(directory: string, { owner }: RunAs): void {
  if (process.geteuid?.() !== 0 || statSync(directory).uid === owner.uid) return
  for (const entry of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(directory, entry), owner.uid, owner.gid)
  }
  chownSync(directory, owner.uid, owner.gid)
}
