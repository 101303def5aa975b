import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'

new Command('npm run scenario -- release')
  .description(
    'Runs a release in the root directory of a bare Debian without npm: read-only, as an unprivileged user, from the first start to a restored backup.',
  )
  .addHelpText('after', '\nExample:\n  npm run scenario -- release\n')
  .parse()

const home = mkdtempSync(join(tmpdir(), 'tillbridge-release-trial-'))
const root = join(home, 'root')
const dist = join(home, 'dist')
const unprivileged = 65_534
const mounted: string[] = []

function run(command: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: 600_000 })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}
const toCommand = (directory: string, command: string) =>
  [
    'chroot',
    `--userspec=${unprivileged}:${unprivileged}`,
    root,
    '/usr/bin/env',
    '-i',
    'PATH=/usr/bin:/bin',
    `DATA_DIR=${directory}`,
    '/bin/sh',
    '-c',
    command,
  ] as const
const tillbridge = (directory: string, command: string) => {
  const [program, ...args] = toCommand(directory, `exec /opt/tillbridge/bin/tillbridge ${command}`)
  return run(program, ...args)
}
function createDataDirectory(name: string) {
  mkdirSync(join(root, name))
  chownSync(join(root, name), unprivileged, unprivileged)
  return `/${name}`
}
function mount(...args: string[]) {
  run('mount', ...args)
  mounted.push(args.at(-1) ?? '')
}

const facts: [fact: string, holds: boolean][] = []
try {
  if (process.geteuid?.() !== 0) throw new Error('This scenario creates a root directory: run it as root.')
  console.log('Building the release and a bare Debian …')
  run(process.execPath, join(import.meta.dirname, '../../scripts/release/release.ts'), '--no-freeze', '--out', dist)
  run('sh', '-c', `cd ${dist} && sha256sum --check SHA256SUMS`)
  run('debootstrap', '--variant=minbase', 'bookworm', root)
  chmodSync(home, 0o755)
  mkdirSync(join(root, 'opt/tillbridge'))
  const archive = readdirSync(dist).find(name => name.endsWith('.tar.gz')) ?? ''
  run('tar', '-xzf', join(dist, archive), '-C', join(root, 'opt/tillbridge'), '--strip-components=1')
  for (const directory of ['first', 'second']) createDataDirectory(directory)
  mount('-t', 'proc', 'proc', join(root, 'proc'))
  mount('--bind', join(root, 'opt/tillbridge'), join(root, 'opt/tillbridge'))
  run('mount', '-o', 'remount,ro,bind', join(root, 'opt/tillbridge'))
  if (!existsSync(join(root, 'dev/null'))) run('mknod', '-m', '666', join(root, 'dev/null'), 'c', '1', '3')

  const [program, ...args] = toCommand('/first', 'exec /opt/tillbridge/bin/tillbridge start')
  const server = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  server.stdout.on('data', text => {
    output += text
  })
  for (let i = 0; i < 120 && !output.includes('Press Ctrl-C to stop.') && server.exitCode === null; i++)
    await delay(1_000)
  facts.push(['one command starts the server', output.includes('Press Ctrl-C to stop.')])
  const [healthCommand, ...healthArgs] = toCommand('/first', '/opt/tillbridge/bin/healthy')
  facts.push(['the health check succeeds', spawnSync(healthCommand, healthArgs).status === 0])
  tillbridge('/first', 'backup --plain /first/backup')
  server.kill('SIGTERM')
  const code = await new Promise(resolve => server.once('exit', resolve))
  facts.push(['SIGTERM ends the server with exit code 0', code === 0])
  facts.push(['the health check fails after it has stopped', spawnSync(healthCommand, healthArgs).status === 1])
  run('cp', join(root, 'first/secret'), join(root, 'second/secret'))
  chownSync(join(root, 'second/secret'), unprivileged, unprivileged)
  tillbridge('/second', 'restore /first/backup')
  facts.push(['the backup is restored', /^demo /m.test(tillbridge('/second', 'service list'))])
} finally {
  for (const mountPoint of mounted.reverse()) spawnSync('umount', [mountPoint])
  rmSync(home, { recursive: true, force: true })
}
for (const [fact, holds] of facts) console.log(`${holds ? '✔' : '✖'} ${fact}`)
if (!facts.every(([, holds]) => holds)) process.exitCode = 1
