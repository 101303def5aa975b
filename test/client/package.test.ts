import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { Webhook } from 'standardwebhooks'
import { findNpmTools, openApiTypeScript } from '../../scenarios/support/install-tools.ts'
import { fillShop } from '../support/order-shop.ts'
import { checkout } from '../support/processes.ts'
import { startTestApi } from '../support/service.ts'
import { addVouchers, voucherSettings } from '../support/voucher-shop.ts'
import { buildProgram, examples } from './examples.ts'
import { toApiKey } from './shop.ts'

const api = await startTestApi({ settings: voucherSettings })
const directory = mkdtempSync(join(tmpdir(), 'tillbridge-client-'))
after(async () => {
  rmSync(directory, { recursive: true })
  await api.stop()
})
const toPath = (...names: string[]) => join(directory, ...names)
const project = toPath('project')

const run = promisify(execFile)

async function runCommand(cwd: string, command: string, args: string[], environment: Record<string, string> = {}) {
  try {
    return (await run(command, args, { cwd, env: { ...process.env, ...environment } })).stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    assert.fail(`${command} ${args.join(' ')}: ${stdout}${stderr}`)
  }
}

// Packs the client and installs it in a separate project, as a user would do it.
cpSync(join(checkout, 'client'), toPath('client'), { recursive: true, filter: from => !from.endsWith('client/dist') })
await runCommand(toPath('client'), 'npm', ['pack', '--silent', '--pack-destination', directory])
const [packageFile = ''] = globSync('*.tgz', { cwd: directory })
mkdirSync(project)
writeFileSync(join(project, 'package.json'), '{ "name": "fresh", "private": true, "type": "module" }')
await runCommand(project, 'npm', ['install', '--silent', '--offline', toPath(packageFile)])
writeFileSync(
  join(project, 'tsconfig.json'),
  JSON.stringify({
    compilerOptions: { target: 'es2022', module: 'nodenext', strict: true, skipLibCheck: false, outDir: 'made' },
    files: ['examples.ts', 'types.ts'],
  }),
)
const connection = { url: api.baseUrl, apiKey: toApiKey(api), service: api.service.name }
writeFileSync(join(project, 'examples.ts'), buildProgram(connection))
writeFileSync(
  join(project, 'types.ts'),
  `import { type ErrorCode, type Order, type OrderInput, tillbridge } from 'tillbridge-client'
// Values that a later release returns are strings. Values in requests must be known.
export const later: [ErrorCode, Order['lines'][number]['status']] = ['a_new_code', 'a_new_status']
// @ts-expect-error: there is no such field
export const wrong: OrderInput['payments'][number] = { gateway: 'card', amount: '1.00', tip: '1.00' }
// @ts-expect-error: there is no such state
export const invalidState = () => tillbridge({ url: '', apiKey: '', service: '' }).mappings.stores({ state: 'a_new_state' })
`,
)

const toInstalledPath = (...names: string[]) => join(project, 'node_modules/tillbridge-client', ...names)

test('the package is complete, small and without dependencies', () => {
  const manifest = JSON.parse(readFileSync(toInstalledPath('package.json'), 'utf8'))
  assert.deepEqual([manifest.dependencies, manifest.sideEffects, manifest.type], [undefined, false, 'module'])
  const files = globSync('**/*.*', { cwd: toInstalledPath() }).filter(name => existsSync(toInstalledPath(name)))
  assert.deepEqual(
    files.filter(name => !/^(dist\/.*\.(js|d\.ts)|README\.md|package\.json)$/.test(name)),
    [],
  )
  const code = files.filter(name => name.endsWith('.js')).map(name => readFileSync(toInstalledPath(name), 'utf8'))
  assert.ok(code.length > 20)
  const size = gzipSync(code.join('')).length
  assert.ok(size < 15_000, `${size} bytes`)
})

test('the README has eleven examples', () => assert.equal(examples.length, 11))

test('the package type-checks with TypeScript 7 and tolerates later values', async () => {
  await runCommand(project, process.execPath, [join(checkout, 'node_modules/typescript/bin/tsc')])
})

const olderTypeScript = findNpmTools(...openApiTypeScript)
const notInstalled = 'TypeScript 5 is not installed: run `npm run generators`'
test('the package type-checks with TypeScript 5', { skip: olderTypeScript ? false : notInstalled }, async () => {
  assert.match(await runCommand(project, join(olderTypeScript ?? '', 'tsc'), ['--version']), / 5\./)
  await runCommand(project, join(olderTypeScript ?? '', 'tsc'), ['--noEmit'])
})

/** Executables of Node.js on this machine, without the checkout's own. */
const nodes = (process.env.PATH ?? '')
  .split(delimiter)
  .filter(folder => !folder.includes('node_modules'))
  .map(folder => join(folder, 'node'))
  .filter(existsSync)

test("the README's examples run with the machine's Node", {
  skip: nodes.length ? false : 'no other Node.js is installed',
}, async () => {
  await fillShop(api.db, api.service)
  await addVouchers(api, api, { '2062389': {} })
  const body = JSON.stringify({ type: 'records.changed', data: { changes: [{ kind: 'customer', id: '65432' }] } })
  const [id, at] = ['msg_1', new Date()]
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook('whsec_b2xk').sign(id, at, body),
  }
  const input = `globalThis.delivery = ${JSON.stringify(JSON.stringify({ body, headers }))}`
  writeFileSync(join(project, 'run.js'), `${input}\nawait import("./made/examples.js")\n`)
  writeFileSync(toPath('ca.pem'), api.ca)
  const [node = ''] = nodes
  assert.ok(Number(await runCommand(project, node, ['-p', 'process.versions.node.split(".")[0]'])) >= 20)
  const output = await runCommand(project, node, ['run.js'], { NODE_EXTRA_CA_CERTS: toPath('ca.pem') })
  for (let i = 2; i <= 10; i++) assert.match(output, new RegExp(`^example ${i} is done$`, 'm'))
  assert.match(output, /^101 Collins Street$/m)
  assert.match(output, /^can be sold: 40$/m)
  assert.match(output, /^W\d+ 29\.99$/m)
  assert.match(output, /^Order not found\.$/m)
  assert.match(output, /^received: 204$/m)
})
