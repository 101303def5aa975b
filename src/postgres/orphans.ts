import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

// A fast shutdown writes at most shared_buffers to disk. After an immediate shutdown, the next start runs recovery.
const signals = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const

/** The prefix of all cluster names. */
const clusterPrefix = 'tillbridge-'

/** Returns the cluster name of a directory. It depends on device and inode, so a copy has another name, and every path has the same name. */
export function getClusterName(directory: string): string {
  const { dev, ino } = statSync(directory)
  return `${clusterPrefix}${dev}-${ino}`
}

/**
 * Ends PostgreSQL processes that an earlier owner of the data directory left running, and makes its `postmaster.pid` harmless. The caller
 * must have the directory's lock, so that no owner is alive. The command line of each process contains `cluster_name`, which must be unique
 * to the directory.
 */
export async function endOrphans(data: string, clusterName: string): Promise<void> {
  for (const [signal, graceMs] of signals) {
    if (findOrphans(clusterName).length === 0) break
    const end = Date.now() + graceMs
    signalOrphans(data, clusterName, signal)
    while (findOrphans(clusterName).length > 0 && Date.now() < end) await delay(20)
  }
  const survivors = findOrphans(clusterName)
  if (survivors.length > 0)
    throw new Error(`PostgreSQL process ${survivors.join(', ')} in ${data} can't be ended. End it, then start again.`)
  disownPostmasterFile(data)
}

/** Kills an initdb process that an earlier owner of the directory left running, and its children. */
export function killInitdb(data: string): void {
  for (const [pid, line] of listCommandLines()) {
    if (line.includes(` --pgdata=${data} `)) tryKill(-pid, 'SIGKILL')
  }
}

function signalOrphans(data: string, clusterName: string, signal: NodeJS.Signals): void {
  const orphans = findOrphans(clusterName)
  const postmaster = orphans.find(pid => pid === readPostmasterPid(data))
  // Without the postmaster, the other processes serve no client, and recovery doesn't need them.
  const [targets, finalSignal]: [number[], NodeJS.Signals] =
    postmaster && signal !== 'SIGKILL' ? [[postmaster], signal] : [orphans, 'SIGKILL']
  for (const pid of targets) tryKill(pid, finalSignal)
}

function tryKill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}

function findOrphans(clusterName: string): number[] {
  return listCommandLines()
    .filter(
      ([, line]) => line.startsWith(`postgres: ${clusterName}: `) || line.includes(` -c cluster_name=${clusterName} `),
    )
    .map(([pid]) => pid)
}

function listCommandLines(): [pid: number, line: string][] {
  if (existsSync('/proc/self/cmdline')) {
    return readdirSync('/proc')
      .filter(name => /^\d+$/.test(name))
      .map(name => [Number(name), readCommandLine(name)])
  }
  return execFileSync('/bin/ps', ['-axww', '-o', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map(line => [Number.parseInt(line, 10), `${line.trim().replace(/^\d+ /, '')} `])
}

function readCommandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

const getPostmasterFile = (data: string) => join(data, 'postmaster.pid')

function readPostmasterPid(data: string): number | undefined {
  const file = getPostmasterFile(data)
  return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : undefined
}

// Another program may now have the process ID in a stale postmaster.pid, and then PostgreSQL never starts. PostgreSQL ignores the ID of its
// own parent, so this process's ID is written instead. The file must stay, because it also names the shared memory to check.
function disownPostmasterFile(data: string): void {
  const pid = readPostmasterPid(data)
  if (pid === undefined) return
  const line = listCommandLines().find(([linePid]) => linePid === pid)?.[1]
  // A server of another Tillbridge directory doesn't matter: this directory is a copy of that one. The operator must stop any other server.
  const isTillbridge = line?.includes(` -c cluster_name=${clusterPrefix}`)
  if (line === undefined || (!isTillbridge && /^(\S*\/)?postgres\b/.test(line))) return
  const file = getPostmasterFile(data)
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(process.pid)))
}
