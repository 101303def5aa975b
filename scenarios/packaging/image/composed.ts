import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from './run-program.ts'
import { waitUntilReady } from './wait-until-ready.ts'

// Checks of scenarios/packaging/compose.ts, on a separate machine.

const file = 'deploy/compose.evaluation.yaml'
const container = 'deploy_tillbridge_1'
const [, grace = ''] = readFileSync(file, 'utf8').match(/^ *stop_grace_period: (\d+)s$/m) ?? []
const facts: [fact: string, holds: boolean][] = []

/** podman-compose exits with 0 even if its commands fail, so the output is checked. */
const runCompose = (...args: string[]) =>
  spawnSync('podman-compose', ['-f', file, ...args], { stdio: ['ignore', 2, 2] })
const runInContainer = (...command: string[]) =>
  spawnSync('podman', ['exec', container, ...command], { encoding: 'utf8' })
const hasService = () => runInContainer('tillbridge', 'service', 'list').stdout.includes('luma')
const inspectState = () => JSON.parse(runProgram('podman', 'inspect', '--format', '{{json .State}}', container))

runProgram('podman', 'import', 'base.tar', 'docker.io/library/debian:12-slim')
runCompose('up', '--build', '-d')
const volume = runProgram('podman', 'volume', 'inspect', '--format', '{{.Mountpoint}}', 'deploy_tillbridge').trim()
const ca = join(volume, 'tls/ca.pem')
facts.push(['podman-compose builds the image, and the container responds over HTTPS', await waitUntilReady(8443, ca)])
// Debian's podman runs health checks from systemd timers, so run one directly.
facts.push(['the health check succeeds', spawnSync('podman', ['healthcheck', 'run', container]).status === 0])
const { stdout: status } = runInContainer('cat', '/proc/1/status')
facts.push([
  'the user has no capabilities and can gain none',
  /^Uid:\t10001\t/m.test(status) && /^CapBnd:\t0+$/m.test(status) && /^NoNewPrivs:\t1$/m.test(status),
])
const touched = spawnSync('podman', ['exec', '--user', '0', container, 'touch', '/opt/written'], { encoding: 'utf8' })
facts.push(['the root is read-only', touched.stderr.includes('Read-only file system')])
runCompose('exec', '-T', 'tillbridge', 'tillbridge', 'service', 'add', 'luma')
facts.push(['commands run in the container', hasService()])
const socket = '/var/lib/tillbridge/postgres/socket'
const { stdout: selected } = runInContainer(
  'psql',
  `--host=${socket}`,
  '--username=tillbridge',
  '-Atc',
  'select name from service',
)
facts.push(["Debian's psql connects to the database", selected === 'luma\n'])

const began = Date.now()
runCompose('stop', '-t', grace)
const { ExitCode } = inspectState()
const inTime = Date.now() - began < Number(grace) * 1000
const volumeFiles = readdirSync(volume, { recursive: true }).map(String)
facts.push([
  'the container stops with exit code 0 within its stop_grace_period',
  ExitCode === 0 && inTime && !volumeFiles.some(path => path.endsWith('postmaster.pid')),
])
const authority = readFileSync(ca, 'utf8')
runCompose('down', '-t', grace)
runCompose('up', '-d')
facts.push([
  'down and up keep the certificate authority and the service',
  (await waitUntilReady(8443, ca)) && readFileSync(ca, 'utf8') === authority && hasService(),
])
runCompose('down', '-t', grace)
for (const [fact, holds] of facts) console.log(`${holds ? '✔' : '✖'} ${fact}`)
if (!facts.every(([, holds]) => holds)) process.exitCode = 1
