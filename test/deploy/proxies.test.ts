import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { findFreePort } from '../../scenarios/support/free-port.ts'
import { checkout, createDirectory, waitUntil } from '../support/processes.ts'
import { buildCredentials } from '../support/servers.ts'
import { startTestApi, type TestApi } from '../support/service.ts'

let api: TestApi
const home = createDirectory(0o755)
const certificate = join(home, 'proxy.pem')
const key = join(home, 'proxy.key')

before(async () => {
  api = await startTestApi({
    environment: { TRUSTED_PROXIES: '127.0.0.1', PUBLIC_URL: 'https://api.example.com' },
  })
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
      '-keyout',
      key,
      '-out',
      certificate,
    ],
    { stdio: 'ignore' },
  )
  writeFileSync(join(home, 'both.pem'), readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'))
  writeFileSync(join(home, 'ca.pem'), api.ca)
})
after(() => api.stop())

/** Writes a copy of a file of deploy/ with this machine's ports and files. */
function configure(name: string, port: number, moreReplacements: [from: string, to: string][]) {
  const apiPort = new URL(api.baseUrl).port
  const replacements: [string, string][] = [
    ['127.0.0.1:8443', `127.0.0.1:${apiPort}`],
    ['/var/lib/tillbridge/tls/ca.pem', join(home, 'ca.pem')],
    ...moreReplacements,
  ]
  let text = readFileSync(join(checkout, 'deploy', name), 'utf8')
  for (const [from, to] of replacements) {
    assert.ok(text.includes(from), `${name} must contain ${from}`)
    text = text.replace(from, to)
  }
  const file = join(home, name)
  writeFileSync(file, text)
  return { file, port }
}

const sendThrough = (
  port: number,
  path: string,
  headers: Record<string, string> = buildCredentials(api),
  body?: string,
) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const clientRequest = request(
      {
        host: '127.0.0.1',
        port,
        path,
        headers,
        agent: false,
        servername: 'localhost',
        ca: readFileSync(certificate),
        method: body === undefined ? 'GET' : 'POST',
      },
      async response => {
        let text = ''
        for await (const part of response.setEncoding('utf8')) text += part
        resolve({ status: response.statusCode ?? 0, text })
      },
    )
    clientRequest.on('error', reject).end(body)
  })

async function withProxy(command: string, args: string[], port: number, work: () => Promise<void>) {
  const proxy = spawn(command, args, { stdio: 'ignore' })
  const ended = once(proxy, 'exit')
  try {
    await waitUntil(
      () =>
        sendThrough(port, '/health/ready').then(
          ({ status }) => status === 200,
          () => false,
        ),
      `${command} forwards requests`,
      30_000,
    )
    await work()
  } finally {
    proxy.kill('SIGTERM')
    await ended
  }
}

async function assertServes(port: number) {
  const page = await sendThrough(port, '/stores')
  assert.equal(page.status, 200)
  assert.deepEqual(JSON.parse(page.text).data, [])
  const file = `storeId,storeNumber,name\n${'\n'.repeat(2_000_000)}`
  const headers = { ...buildCredentials(api), 'content-type': 'text/csv' }
  const imported = await sendThrough(port, '/imports?type=stores', headers, file)
  assert.equal(imported.status, 202, imported.text)
  const rejected = await sendThrough(port, '/stores', {})
  assert.equal(rejected.status, 401)
  assert.match(rejected.text, /https:\/\/api\.example\.com\//)
}

test('requests and imports pass through nginx with TLS', {
  skip: !existsSync('/usr/sbin/nginx') && 'nginx is not installed',
}, async () => {
  const { file, port } = configure('nginx.conf', await findFreePort(), [])
  const text = readFileSync(file, 'utf8')
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('/etc/ssl/tillbridge.pem', certificate)
    .replace('/etc/ssl/private/tillbridge.key', key)
  writeFileSync(
    file,
    `daemon off;\npid ${home}/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${text}\n}\n`,
  )
  await withProxy('/usr/sbin/nginx', ['-p', home, '-c', file], port, () => assertServes(port))
})

test('requests and imports pass through HAProxy with TLS', {
  skip: !existsSync('/usr/sbin/haproxy') && 'haproxy is not installed',
}, async () => {
  const port = await findFreePort()
  const { file } = configure('haproxy.cfg', port, [
    ['bind :443', `bind 127.0.0.1:${port}`],
    ['/etc/ssl/tillbridge-with-key.pem', join(home, 'both.pem')],
  ])
  await withProxy('/usr/sbin/haproxy', ['-f', file, '-db'], port, () => assertServes(port))
})
