import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'

const sharedMemory = '/dev/shm'

/** The free bytes that the shared memory file system and the machine must have. */
const requiredBytes = { fileSystem: 6e9, memory: 10e9 }

/**
 * Creates a directory in memory for all files of a run, which is removed with this process. Returns undefined if
 * memory is short, if programs can't be run from it, or if TMPDIR is set. A run creates and removes hundreds of
 * thousands of files, which takes three times the CPU on a disk. Tests find the same errors: written data survives a
 * killed process in both, and no test cuts the power.
 */
export function createDirectoryInMemory(): string | undefined {
  if (process.env.TMPDIR || !existsSync('/proc/mounts')) return
  const [, , , options = 'noexec'] = findMount(sharedMemory)
  if (options.split(',').some(option => ['noexec', 'ro'].includes(option))) return
  const { bavail, bsize } = statfsSync(sharedMemory)
  if (bavail * bsize < requiredBytes.fileSystem || process.availableMemory() < requiredBytes.memory) return
  const directory = mkdtempSync(`${sharedMemory}/tillbridge-tests-`)
  process.once('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }))
  // The same mode as /tmp, because PostgreSQL does not run as root.
  chmodSync(directory, 0o1777)
  return directory
}

const findMount = (path: string) =>
  readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' '))
    .findLast(([, at, kind]) => at === path && kind === 'tmpfs') ?? []
