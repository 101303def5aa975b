import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { ensureLocalCertificate, readCertificate, tlsOptions, watchCertificate } from '../../src/tls/tls.ts'
import { createTemporaryDirectory } from '../support/postgres/processes.ts'
import { waitUntil } from '../support/processes.ts'

const run = promisify(execFile)
const needsCurl = spawnSync('curl', ['-V']).error ? 'needs curl' : false
const hasIpv6 = Object.values(networkInterfaces()).some(all => all?.some(({ address }) => address === '::1'))

test("curl trusts the local authority for this machine's addresses", {
  skip: needsCurl,
}, async t => {
  const certificate = ensureLocalCertificate(createTemporaryDirectory(t))
  const hosts = ['localhost', '127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])]
  const { port } = await startHttpsServer(t, certificate, hasIpv6 ? '::' : '127.0.0.1')
  for (const host of hosts) {
    const { stdout } = await run('curl', ['-sS', '--cacert', certificate.caFile, `https://${host}:${port}/`])
    assert.equal(stdout, 'hello')
  }
  await assert.rejects(run('curl', ['-sS', `https://localhost:${port}/`]), /certificate/)
})

test('a configured pair is read with its expiry', t => {
  const { cert, key, notAfter, certFile, keyFile } = ensureLocalCertificate(createTemporaryDirectory(t))
  assert.deepEqual(readCertificate(certFile, keyFile), { cert, key, notAfter, certFile, keyFile })
})

test('an unusable pair is rejected in a line that names it', t => {
  const directory = createTemporaryDirectory(t)
  const { certFile, keyFile, notAfter } = ensureLocalCertificate(directory)
  const other = ensureLocalCertificate(createTemporaryDirectory(t))
  const missing = join(directory, 'missing.pem')
  const text = join(directory, 'text.pem')
  fs.writeFileSync(text, 'not a certificate')
  const locked = join(directory, 'locked.pem')
  const passphrase = { cipher: 'aes-256-cbc', passphrase: 'secret' }
  fs.writeFileSync(
    locked,
    createPrivateKey(fs.readFileSync(keyFile)).export({ type: 'pkcs8', format: 'pem', ...passphrase }),
  )
  const assertRejected = (cert: string, key: string, message: string) =>
    assert.throws(() => readCertificate(cert, key), { message })
  assertRejected(missing, keyFile, `${missing} can't be read (ENOENT).`)
  assertRejected(certFile, directory, `${directory} can't be read (EISDIR).`)
  assertRejected(text, keyFile, `${text} must contain a certificate in PEM format.`)
  assertRejected(keyFile, certFile, `${keyFile} must contain a certificate in PEM format.`)
  assertRejected(certFile, text, `${text} must contain a private key in PEM format.`)
  assertRejected(certFile, locked, `The key in ${locked} can't have a passphrase.`)
  assertRejected(certFile, other.keyFile, `The key in ${other.keyFile} must belong to the certificate in ${certFile}.`)
  t.mock.timers.enable({ apis: ['Date'], now: notAfter.getTime() + 1 })
  assertRejected(certFile, keyFile, `The certificate in ${certFile} expired on ${notAfter.toISOString()}. Renew it.`)
  t.mock.timers.setTime(Date.UTC(2000, 0))
  const { validFromDate } = new X509Certificate(fs.readFileSync(certFile))
  assertRejected(
    certFile,
    keyFile,
    `The certificate in ${certFile} is not valid before ${validFromDate.toISOString()}.`,
  )
})

test('a running server loads a new pair unless it is invalid', async t => {
  const directory = createTemporaryDirectory(t)
  const [first, second] = [ensureLocalCertificate(join(directory, '1')), ensureLocalCertificate(join(directory, '2'))]
  const files = { certFile: join(directory, 'cert.pem'), keyFile: join(directory, 'key.pem') }
  // Like a Kubernetes secret volume: the files are links through a directory link that is swapped.
  const current = join(directory, 'current')
  fs.symlinkSync('1', current)
  fs.symlinkSync('current/cert.pem', files.certFile)
  fs.symlinkSync('current/key.pem', files.keyFile)
  const inUse = readCertificate(files.certFile, files.keyFile)
  const { server, port } = await startHttpsServer(t, inUse)
  const events: string[] = []
  const stop = watchCertificate(server, inUse, {
    intervalMs: 20,
    onChange: certificate => events.push(getSerial(certificate.cert)),
    onError: error => events.push(error.message),
  })
  t.after(stop)
  await delay(100)
  assert.deepEqual(events, [])

  fs.symlinkSync('2', `${current}.new`)
  fs.renameSync(`${current}.new`, current)
  await waitUntil(() => events.length === 1, 'the new certificate is loaded')
  assert.equal(events[0], getSerial(second.cert))
  assert.equal(await getServedSerial(port), getSerial(second.cert))

  fs.rmSync(files.keyFile)
  fs.copyFileSync(first.keyFile, files.keyFile)
  await waitUntil(() => events.length === 2, 'the wrong key is reported')
  assert.match(events[1] ?? '', /must belong to the certificate/)
  await delay(100)
  assert.equal(events.length, 2)
  assert.equal(await getServedSerial(port), getSerial(second.cert))

  fs.rmSync(files.certFile)
  fs.copyFileSync(first.certFile, files.certFile)
  await waitUntil(() => events.length === 3, 'the next certificate is loaded')
  assert.equal(await getServedSerial(port), getSerial(first.cert))
  stop()
  fs.rmSync(files.certFile)
  await delay(100)
  assert.equal(events.length, 3)
})

test('a server rejects protocols before TLS 1.2', async t => {
  const { port } = await startHttpsServer(t, ensureLocalCertificate(createTemporaryDirectory(t)))
  const oldProtocols = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  const socket = connect({ port, rejectUnauthorized: false, ...oldProtocols })
  await assert.rejects(once(socket, 'secureConnect'), /alert protocol version/)
})

async function startHttpsServer(
  t: TestContext,
  { cert, key }: { cert: string; key: string },
  host?: string,
): Promise<{ server: Server; port: number }> {
  const server = createServer({ ...tlsOptions, cert, key }, (_, response) => response.end('hello'))
  server.listen(0, host)
  await once(server, 'listening')
  t.after(() => server.close())
  return { server, port: (server.address() as AddressInfo).port }
}

async function getServedSerial(port: number): Promise<string> {
  const socket = connect({ port, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { serialNumber } = socket.getPeerCertificate()
  socket.destroy()
  return serialNumber
}

const getSerial = (cert: string) => new X509Certificate(cert).serialNumber
