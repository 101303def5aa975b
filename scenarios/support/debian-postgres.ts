import { spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listChildPids } from './children.ts'

const debian = '/usr/lib/postgresql'
const [newest] = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []

/** Why a test is skipped if Debian's PostgreSQL is missing, whose programs create standbys; otherwise undefined. */
export const debianPostgresMissing =
  newest === undefined ? `${debian} is missing: apt-get install postgresql` : undefined

const isRoot = process.geteuid?.() === 0

/** Runs a program of PostgreSQL to its end, as the user postgres if this process is root. */
function run(program: string, args: readonly string[], environment: Environment = {}) {
  // Set after the user has changed: preloaded libraries can keep files by user.
  const set = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  const commandLine = ['env', ...set, join(findDebianPrograms(), program), ...args]
  const [command = '', ...prefix] = isRoot
    ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups', '--', ...commandLine]
    : commandLine
  const { status, stderr } = spawnSync(command, prefix, {
    cwd: '/',
    encoding: 'utf8',
    timeout: 120_000,
    // A started server keeps running, and would keep pipes open.
    stdio: program === 'pg_ctl' ? 'ignore' : 'pipe',
  })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr ?? status}`)
}

type Environment = Readonly<Record<string, string>>

interface ServerLocation {
  /** A directory that is created. */
  home: string
  port: number
}

/** A server of Debian's PostgreSQL on this machine. */
export interface DebianServer {
  start(settings?: Readonly<Record<string, string>>, environment?: Environment): void
  /** Kills the server and all its processes (kill -9). */
  kill(): void
  stopSendingWal(): void
  promote(): void
  stop(): void
}

function createServerHandle({ home, port }: ServerLocation): DebianServer {
  const data = join(home, 'data')
  const control = (args: readonly string[], environment?: Environment) =>
    run('pg_ctl', ['-D', data, '-w', '-t', '60', ...args], environment)
  return {
    start(settings = {}, environment = {}) {
      const allSettings = {
        listen_addresses: '127.0.0.1',
        port: String(port),
        unix_socket_directories: home,
        ...settings,
      }
      const options = Object.entries(allSettings).map(([name, value]) => `-c ${name}=${value}`)
      control(['-l', join(home, 'log'), '-o', options.join(' '), 'start'], environment)
    },
    kill() {
      const pid = Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10)
      for (const processId of [pid, ...listChildPids(pid)]) process.kill(processId, 'SIGKILL')
    },
    stopSendingWal() {
      const pid = Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10)
      for (const child of listChildPids(pid))
        if (readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('walsender')) process.kill(child, 'SIGSTOP')
    },
    promote: () => control(['promote']),
    stop: () => control(['-m', 'immediate', 'stop']),
  }
}

/** Returns the directory with the programs of Debian's PostgreSQL. */
export const findDebianPrograms = () => join(debian, newest ?? '', 'bin')

/** Creates a directory of the user postgres, or of this user if it isn't root. */
export function createHome(home: string) {
  mkdirSync(home)
  chmodSync(home, 0o711)
  if (!isRoot) return
  const [, , uid, gid] = /^postgres:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[0].split(':') ?? []
  chownSync(home, Number(uid), Number(gid))
}

/** Creates a primary without starting it. It trusts every connection. */
export function createPrimary(location: ServerLocation): DebianServer {
  createHome(location.home)
  const data = join(location.home, 'data')
  run('initdb', ['-D', data, '-A', 'trust', '-U', 'tillbridge', '--encoding=UTF8', '--locale=C.UTF-8'])
  return createServerHandle(location)
}

/** Creates a standby of a running primary without starting it; `name` is its application name at the primary. */
export function createStandby(location: ServerLocation, primary: ServerLocation, name: string): DebianServer {
  createHome(location.home)
  const data = join(location.home, 'data')
  const connection = `host=127.0.0.1 port=${primary.port} user=tillbridge`
  run('pg_basebackup', ['-D', data, '-d', connection, '-R', '-c', 'fast'])
  appendFileSync(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${connection} application_name=${name}'\n`)
  return createServerHandle(location)
}
