import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { isRunning } from '../support/postgres/processes.ts'
import {
  createDirectory,
  findPostgresPid,
  pickPort,
  type RunningServer,
  runCommand,
  runSuccessfully,
  sendGet,
  serve,
  startCommand,
  stopServer,
  waitUntilServing,
  withOccupiedPort,
} from '../support/processes.ts'

const environment = { DATA_DIR: join(createDirectory(), 'data') }
const dataDir = environment.DATA_DIR

test('every invalid setting is listed without secrets and nothing starts', async () => {
  const DATA_DIR = join(createDirectory(), 'data')
  const { code, out, err } = await runCommand(['start'], {
    DATA_DIR,
    PORT: 'https',
    WEB_CONCURRENCY: '0',
    HTTP2: 'yes',
    SECRET_KEY: 'too-short-secret',
    DATABASE_URL: 'mysql://tillbridge:hunter2@db/tillbridge',
    TLS_CERT_FILE: '/nowhere/cert.pem',
  })
  assert.equal(code, 1)
  assert.equal(out, '')
  const lines = err.trimEnd().split('\n')
  const invalidNames = [
    'PORT',
    'TLS_CERT_FILE',
    'HTTP2',
    'WEB_CONCURRENCY',
    'DATABASE_URL',
    'SECRET_KEY',
    'TLS_CERT_FILE and TLS_KEY_FILE',
  ]
  assert.equal(lines.length, invalidNames.length, err)
  for (const [i, name] of invalidNames.entries()) assert.match(lines[i] ?? '', new RegExp(`^(tillbridge: )?${name} `))
  assert.doesNotMatch(err, /too-short-secret|hunter2|\bat .*:\d+/)
  assert.ok(!fs.existsSync(DATA_DIR))
})

test('.env is read and overridden by the environment', async () => {
  const cwd = createDirectory()
  fs.writeFileSync(
    join(cwd, '.env'),
    `# ours\nDATA_DIR="${dataDir}"\n  LOG_LEVEL = info \nPORT=https\n#WEB_CONCURRENCY=0\n`,
  )
  const { code, err } = await runCommand(['start'], {}, { cwd })
  assert.equal(code, 1)
  assert.match(err, /^tillbridge: PORT must be an integer from 0 to 65535; it is "https"\.\n$/)
  const command = startCommand(['start', '--no-demo'], { PORT: '0' }, { cwd })
  await waitUntilServing(command, environment)
  assert.match(command.err, /"level":30/)
  assert.ok(fs.existsSync(join(dataDir, 'secret')))
  assert.deepEqual(await stopServer(command), { code: 0, signal: null })
})

test('--no-demo creates no service and prints the next step', async () => {
  const server = await serve(['--no-demo'], environment)
  assert.match(server.out, /tillbridge service add/)
  assert.doesNotMatch(server.out, /curl|password/)
  assert.equal((await runSuccessfully(['service', 'list'], environment)).trim().split('\n').length, 2)
  assert.ok(!fs.existsSync(join(dataDir, 'access.json')))
  await stopServer(server)
})

for (const [title, settings] of [
  ['a busy port', (PORT: string) => ({ PORT })],
  ['a busy port for plain HTTP', (PLAIN_PORT: string) => ({ PORT: '0', PLAIN_PORT, SHUTDOWN_DELAY_SECONDS: '600' })],
  ['a busy port with several processes', (PORT: string) => ({ PORT, WEB_CONCURRENCY: '2' })],
] as const)
  test(`${title} prints one clear line and stops PostgreSQL again`, async () => {
    await withOccupiedPort(async port => {
      const input = settings(port)
      const { code, err } = await runCommand(['start', '--no-demo'], { ...environment, LOG_LEVEL: 'warn', ...input })
      assert.equal(code, 1)
      const name = 'PLAIN_PORT' in input ? 'PLAIN_PORT' : 'PORT'
      assert.equal(
        err,
        `tillbridge: Port ${port} of 127.0.0.1 is in use by another program. Set ${name} to a free port.\n`,
      )
      assert.ok(!isRunning(findPostgresPid(dataDir) ?? 0))
      assert.ok(!fs.existsSync(join(dataDir, 'database.json')))
    })
  })

test('an address of another machine prints one clear line', async () => {
  const { code, err } = await runCommand(['start', '--no-demo'], {
    ...environment,
    PORT: '0',
    HOST: '192.0.2.1',
    LOG_LEVEL: 'warn',
  })
  assert.equal(code, 1)
  assert.equal(err, "tillbridge: Port 0 of 192.0.2.1 can't be opened (EADDRNOTAVAIL). Check HOST and PORT.\n")
})

test('a data directory that cannot be created prints one line', async () => {
  const file = join(createDirectory(), 'file')
  fs.writeFileSync(file, '')
  const { code, err } = await runCommand(['start', '--no-demo'], { DATA_DIR: join(file, 'data'), PORT: '0' })
  assert.equal(code, 1)
  assert.match(err, /^tillbridge: .*data.*\n$/)
})

test('PLAIN_PORT returns 403 on plain HTTP, never data', async () => {
  const plainPort = pickPort()
  const server = await serve(['--no-demo'], { ...environment, PLAIN_PORT: plainPort })
  const { status, body } = await new Promise<{ status: number; body: string }>((resolve, reject) => {
    request(`http://127.0.0.1:${plainPort}/stores?password=x`, response => {
      let received = ''
      response.on('data', part => {
        received += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: received }))
    })
      .on('error', reject)
      .end()
  })
  assert.equal(status, 403)
  assert.equal(JSON.parse(body).code, 'https_required')
  assert.doesNotMatch(body, /password=x/)
  assert.deepEqual(await stopServer(server), { code: 0, signal: null })
})

const negotiateProtocol = ({ baseUrl, caFile = '' }: RunningServer) =>
  new Promise<unknown>((resolve, reject) => {
    const { port, hostname } = new URL(baseUrl)
    const socket = connect({
      port: Number(port),
      host: hostname,
      servername: 'localhost',
      ca: fs.readFileSync(caFile),
      ALPNProtocols: ['h2', 'http/1.1'],
    })
    socket.on('error', reject)
    socket.on('secureConnect', () => {
      resolve(socket.alpnProtocol)
      socket.destroy()
    })
  })

test('HTTP/2 is off unless HTTP2=true', async () => {
  const off = await serve(['--no-demo'], environment)
  assert.equal(await negotiateProtocol(off), 'http/1.1')
  await stopServer(off)
  const on = await serve(['--no-demo'], { ...environment, HTTP2: 'true' })
  assert.equal(await negotiateProtocol(on), 'h2')
  assert.equal((await sendGet(on, '/health/ready')).status, 200)
  assert.deepEqual(await stopServer(on), { code: 0, signal: null })
})

test('PUBLIC_URL is the base of error links', async () => {
  const server = await serve(['--no-demo'], { ...environment, PUBLIC_URL: 'https://api.example.com/' })
  const { status, json } = await sendGet(server, '/stores')
  assert.equal(status, 401)
  assert.match(json.type, /^https:\/\/api\.example\.com\/errors\//)
  await stopServer(server)
})
