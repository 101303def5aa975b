import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../../scenarios/support/free-port.ts'

const program = '/usr/sbin/sshd'

/** The reason to skip a test if OpenSSH's server isn't installed; undefined if it is. */
export const sshdMissing = existsSync(program)
  ? undefined
  : `${program} is not installed (apt-get install openssh-server)`

/** An OpenSSH server on this machine that serves a folder over SFTP to the user that runs the tests, who signs in with a key. */
export interface Sshd {
  port: number
  user: string
  hostKey: string
  /** The file of the private key that the server accepts. */
  keyFile: string
  /** The file of a private key that the server rejects. */
  unknownKeyFile: string
  folder: string
  start(): Promise<void>
  /** Kills the server and all its connections, as a crash of the machine would. */
  kill(): Promise<void>
  /** Kills the server and removes its files. */
  remove(): Promise<void>
}

export async function startSshd(): Promise<Sshd> {
  const home = mkdtempSync(join(tmpdir(), 'tillbridge-sshd-'))
  const inHome = (name: string) => join(home, name)
  for (const key of ['host', 'user', 'stranger']) runKeygen('-q', '-t', 'ed25519', '-N', '', '-f', inHome(key))
  writeFileSync(inHome('authorized_keys'), readFileSync(inHome('user.pub')), { mode: 0o600 })
  mkdirSync(inHome('files'))
  const port = await findFreePort()
  const settings = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${inHome('host')}`,
    `AuthorizedKeysFile ${inHome('authorized_keys')}`,
    `PidFile ${inHome('pid')}`,
    ...['StrictModes no', 'UsePAM no', 'PermitRootLogin yes', 'PasswordAuthentication yes'],
    'Subsystem sftp internal-sftp',
    'ForceCommand internal-sftp',
  ]
  writeFileSync(inHome('config'), `${settings.join('\n')}\n`)
  chmodSync(home, 0o755)
  // On Debian, this directory only exists after the SSH service was started.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true })
  let child: ChildProcess | undefined

  async function start() {
    const fresh = spawn(program, ['-D', '-e', '-f', inHome('config')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    child = fresh
    let output = ''
    for await (const text of fresh.stderr) {
      output += text
      if (/Server listening/.test(output)) break
    }
    if (!/Server listening/.test(output)) throw new Error(`sshd did not start: ${output}`)
  }

  const killProcesses = () => {
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    for (const pid of [...listSessions(child.pid), child.pid]) process.kill(pid, 'SIGKILL')
    return exited
  }
  const kill = async () => {
    await killProcesses()
  }
  // Cleans up after an interrupted test file too, because test/support/processes.ts ends it with `process.exit`.
  process.once('exit', () => {
    killProcesses()
    rmSync(home, { recursive: true, force: true })
  })

  await start()
  return {
    port,
    user: userInfo().username,
    hostKey: runKeygen('-lf', inHome('host.pub')).split(' ')[1] ?? '',
    keyFile: inHome('user'),
    unknownKeyFile: inHome('stranger'),
    folder: inHome('files'),
    start,
    kill,
    async remove() {
      await kill()
      rmSync(home, { recursive: true })
    },
  }
}

function runKeygen(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('ssh-keygen', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`ssh-keygen: ${stderr}`)
  return stdout
}

/** Returns the processes of a server's connections, which run in separate sessions. Descendants come first. */
function listSessions(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
  const children = stdout.split(/\s+/).filter(Boolean).map(Number)
  return children.flatMap(child => [...listSessions(child), child])
}
