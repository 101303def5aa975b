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

/** The name of the database, and of its only user. */
const databaseName = 'tillbridge'

/** The beginning of the names of what is being made: the next start removes what is left of it. */
export const draftPrefix = 'data.new-'

export const toConnection = (socket: string): Connection => ({
  host: socket,
  port,
  user: databaseName,
  database: databaseName,
  ssl: false,
})

/** The data directory in `<directory>`, made if missing, and the major version that has written it. */
export async function openCluster(directory: string, clusterName: string, initdb: string, runAs: RunAs) {
  const data = join(directory, 'data')
  await deleteDrafts(directory, clusterName)
  if (existsSync(upgradedPath(data))) activateUpgraded(directory, data)
  if (!existsSync(data)) moveDirectory(directory, await createCluster(directory, initdb, runAs), data)
  return { data, found: readMajorVersion(data) }
}

/** Whether `directory` has a data directory, or is just being given one. */
export async function hasCluster(directory: string): Promise<boolean> {
  try {
    return (await readdir(directory)).some(name => name === 'data' || name.startsWith('data.'))
  } catch (error) {
    // What may not be read is there.
    return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
}

/** Where the directory of an older major version is kept. */
export const archivePath = (data: string, major: string) => `${data}-${major}`
/** Where the directory that was carried over is, whole, until it takes its place. */
export const upgradedPath = (data: string) => `${data}.carried`

/** Has the carried directory take the place of the other one, which is kept. Where that was interrupted, it is gone on with here. */
export function activateUpgraded(directory: string, data: string): void {
  if (existsSync(data)) moveDirectory(directory, data, archivePath(data, readMajorVersion(data)))
  failpoint('older_data_moved')
  moveDirectory(directory, upgradedPath(data), data)
}

/** A rename that a power cut does not undo. */
export function moveDirectory(directory: string, from: string, to: string): void {
  renameSync(from, to)
  const handle = openSync(directory, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

/** A directory of the server's user for its log files. */
export function prepareLogDirectory(directory: string, runAs: RunAs): string {
  const logs = join(directory, 'log')
  mkdirSync(logs, { recursive: true, mode: 0o700 })
  takeOwnership(logs, runAs)
  return logs
}

/** Makes a data directory that is then to be moved to its place: a kill at any moment leaves a whole one there, or none. */
export async function createCluster(directory: string, initdb: string, runAs: RunAs): Promise<string> {
  const unfinished = mkdtempSync(join(directory, draftPrefix))
  takeOwnership(unfinished, runAs)
  await run(initdb, runAs, [
    `--pgdata=${unfinished}`,
    `--username=${databaseName}`,
    '--auth-local=trust',
    '--auth-host=reject',
    '--encoding=UTF8',
    // Sorted by code point, lower() and upper() for all of Unicode, and the same on every machine.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--data-checksums',
    '--no-instructions',
  ])
  return unfinished
}

async function run(program: string, runAs: RunAs, args: string[]): Promise<void> {
  const [command = '', ...rest] = [...runAs.prefix, program, ...args]
  const child = spawn(command, rest, {
    ...runAs.credentials,
    env: environment,
    cwd: '/',
    // A group of its own, so that it can be ended with all it has started.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [faults, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  if (code !== 0) throw new Error(`The database cannot be created: ${faults.trim() || `initdb ended by ${signal}`}`)
}

async function deleteDrafts(directory: string, clusterName: string): Promise<void> {
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(draftPrefix)) continue
    const unfinished = join(directory, name)
    killInitdb(unfinished)
    // One that rows were being carried over to may be run by an orphan.
    await endOrphans(unfinished, clusterName)
    rmSync(unfinished, { recursive: true, force: true, maxRetries: 5 })
  }
}

function readMajorVersion(data: string): string {
  try {
    return readFileSync(join(data, 'PG_VERSION'), 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') throw accessDenied(data, 'read')
    throw new Error(`${data} is not a data directory of PostgreSQL: it has no readable file PG_VERSION.`)
  }
}

/** Root may start it as another user than the time before. */
// The top comes last, because it tells whether the rest is done.
export function takeOwnership(directory: string, { owner }: RunAs): void {
  if (process.geteuid?.() !== 0 || statSync(directory).uid === owner.uid) return
  for (const entry of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(directory, entry), owner.uid, owner.gid)
  }
  chownSync(directory, owner.uid, owner.gid)
}
