import { spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { childrenOf } from './children.ts'

const debian = '/usr/lib/postgresql'
const [newest] = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []

/** Why there is no PostgreSQL of Debian's, whose programs make standbys; undefined where there is. */
export const noDebianPostgres = newest === undefined ? `there is no ${debian}: apt-get install postgresql` : undefined

const isRoot = process.geteuid?.() === 0

/** Runs a program of PostgreSQL's to its end, as a user who may. */
function run(program: string, args: readonly string[], environment: Environment = {}) {
  // Set where the user has changed already: what is loaded by it may keep things of its own by user.
  const set = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  const all = ['env', ...set, join(debian, newest ?? '', 'bin', program), ...args]
  const [command = '', ...rest] = isRoot
    ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups', '--', ...all]
    : all
  const { status, stderr } = spawnSync(command, rest, {
    cwd: '/',
    encoding: 'utf8',
    timeout: 120_000,
    // A server that is started goes on, and would keep pipes open.
    stdio: program === 'pg_ctl' ? 'ignore' : 'pipe',
  })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr ?? status}`)
}

type Environment = Readonly<Record<string, string>>

interface Place {
  /** A directory of its own, which is made. */
  home: string
  port: number
}

/** A server of Debian's PostgreSQL on this machine. */
export interface DebianServer {
  start(settings?: Readonly<Record<string, string>>, environment?: Environment): void
  /** Ends it and all its processes at once (kill -9). */
  kill(): void
  /** From now on its standbys are sent nothing. */
  holdBack(): void
  promote(): void
  stop(): void
}

function serverIn({ home, port }: Place): DebianServer {
  const data = join(home, 'data')
  const control = (args: readonly string[], environment?: Environment) =>
    run('pg_ctl', ['-D', data, '-w', '-t', '60', ...args], environment)
  return {
    start(settings = {}, environment = {}) {
      const all = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: home, ...settings }
      const options = Object.entries(all).map(([name, value]) => `-c ${name}=${value}`)
      control(['-l', join(home, 'log'), '-o', options.join(' '), 'start'], environment)
    },
    kill() {
      const pid = Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10)
      for (const each of [pid, ...childrenOf(pid)]) process.kill(each, 'SIGKILL')
    },
    holdBack() {
      const pid = Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10)
      for (const each of childrenOf(pid))
        if (readFileSync(`/proc/${each}/cmdline`, 'utf8').includes('walsender')) process.kill(each, 'SIGSTOP')
    },
    promote: () => control(['promote']),
    stop: () => control(['-m', 'immediate', 'stop']),
  }
}

function madeIn(home: string) {
  mkdirSync(home)
  chmodSync(home, 0o711)
  if (!isRoot) return
  const [, , uid, gid] = /^postgres:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[0].split(':') ?? []
  chownSync(home, Number(uid), Number(gid))
}

/** A primary, not started yet; whoever reaches it may do everything. */
export function makePrimary(place: Place): DebianServer {
  madeIn(place.home)
  const data = join(place.home, 'data')
  run('initdb', ['-D', data, '-A', 'trust', '-U', 'tillbridge', '--encoding=UTF8', '--locale=C.UTF-8'])
  return serverIn(place)
}

/** A standby of a primary that runs, not started yet; `name` is what the primary knows it by. */
export function makeStandby(place: Place, primary: Place, name: string): DebianServer {
  madeIn(place.home)
  const data = join(place.home, 'data')
  const at = `host=127.0.0.1 port=${primary.port} user=tillbridge`
  run('pg_basebackup', ['-D', data, '-d', at, '-R', '-c', 'fast'])
  appendFileSync(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${at} application_name=${name}'\n`)
  return serverIn(place)
}
