import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { ensureLocalCertificate } from '../../src/tls/tls.ts'
import { createTemporaryDirectory, getMode } from '../support/postgres/processes.ts'

const run = promisify(execFile)
const needsOpenssl = spawnSync('openssl', ['version']).error ? 'needs openssl' : false
const dayMs = 86_400_000

test('a local certificate is created quickly in a private directory and reused', t => {
  const directory = join(createTemporaryDirectory(t), 'tls')
  const startedAt = performance.now()
  const first = ensureLocalCertificate(directory)
  const tookMs = performance.now() - startedAt
  t.diagnostic(`local certificate: ${Math.round(tookMs)} ms`)
  assert.ok(tookMs < 500)
  assert.equal(getMode(directory), 0o700)
  assert.equal(getMode(join(directory, 'key.pem')), 0o600)
  assert.equal(getMode(join(directory, 'ca-key.pem')), 0o600)
  assert.deepEqual(fs.readdirSync(directory).sort(), ['ca-key.pem', 'ca.pem', 'cert.pem', 'key.pem'])
  assert.deepEqual(ensureLocalCertificate(directory), first)
})

test('a local certificate is limited to localhost and 397 days', t => {
  const { cert, caFile } = ensureLocalCertificate(createTemporaryDirectory(t))
  const certificate = new X509Certificate(cert)
  const ca = new X509Certificate(fs.readFileSync(caFile))
  assert.equal(certificate.subjectAltName, 'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1')
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1'])
  assert.equal(certificate.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1')
  assert.ok(getValidDays(certificate) <= 397)
  assert.equal(getValidDays(ca), 3_650)
  assert.ok(ca.ca && !certificate.ca && certificate.verify(ca.publicKey))
})

test('openssl accepts the chain in strict mode', { skip: needsOpenssl }, async t => {
  const { caFile, certFile } = ensureLocalCertificate(createTemporaryDirectory(t))
  const strict = ['verify', '-x509_strict', '-purpose', 'sslserver', '-verify_hostname', 'localhost']
  const { stdout } = await run('openssl', [...strict, '-CAfile', caFile, certFile])
  assert.equal(stdout, `${certFile}: OK\n`)
})

test('a local certificate is renewed in its last 30 days', t => {
  const directory = createTemporaryDirectory(t)
  const first = ensureLocalCertificate(directory)
  const ca = fs.readFileSync(first.caFile, 'utf8')
  t.mock.timers.enable({ apis: ['Date'], now: first.notAfter.getTime() - 31 * dayMs })
  assert.equal(ensureLocalCertificate(directory).cert, first.cert)
  t.mock.timers.setTime(first.notAfter.getTime() - 29 * dayMs)
  const second = ensureLocalCertificate(directory)
  assert.notEqual(second.cert, first.cert)
  assert.equal(fs.readFileSync(second.caFile, 'utf8'), ca)
  assert.ok(second.notAfter.getTime() - first.notAfter.getTime() > 300 * dayMs)
})

test('a local authority is renewed and outlives its certificates', t => {
  const directory = createTemporaryDirectory(t)
  const { caFile } = ensureLocalCertificate(directory)
  const ca = fs.readFileSync(caFile, 'utf8')
  const end = new X509Certificate(ca).validToDate
  t.mock.timers.enable({ apis: ['Date'], now: end.getTime() - 40 * dayMs })
  assert.deepEqual(ensureLocalCertificate(directory).notAfter, end)
  t.mock.timers.setTime(end.getTime() - 29 * dayMs)
  const renewed = ensureLocalCertificate(directory)
  assert.notEqual(fs.readFileSync(caFile, 'utf8'), ca)
  assert.ok(new X509Certificate(renewed.cert).verify(new X509Certificate(fs.readFileSync(caFile)).publicKey))
})

test('missing, damaged or mismatched files are created again', t => {
  const directory = createTemporaryDirectory(t)
  const other = createTemporaryDirectory(t)
  const { caFile, certFile } = ensureLocalCertificate(directory)
  ensureLocalCertificate(other)
  const isComplete = () => {
    const { cert } = ensureLocalCertificate(directory)
    return new X509Certificate(cert).verify(new X509Certificate(fs.readFileSync(caFile)).publicKey)
  }
  for (const name of ['ca.pem', 'ca-key.pem', 'cert.pem', 'key.pem']) {
    const file = join(directory, name)
    fs.rmSync(file)
    assert.ok(isComplete(), `without ${name}`)
    fs.writeFileSync(file, 'damaged')
    assert.ok(isComplete(), `with ${name} damaged`)
    fs.copyFileSync(join(other, name), file)
    assert.ok(isComplete(), `with ${name} of another pair`)
  }
  assert.ok(fs.existsSync(certFile))
})

test('a kill at any time leaves usable files', async t => {
  const directory = createTemporaryDirectory(t)
  const module = new URL('../../src/tls/tls.ts', import.meta.url).href
  const code = `
    import { ensureLocalCertificate } from ${JSON.stringify(module)}
    import { rmSync } from 'node:fs'
    console.log('ready')
    for (let i = 0; ; i++) {
      ensureLocalCertificate(${JSON.stringify(directory)})
      for (const name of ['cert', 'key', 'ca', 'ca-key'].slice(i % 4)) rmSync(${JSON.stringify(`${directory}/`)} + name + '.pem', { force: true })
    }`
  for (const afterMs of [3, 11, 17, 26, 34]) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    await delay(afterMs)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const { cert, caFile } = ensureLocalCertificate(directory)
    assert.ok(new X509Certificate(cert).verify(new X509Certificate(fs.readFileSync(caFile)).publicKey))
  }
})

test('processes that start together agree on one authority', async t => {
  const directory = createTemporaryDirectory(t)
  const module = new URL('../../src/tls/tls.ts', import.meta.url).href
  const code = `import { ensureLocalCertificate } from '${module}'; console.log(ensureLocalCertificate('${directory}').cert)`
  const results = await Promise.all(
    [1, 2, 3, 4].map(() => run(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })),
  )
  const ca = new X509Certificate(fs.readFileSync(join(directory, 'ca.pem')))
  for (const { stdout } of results) assert.ok(new X509Certificate(stdout).verify(ca.publicKey))
})

const getValidDays = ({ validFromDate, validToDate }: X509Certificate) =>
  (validToDate.getTime() - validFromDate.getTime()) / dayMs
