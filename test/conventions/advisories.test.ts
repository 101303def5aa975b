import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { createDirectory } from '../support/processes.ts'

const script = fileURLToPath(new URL('../../scripts/advisories.ts', import.meta.url))
const advisoriesPath = '/-/npm/v1/security/advisories/bulk'

/** The installed packages of a project, and the release with the tag `latest` in the registry. */
const packages: Record<string, { installed: string; latest: string }> = {
  current: { installed: '1.0.0', latest: '1.0.0' },
  outdated: { installed: '1.9.0', latest: '1.10.0' },
  ahead: { installed: '2.0.0', latest: '1.4.0' },
  beta: { installed: '3.0.0-beta.9', latest: '3.0.0-beta.10' },
}

function createProject() {
  const directory = createDirectory()
  const dependencies = Object.fromEntries(Object.entries(packages).map(([name, { installed }]) => [name, installed]))
  const root = { name: 'shop', version: '1.0.0', dependencies }
  const locked: Record<string, object> = { '': root }
  for (const [name, version] of Object.entries(dependencies)) {
    locked[`node_modules/${name}`] = { version }
    mkdirSync(join(directory, 'node_modules', name), { recursive: true })
    writeFileSync(join(directory, 'node_modules', name, 'package.json'), JSON.stringify({ name, version }))
  }
  writeFileSync(join(directory, 'package.json'), JSON.stringify(root))
  const lock = { ...root, lockfileVersion: 3, packages: locked }
  writeFileSync(join(directory, 'package-lock.json'), JSON.stringify(lock))
  return directory
}

/** Starts a registry with `packages` on the loopback interface. `respondToAudit` handles npm's request for advisories. Returns its URL. */
async function startRegistry(t: TestContext, respondToAudit: RequestListener) {
  const registry = createServer((request, response) => {
    if (request.url === advisoriesPath) return respondToAudit(request, response)
    const name = request.url?.slice(1) ?? ''
    const versions = packages[name]
    if (!versions) return response.writeHead(404).end('{}')
    const { installed, latest } = versions
    response.setHeader('content-type', 'application/json')
    const manifests = [installed, latest].map(version => [
      version,
      { name, version, dist: { tarball: 'http://[::1]/' } },
    ])
    response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(manifests) }))
  })
  registry.listen(0, '127.0.0.1')
  await once(registry, 'listening')
  t.after(() => registry.close())
  return `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`
}

/** Runs the report on a new project. Returns its exit code and the lines of its output. */
async function runReport(registry: string) {
  const environment = {
    PATH: process.env.PATH,
    HOME: createDirectory(),
    npm_config_registry: registry,
    npm_config_fetch_retries: '0',
    npm_config_update_notifier: 'false',
  }
  const child = spawn(process.execPath, [script], { cwd: createProject(), env: environment })
  let out = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      out += chunk
    })
  const [code] = await once(child, 'close')
  return { code, lines: out.trimEnd().split('\n') }
}

const outdatedLines = [
  'Outdated pins (npm outdated):',
  'beta 3.0.0-beta.9: 3.0.0-beta.10 is available',
  'outdated 1.9.0: 1.10.0 is available',
]

test('the report shows that there are no advisories', async t => {
  const chunks: Buffer[] = []
  const registry = await startRegistry(t, async (request, response) => {
    for await (const chunk of request) chunks.push(chunk)
    response.setHeader('content-type', 'application/json').end('{}')
  })
  const { code, lines } = await runReport(registry)
  assert.deepEqual(lines, ['Advisories (npm audit):', 'None.', ...outdatedLines])
  assert.equal(code, 0)
  const versions = JSON.parse(gunzipSync(Buffer.concat(chunks)).toString())
  assert.deepEqual(versions.outdated, ['1.9.0'])
})

test('the report lists advisories', async t => {
  const registry = await startRegistry(t, (_, response) => {
    const advisory = {
      id: 1,
      title: 'Reads too much',
      url: 'https://example.com/advisories/1',
      severity: 'high',
      vulnerable_versions: '<1.10.0',
    }
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ outdated: [advisory] }))
  })
  const { code, lines } = await runReport(registry)
  const line = 'outdated <1.10.0: high: Reads too much: https://example.com/advisories/1'
  assert.deepEqual(lines, ['Advisories (npm audit):', line, ...outdatedLines])
  assert.equal(code, 0)
})

test('the report has the reason of a failed request', async t => {
  const rejecting = await startRegistry(t, (_, response) => response.writeHead(405).end())
  const { code, lines } = await runReport(rejecting)
  assert.match(lines[1] ?? '', /^Unknown, because the request failed: 405 Method Not Allowed - POST http/)
  assert.deepEqual(lines.slice(2), outdatedLines)
  assert.equal(code, 0)

  const unreachable = await runReport('http://127.0.0.1:1/')
  assert.match(unreachable.lines[1] ?? '', /^Unknown, because .*ECONNREFUSED/)
  assert.match(unreachable.lines[3] ?? '', /^Unknown, because .*ECONNREFUSED/)
  assert.equal(unreachable.code, 0)
})
