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
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { killInitdb } from './orphans.ts'
import { environment, type RunAs } from './run-as.ts'

/** The name of the database, and of its only user. */
export const databaseName = 'tillbridge'

/** The data directory in `<directory>`: made if missing, of this major version, and owned by the server's user. */
export async function openCluster(directory: string, initdb: string, major: string, runAs: RunAs): Promise<string> {
  const data = join(directory, 'data')
  removeUnfinished(directory)
  if (!existsSync(data)) await createCluster(directory, data, initdb, runAs)
  const found = majorOf(data)
  if (found !== major) {
    throw new Error(
      `${data} was written by PostgreSQL ${found}, and the bundled one is ${major}. Export it with the older release, ` +
        'move it away and import the export.',
    )
  }
  own(data, runAs)
  return data
}

/** A directory of the server's user for its log files. */
export function logDirectory(directory: string, runAs: RunAs): string {
  const logs = join(directory, 'log')
  mkdirSync(logs, { recursive: true, mode: 0o700 })
  own(logs, runAs)
  return logs
}

// The data directory appears by a rename, so that a kill at any moment leaves either a whole one or none.
async function createCluster(directory: string, data: string, initdb: string, runAs: RunAs): Promise<void> {
  const unfinished = mkdtempSync(join(directory, 'data.new-'))
  own(unfinished, runAs)
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
  renameSync(unfinished, data)
  const handle = openSync(directory, 'r')
  fsyncSync(handle)
  closeSync(handle)
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

function removeUnfinished(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (!name.startsWith('data.new-')) continue
    const unfinished = join(directory, name)
    killInitdb(unfinished)
    rmSync(unfinished, { recursive: true, force: true, maxRetries: 5 })
  }
}

function majorOf(data: string): string {
  try {
    return readFileSync(join(data, 'PG_VERSION'), 'utf8').trim()
  } catch {
    throw new Error(`${data} is not a data directory of PostgreSQL: it has no readable file PG_VERSION.`)
  }
}

// Root may start it as another user than the time before. The top comes last, because it tells whether the rest is done.
function own(directory: string, { owner }: RunAs): void {
  if (process.geteuid?.() !== 0 || statSync(directory).uid === owner.uid) return
  for (const entry of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(directory, entry), owner.uid, owner.gid)
  }
  chownSync(directory, owner.uid, owner.gid)
}
