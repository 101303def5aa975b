import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

// A fast shutdown writes at most shared_buffers to the disk; an immediate one leaves the rest to the recovery at the next start.
const signals = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const

/** What the names of our clusters begin with. */
const clusterPrefix = 'tillbridge-'

/** The name of the cluster in this directory: a copy of it has another one, by whatever path either is reached. */
export function getClusterName(directory: string): string {
  const { dev, ino } = statSync(directory)
  return `${clusterPrefix}${dev}-${ino}`
}

/**
 * Ends what an earlier owner of the data directory has left running, and makes its process file harmless.
 * To be called with the directory's lock held: then no owner can be alive.
 * All of PostgreSQL's processes carry their `cluster_name` in their command line; it must be unique to the directory.
 */
export async function endOrphans(data: string, clusterName: string): Promise<void> {
  for (const [signal, graceMs] of signals) {
    if (findOrphans(clusterName).length === 0) break
    const end = Date.now() + graceMs
    signalOrphans(data, clusterName, signal)
    while (findOrphans(clusterName).length > 0 && Date.now() < end) await delay(20)
  }
  const survivors = findOrphans(clusterName)
  if (survivors.length > 0) throw new Error(`PostgreSQL's process ${survivors.join(', ')} in ${data} cannot be ended.`)
  disownPostmasterFile(data)
}

/** Ends an initdb that an earlier owner of the directory has left running, together with what it has started. */
export function killInitdb(data: string): void {
  for (const [pid, line] of listCommandLines()) {
    if (line.includes(` --pgdata=${data} `)) tryKill(-pid, 'SIGKILL')
  }
}

function signalOrphans(data: string, clusterName: string, signal: NodeJS.Signals): void {
  const orphans = findOrphans(clusterName)
  const postmaster = orphans.find(pid => pid === readPostmasterPid(data))
  // Without their postmaster the others serve nobody, and recovery does not need them.
  const [targets, finalSignal]: [number[], NodeJS.Signals] =
    postmaster && signal !== 'SIGKILL' ? [[postmaster], signal] : [orphans, 'SIGKILL']
  for (const pid of targets) tryKill(pid, finalSignal)
}

function tryKill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended in between.
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

// The number in a left process file may belong to some other program by now, and PostgreSQL would refuse to start for ever.
// It disregards its parent's number, which is ours. The file must stay: it also names the shared memory that has to be unused.
function disownPostmasterFile(data: string): void {
  const pid = readPostmasterPid(data)
  if (pid === undefined) return
  const line = listCommandLines().find(([other]) => other === pid)?.[1]
  // A server of another directory of ours does not matter: this directory is a copy of that one. Any other server here has to be ended by
  // whoever began it.
  const isOther = line?.includes(` -c cluster_name=${clusterPrefix}`)
  if (line === undefined || (!isOther && /^(\S*\/)?postgres\b/.test(line))) return
  const file = getPostmasterFile(data)
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(process.pid)))
}
