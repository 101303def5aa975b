import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { findFreePort } from '../support/free-port.ts'
import { createBase } from './image/base.ts'
import { packRelease } from './image/release.ts'
import { buildahMissing } from './image/requirements.ts'
import { type ImageConfig, runInRoot } from './image/run-in-root.ts'
import { runProgram } from './image/run-program.ts'
import { waitUntilReady } from './image/wait-until-ready.ts'

const { here } = new Command('npm run scenario -- image')
  .description(
    "Builds deploy/Dockerfile with Debian's buildah, on a base image from Debian packages, and runs the image like compose.yaml: a read-only root, an\nunprivileged user, no capabilities. Needs root. No registry is used.",
  )
  .option('--here', "builds the base from this machine's packages instead of Debian's archive, without downloads")
  .addHelpText('after', '\nExamples:\n  npm run scenario -- image\n  npm run scenario -- image --here\n')
  .parse()
  .opts<{ here?: boolean }>()

if (buildahMissing) throw new Error(buildahMissing)
const home = mkdtempSync(join(tmpdir(), 'tillbridge-image-'))
chmodSync(home, 0o711)
const store = ['--root', join(home, 'store'), '--runroot', join(home, 'run'), '--storage-driver', 'vfs']
const buildah = (...args: string[]) => runProgram('buildah', ...store, ...args).trim()
const checkout = fileURLToPath(new URL('../..', import.meta.url))
const facts: [fact: string, holds: boolean][] = []

try {
  const base = buildah('from', 'scratch')
  buildah('add', base, createBase(home, here ? 'here' : 'archive'), '/')
  buildah('commit', '--rm', base, 'docker.io/library/debian:12-slim')
  const { dist, name } = packRelease(home)
  const file = join(checkout, 'deploy/Dockerfile')
  const build = ['--isolation', 'chroot', '--format', 'docker', '--pull-never', '--build-arg', `RELEASE=${name}`]
  buildah('build', ...build, '-f', file, '-t', 'tillbridge', dist)
  facts.push(['the image is built from the Dockerfile', true])

  const config: ImageConfig = JSON.parse(buildah('inspect', '--type', 'image', 'tillbridge')).Docker.config
  const [uid = 0, gid = 0] = config.User.split(':').map(Number)
  facts.push(["the image's user is not root", uid > 0 && gid > 0])
  facts.push([
    'the image has a health check and the stop signal SIGTERM',
    config.StopSignal === 'SIGTERM' && config.Healthcheck.Test[0] === 'CMD',
  ])
  const compose = readFileSync(join(checkout, 'deploy/compose.yaml'), 'utf8')
  const [port] = Object.keys(config.ExposedPorts)[0]?.split('/') ?? []
  const [mountPath = ''] = Object.keys(config.Volumes)
  facts.push([
    "compose.yaml has the image's port and volume, and a read-only root",
    compose.includes(`"${port}:${port}"`) &&
      compose.includes(`tillbridge:${mountPath}"`) &&
      /read_only: true/.test(compose),
  ])

  const container = buildah('from', '--pull-never', 'tillbridge')
  const volume = join(home, 'volume')
  mkdirSync(volume, { mode: 0o711 })
  chownSync(volume, uid, gid)
  const hostPort = await findFreePort()
  const image = { root: buildah('mount', container), volume, config, environment: { PORT: String(hostPort) } }
  const runHealthCheck = async () =>
    (await once(runInRoot(image, config.Healthcheck.Test.slice(1)), 'exit'))[0] as number
  const server = runInRoot(image, [...config.Entrypoint, ...config.Cmd])
  const exited = once(server, 'exit')
  const ready = await waitUntilReady(hostPort, join(volume, 'tls/ca.pem'), () => server.exitCode === null)
  facts.push(['the container responds over HTTPS with a read-only root', ready])
  facts.push(['the health check succeeds', (await runHealthCheck()) === 0])
  const socket = readdirSync(volume, { recursive: true })
    .map(String)
    .find(path => path.endsWith('/.s.PGSQL.5432'))
  const psql = [
    'psql',
    `--host=${join(mountPath, dirname(socket ?? ''))}`,
    '--username=tillbridge',
    '--command=select 1',
  ]
  facts.push(["Debian's psql connects to the database", (await once(runInRoot(image, psql), 'exit'))[0] === 0])
  server.kill(config.StopSignal as NodeJS.Signals)
  facts.push(['the stop signal ends the container with exit code 0', (await exited)[0] === 0])
  const postgres = readdirSync(volume, { recursive: true }).map(String)
  facts.push([
    'its PostgreSQL has stopped too, and the data is in the volume',
    postgres.some(path => path.endsWith('PG_VERSION')) && !postgres.some(path => path.endsWith('postmaster.pid')),
  ])
  facts.push(['the health check fails after it has stopped', (await runHealthCheck()) === 1])
} finally {
  rmSync(home, { recursive: true, force: true })
}
for (const [fact, holds] of facts) console.log(`${holds ? '✔' : '✖'} ${fact}`)
if (!facts.every(([, holds]) => holds)) process.exitCode = 1
