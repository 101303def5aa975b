import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { startSimulator } from '../../simulator/simulator.ts'
import { install } from '../support/installations/installations.ts'
import {
  createDirectory,
  pickPort,
  type RunningServer,
  readAccess,
  runCommand,
  runSuccessfully,
  sendGet,
  serve,
  startCommand,
  stopServer,
  waitUntil,
  waitUntilServing,
} from '../support/processes.ts'

const files = createDirectory()
const environment = { DATA_DIR: join(createDirectory(), 'data') }

/** Creates a self-signed certificate and its key with openssl. */
function createCertificate(name: string, { names = 'DNS:localhost,IP:127.0.0.1', days = '365' } = {}) {
  const [TLS_CERT_FILE, TLS_KEY_FILE] = [join(files, `${name}.pem`), join(files, `${name}-key.pem`)]
  const args = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', `/CN=${name}`]
  execFileSync(
    'openssl',
    [
      'req',
      ...args,
      '-days',
      days,
      '-addext',
      `subjectAltName=${names}`,
      '-keyout',
      TLS_KEY_FILE,
      '-out',
      TLS_CERT_FILE,
    ],
    { stdio: 'pipe' },
  )
  return { TLS_CERT_FILE, TLS_KEY_FILE }
}

const getFingerprint = (file: string) => new X509Certificate(fs.readFileSync(file)).fingerprint256

/** Returns the fingerprint of the certificate that the server presents on a new connection. */
const getServedFingerprint = ({ baseUrl }: RunningServer) =>
  new Promise<string>((resolve, reject) => {
    const { port } = new URL(baseUrl)
    const socket = connect({
      port: Number(port),
      host: '127.0.0.1',
      servername: 'localhost',
      rejectUnauthorized: false,
    })
    socket.on('error', reject)
    socket.on('secureConnect', () => {
      resolve(socket.getPeerCertificate().fingerprint256)
      socket.destroy()
    })
  })

test('a local certificate is created once and kept with the data', async () => {
  const first = await serve(['--no-demo'], await install(environment))
  const fingerprint = await getServedFingerprint(first)
  await stopServer(first)
  const second = await serve(['--no-demo'], environment)
  assert.equal(await getServedFingerprint(second), fingerprint)
  await stopServer(second)
})

test('TLS_CERT_FILE and TLS_KEY_FILE are reloaded without a restart', async t => {
  const certificate = createCertificate('mine')
  const server = await serve(['--no-demo'], { ...environment, ...certificate, LOG_LEVEL: 'info' })
  assert.equal(await getServedFingerprint(server), getFingerprint(certificate.TLS_CERT_FILE))
  assert.equal((await sendGet(server, '/health/ready')).status, 200)
  assert.doesNotMatch(server.out, /cacert/)

  const next = createCertificate('next')
  fs.renameSync(next.TLS_CERT_FILE, certificate.TLS_CERT_FILE)
  fs.renameSync(next.TLS_KEY_FILE, certificate.TLS_KEY_FILE)
  const replacedAt = performance.now()
  await waitUntil(
    async () => (await getServedFingerprint(server)) === getFingerprint(certificate.TLS_CERT_FILE),
    'the new certificate is presented',
    15_000,
  )
  t.diagnostic(`reloaded after ${Math.round(performance.now() - replacedAt)} ms`)
  assert.equal((await sendGet(server, '/health/ready')).status, 200)

  const inUse = await getServedFingerprint(server)
  fs.writeFileSync(certificate.TLS_CERT_FILE, 'not a certificate')
  await waitUntil(() => server.err.includes('changed certificate is invalid'), 'the error is logged', 15_000)
  assert.equal(await getServedFingerprint(server), inUse)
  assert.deepEqual(await stopServer(server), { code: 0, signal: null })
})

for (const [title, settings, line] of [
  [
    'a key that does not fit',
    () => ({ ...createCertificate('a'), TLS_KEY_FILE: createCertificate('b').TLS_KEY_FILE }),
    /^tillbridge: The key in \S+b-key\.pem must belong to the certificate in \S+a\.pem\.\n$/,
  ],
  [
    'a certificate that is none',
    () => {
      const pair = createCertificate('c')
      fs.writeFileSync(pair.TLS_CERT_FILE, 'hello')
      return pair
    },
    /^tillbridge: \S+c\.pem must contain a certificate in PEM format\.\n$/,
  ],
  [
    'a certificate that cannot be read',
    () => ({ ...createCertificate('d'), TLS_CERT_FILE: files }),
    /^tillbridge: \S+ can't be read \(EISDIR\)\.\n$/,
  ],
  [
    'a key file that is missing',
    () => ({ ...createCertificate('e'), TLS_KEY_FILE: join(files, 'nowhere.pem') }),
    /^tillbridge: TLS_KEY_FILE must name an existing file; it is "\S+nowhere\.pem"\.\n$/,
  ],
] as const)
  test(`${title} stops the start with a line that names it`, async () => {
    const { code, out, err } = await runCommand(['start', '--no-demo'], { ...environment, ...settings(), PORT: '0' })
    assert.equal(code, 1)
    assert.equal(out, '')
    assert.match(err, line)
  })

test('a certificate with ten days left is reported at the start', async () => {
  for (const [days, isLogged] of [
    ['10', true],
    ['365', false],
  ] as const) {
    const certificate = createCertificate(`ends-in-${days}`, { days })
    const port = pickPort()
    const server = await serve(['--no-demo'], { ...environment, ...certificate, METRICS_PORT: port })
    assert.equal(/"level":"?(warn|40)"?.*"notAfter":.*certificate expires soon/.test(server.err), isLogged, server.err)
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    const [, end] = /^tillbridge_certificate_expiry_timestamp_seconds (\S+)$/m.exec(metrics) ?? []
    const { validToDate } = new X509Certificate(fs.readFileSync(certificate.TLS_CERT_FILE))
    assert.equal(Number(end) * 1_000, validToDate.getTime())
    await stopServer(server)
  }
})

test('doctor reports an expiring certificate and a mismatched key', async () => {
  await runSuccessfully(['service', 'add', 'luma'], environment)
  await runSuccessfully(['account', 'add', 'webshop'], environment)
  const soon = await runCommand(['doctor'], { ...environment, ...createCertificate('soon', { days: '10' }) })
  assert.equal(soon.code, 1)
  assert.match(soon.out, /^FAIL {2}Certificate +\S+soon\S+, expires in (9|10) days\. Renew it\.$/m)
  const mismatchedPair = { ...createCertificate('f'), TLS_KEY_FILE: createCertificate('g').TLS_KEY_FILE }
  const wrong = await runCommand(['doctor'], { ...environment, ...mismatchedPair })
  assert.equal(wrong.code, 1)
  assert.match(wrong.out, /^FAIL {2}Certificate +The key in \S+ must belong to the certificate in \S+\.$/m)
})

test('a first request is printed with a custom certificate too', async t => {
  const DATA_DIR = join(createDirectory(), 'data')
  // Syncing a few records of a back office is faster than creating the demo shop.
  const simulator = await startSimulator({ sizes: { persons: 3 } })
  t.after(() => simulator.close())
  const backOffice = {
    BACK_OFFICE: 'apparel21',
    BACK_OFFICE_URL: simulator.url,
    BACK_OFFICE_COUNTRY: 'AU',
    BACK_OFFICE_TIME_ZONE: 'Australia/Melbourne',
    RUN_JOBS: 'false',
  }
  const settings = { ...createCertificate('h'), ...backOffice, DATA_DIR, PORT: '0', SECRET_KEY: 'x'.repeat(32) }
  const server = await waitUntilServing(startCommand(['start'], settings), settings)
  const line = /^ +(curl .*)$/m.exec(server.out)?.[1] ?? ''
  assert.doesNotMatch(line, /-k|--insecure|--cacert/)
  const { code, out } = await runCommand(
    ['-c', line],
    { CURL_CA_BUNDLE: settings.TLS_CERT_FILE },
    { program: ['bash'] },
  )
  assert.equal(code, 0)
  assert.equal(JSON.parse(out).data.length, 2)
  assert.deepEqual(Object.keys(readAccess(DATA_DIR)), ['baseUrl', 'username', 'password', 'serviceName'])
  await stopServer(server)
})
