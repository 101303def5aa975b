import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { installPipTools } from '../../scenarios/support/install-tools.ts'
import { buildDocuments } from '../documents/write.ts'
import { toTestedDocument } from './findings.ts'

// Tests the API with Schemathesis: requests generated from the OpenAPI document, against a separate server with the
// demo shop. Arguments after `--` are passed on: npm run schemathesis -- --phases fuzzing --seed 7

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const cli = join(checkout, 'src/cli.js')

function fail(reason: string): never {
  console.error(reason)
  process.exit(1)
}

const programs = await installPipTools('schemathesis==4.32.5')
if (!programs) fail('Schemathesis needs Python 3.10 or later with venv.')
const directory = mkdtempSync(join(tmpdir(), 'tillbridge-schemathesis-'))
const dataDir = join(directory, 'data')
const environment = { PATH: process.env.PATH, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' }

function tillbridge(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], { env: environment, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return stdout
}

/** Resolves with the base URL of the server when it is ready. */
async function waitForAddress(child: ChildProcess): Promise<string> {
  let output = ''
  for await (const part of child.stdout ?? []) {
    output += part
    const baseUrl = /serves (https:\S+?)[. ]/.exec(output)?.[1]
    if (baseUrl && output.includes('Press Ctrl-C to stop.')) return baseUrl
  }
  throw new Error(`The server ended before it was ready: ${output}`)
}

/** Resets the counters of wrong passwords and PINs five times a second. Returns a function that stops that. */
async function startResettingCounters(): Promise<() => Promise<void>> {
  const client = new pg.Client(JSON.parse(readFileSync(join(dataDir, 'database.json'), 'utf8')))
  await client.connect()
  const timer = setInterval(() => client.query('delete from failure').catch(() => {}), 200)
  return () => {
    clearInterval(timer)
    return client.end()
  }
}

// Ctrl-C also reaches Schemathesis and the server. Their files are removed after they have ended.
process.on('SIGINT', () => {})
mkdirSync(dataDir, { mode: 0o711 })
console.log('Starting a server with the demo shop …')
const server = spawn(process.execPath, [cli, 'start'], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] })
try {
  const baseUrl = await waitForAddress(server)
  tillbridge('service', 'set', 'demo', 'readsPerMinute=off', 'writesPerMinute=off')
  tillbridge('account', 'add', 'webshop', '--service', 'demo')
  const password = /^Password: (\S+)$/m.exec(
    tillbridge('account', 'add', 'tester', '--service', 'demo', '--role', 'admin'),
  )
  const { 'openapi.json': document = '' } = await buildDocuments()
  writeFileSync(join(directory, 'openapi.json'), JSON.stringify(toTestedDocument(JSON.parse(document))))
  const stopResetting = await startResettingCounters()
  const inThisFolder = (name: string) => fileURLToPath(new URL(name, import.meta.url))
  const args = [
    ...['--config-file', inThisFolder('schemathesis.toml'), 'run', join(directory, 'openapi.json')],
    ...['--url', baseUrl, '--checks', 'all'],
    ...['--tls-verify', join(dataDir, 'tls/ca.pem'), '--auth', `tester:${password?.[1]}`, '--workers', '1'],
    ...['--generation-database', 'none', '--max-examples', '25', '--max-time', '540', ...process.argv.slice(2)],
  ]
  const child = spawn(join(programs, 'schemathesis'), args, {
    cwd: directory,
    env: { ...process.env, SCHEMATHESIS_HOOKS: inThisFolder('formats.py') },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [status] = await once(child, 'exit')
  await stopResetting()
  process.exitCode = status ?? 1
} finally {
  server.kill('SIGTERM')
  if (server.exitCode === null) await once(server, 'exit')
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
}
