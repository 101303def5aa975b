import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'

const shared = '/dev/shm'

/** What a run may come to hold at once, in bytes, and what the machine has to be left. */
const required = { room: 6e9, memory: 10e9 }

/**
 * A directory in memory for all that a run writes, which goes with this process; none where it would be tight, where programs may not be run from it,
 * or where TMPDIR says another place. A run makes and removes files by the hundred thousand, and what is on a disk
 * takes three times the CPU. It shows the same: a process that is killed leaves behind what it has written in either, and nothing cuts the power.
 */
export function directoryInMemory(): string | undefined {
  if (process.env.TMPDIR || !existsSync('/proc/mounts')) return
  const [, , , options = 'noexec'] = findMount(shared)
  if (options.split(',').some(option => ['noexec', 'ro'].includes(option))) return
  const { bavail, bsize } = statfsSync(shared)
  if (bavail * bsize < required.room || process.availableMemory() < required.memory) return
  const directory = mkdtempSync(`${shared}/tillbridge-tests-`)
  process.once('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }))
  // As /tmp is: PostgreSQL is not run by root.
  chmodSync(directory, 0o1777)
  return directory
}

const findMount = (path: string) =>
  readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' '))
    .findLast(([, at, kind]) => at === path && kind === 'tmpfs') ?? []
