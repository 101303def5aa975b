import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'

/** How PostgreSQL's programs are started, and whom their files belong to. */
export interface RunAs {
  /** The command in front of the program. */
  prefix: readonly string[]
  /** Empty: as this process. */
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
  // glibc would give the memory of a page back after each one, and fault it in again for the next.
  MALLOC_TRIM_THRESHOLD_: '4194304',
  MALLOC_MMAP_THRESHOLD_: '4194304',
  MALLOC_TOP_PAD_: '1048576',
}

/**
 * PostgreSQL refuses to run as root. Root therefore gives it to the user whom the data in the directory belongs to, else to another one
 * who can reach both the program and the directory, and where there is none, to a user namespace, in which root carries another number and
 * remains the owner of the files.
 * Answers with the program's major version as well, because the way to know whether it runs is to ask it for that.
 */
export function chooseRunAs(postgres: string, directory: string): { runAs: RunAs; major: string } {
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
    const major = /PostgreSQL\) (\d+)/.exec(result.stdout ?? '')?.[1]
    if (result.status === 0 && major) return { runAs, major }
    failures.push(result.error?.message ?? result.stderr.trim().split('\n').at(-1) ?? '')
  }
  const detail = failures.join('; ')
  throw new Error(
    process.geteuid?.() === 0
      ? `PostgreSQL does not run as root, and no other way to run it in ${directory} was found (${detail}). ` +
          'Run as a normal user, or set DATABASE_URL.'
      : `The bundled PostgreSQL does not run on this machine (${detail}). Set DATABASE_URL.`,
  )
}

function listCandidates(postgres: string, directory: string): RunAs[] {
  const self = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 }
  const service = findServiceUser()
  // initdb looks up its user's name, so that the number inside the namespace must be a known one.
  const map = service ? [`--map-user=${service.uid}`, `--map-group=${service.gid}`] : []
  const inNamespace: RunAs = { prefix: ['unshare', '--user', ...map, '--'], credentials: {}, owner: self }
  if (self.uid !== 0) return [hasUserName() ? { prefix: [], credentials: {}, owner: self } : inNamespace]

  // What is there stays whose it is: its owner starts it without root the next time.
  // "sudo npm start" in a home directory: only the owner of that can reach what is in there.
  const users = [findOwner(join(directory, 'data')), service, findOwner(postgres)].filter(user => user !== undefined)
  return [...users.map(user => ({ prefix: [], credentials: user, owner: user })), inNamespace]
}

/** Unless it is root, or there is nothing. */
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
