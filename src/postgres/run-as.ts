import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'

/** The way to start PostgreSQL's programs, and the owner of their files. */
export interface RunAs {
  /** A command to put before the program. */
  prefix: readonly string[]
  /** Empty to run as the user of this process. */
  credentials: { uid?: number; gid?: number }
  owner: User
}

interface User {
  uid: number
  gid: number
}

/** Fixed, because an inherited LD_LIBRARY_PATH or PGOPTIONS would change what runs. */
export const environment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  // Otherwise glibc returns the memory of each page to the system and faults it in again for the next one.
  MALLOC_TRIM_THRESHOLD_: '4194304',
  MALLOC_MMAP_THRESHOLD_: '4194304',
  MALLOC_TOP_PAD_: '1048576',
}

/**
 * Chooses the user that runs PostgreSQL, because PostgreSQL rejects root. For root this is the owner of the data directory, otherwise a user
 * that can access both program and directory. If there is no such user, PostgreSQL runs in a user namespace, in which root has another user
 * ID and still owns the files.
 * Each candidate is tried with `--version`, so the program's version is returned too. Throws if no candidate works.
 */
export function chooseRunAs(postgres: string, directory: string): { runAs: RunAs; version: string; major: string } {
  const failures: string[] = []
  for (const runAs of listCandidates(postgres, directory)) {
    const [command = '', ...prefix] = [...runAs.prefix, '/bin/sh']
    const script = 'cd "$1" && exec "$2" --version'
    const result = spawnSync(command, [...prefix, '-c', script, 'sh', directory, postgres], {
      ...runAs.credentials,
      env: environment,
      cwd: '/',
      encoding: 'utf8',
    })
    const [, version, major] = /PostgreSQL\) ((\d+)\S*)/.exec(result.stdout ?? '') ?? []
    if (result.status === 0 && version && major) return { runAs, version, major }
    failures.push(result.error?.message ?? result.stderr.trim().split('\n').at(-1) ?? '')
  }
  const detail = failures.join('; ')
  if (process.geteuid?.() !== 0 && !hasUserName())
    throw new Error(
      `User ID ${process.geteuid?.()} has no name, which PostgreSQL requires. Under systemd, install libnss-systemd. Otherwise, add the user to /etc/passwd, or set DATABASE_URL.`,
    )
  throw new Error(
    process.geteuid?.() === 0
      ? `PostgreSQL can't run as root, and no other user can run it in ${directory} (${detail}). ` +
          'Run as a normal user, or set DATABASE_URL.'
      : `${postgres} can't run on this machine (${detail}). Set POSTGRES_BIN_DIR or DATABASE_URL.`,
  )
}

function listCandidates(postgres: string, directory: string): RunAs[] {
  const self = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 }
  const service = findServiceUser()
  // initdb looks up its user name, so the user ID inside the namespace must exist.
  const map = service ? [`--map-user=${service.uid}`, `--map-group=${service.gid}`] : []
  const inNamespace: RunAs = { prefix: ['unshare', '--user', ...map, '--'], credentials: {}, owner: self }
  if (self.uid !== 0) return [hasUserName() ? { prefix: [], credentials: {}, owner: self } : inNamespace]

  // Existing data keeps its owner, who can start it without root next time. The owner of the program is tried too: after "sudo npm start" in
  // a home directory, only that user can access the files.
  const users = [findOwner(join(directory, 'data')), service, findOwner(postgres)].filter(user => user !== undefined)
  return [...users.map(user => ({ prefix: [], credentials: user, owner: user })), inNamespace]
}

/** Returns the owner of a path. Returns undefined if it is root or the path doesn't exist. */
function findOwner(path: string): User | undefined {
  const { uid = 0, gid = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {}
  return uid === 0 ? undefined : { uid, gid }
}

function findServiceUser(): User | undefined {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of ['postgres', '_postgres', 'nobody']) {
    const [, , uid, gid] = lines.find(line => line.startsWith(`${name}:`))?.split(':') ?? []
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) }
  }
  return undefined
}

function hasUserName(): boolean {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}
