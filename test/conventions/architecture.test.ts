import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path/posix'
import { test } from 'node:test'
import { renderSchema, schemaFile } from '../../scripts/schema.ts'
import { createTestDatabase } from '../support/database.ts'
import { buildImportGraph, findCycle, findImports, readModules, readSources } from '../support/imports.ts'

/** The layers of `src/`, top first. A module imports its own layer and the layers below, never one above. */
const layers: Record<string, readonly string[]> = {
  'command line': ['cli.js', 'module-hooks.js', 'commands'],
  runtime: ['runtime', 'config'],
  'entry points': ['resources', 'jobs', 'console', 'mcp', 'inbound'],
  'HTTP toolkit': ['http'],
  'external systems': ['backoffice', 'ecommerce', 'webhooks'],
  mechanisms: ['writes', 'import', 'sync', 'change-feed', 'auth', 'mail'],
  storage: ['store', 'backup'],
  domain: ['domain'],
  foundation: [
    'errors',
    'schemas',
    'crypto',
    'concurrency',
    'database',
    'postgres',
    'http-client',
    'telemetry',
    'tls',
    'files',
    'testing',
  ],
}
const folderOf = (path: string) => path.split('/')[1] ?? ''
const layerIndex = (path: string) => Object.values(layers).findIndex(folders => folders.includes(folderOf(path)))

const top = (path: string) => path.split('/')[0] ?? ''

const source = readSources('src')
const toolsAndTests = readSources('client', 'simulator', 'seed', 'scenarios', 'bench', 'scripts', 'test')
const everything = [...source, ...toolsAndTests]
/** The console's modules: JavaScript that browsers get without a build step. */
const browser = readModules('console')

interface Import {
  from: string
  target: string
}
const listImports = (files: typeof source): Import[] =>
  files.flatMap(file => findImports(file).map(target => ({ from: file.path, target })))
const show = ({ from, target }: Import) => `${from} imports ${target}`

/** Layers 3 to 6. Their folders don't import each other, except that `sync/` uses `import/`. */
const separateLayers = ['entry points', 'HTTP toolkit', 'external systems', 'mechanisms'].map(name =>
  Object.keys(layers).indexOf(name),
)
const isSideways = ({ from, target }: Import) =>
  separateLayers.includes(layerIndex(from)) &&
  layerIndex(from) === layerIndex(target) &&
  folderOf(from) !== folderOf(target) &&
  !(folderOf(from) === 'sync' && folderOf(target) === 'import')

test('each file of src belongs to a layer', () => {
  const strangers = source.filter(({ path }) => layerIndex(path) < 0)
  assert.deepEqual(strangers, [])
})

test('imports point down', () => {
  const imports = listImports(source)
  assert.ok(imports.length > 1_000, 'imports are found')
  const upward = imports.filter(
    ({ from, target }) => target.startsWith('src/') && layerIndex(target) < layerIndex(from),
  )
  assert.deepEqual(upward.map(show), [])
})

test('folders of one layer do not import each other', () => {
  assert.deepEqual(listImports(source).filter(isSideways).map(show), [])
  assert.ok(isSideways({ from: 'src/jobs/worker.ts', target: 'src/resources/orders.ts' }), 'the guard finds one')
  assert.ok(!isSideways({ from: 'src/sync/sync.ts', target: 'src/import/checkpoint.ts' }))
})

test('the domain imports only errors, schemas and crypto', () => {
  const allowed = ['domain', 'errors', 'schemas', 'crypto']
  const wrong = listImports(source).filter(
    ({ from, target }) => folderOf(from) === 'domain' && !allowed.includes(folderOf(target)),
  )
  assert.deepEqual(wrong.map(show), [])
})

test('only the runtime and the commands import the configuration', () => {
  const allowed = ['config', 'runtime', 'commands']
  const wrong = listImports(source).filter(
    ({ from, target }) => folderOf(target) === 'config' && !allowed.includes(folderOf(from)),
  )
  assert.deepEqual(wrong.map(show), [])
})

test('files import each other without a cycle', () => {
  assert.equal(findCycle(buildImportGraph(everything, path => path)), undefined)
})

/** The folder of a file. Files at the top of `src` count as folders of their own. */
const folderOrFile = (path: string) => (dirname(path) === 'src' ? path : dirname(path))

test('folders import each other without a cycle', () => {
  assert.equal(findCycle(buildImportGraph(everything, folderOrFile)), undefined)
})

test("the console's modules import only each other, without a cycle", () => {
  assert.ok(browser.length > 20, 'modules are found')
  assert.equal(findCycle(buildImportGraph(browser, path => path)), undefined)
  assert.equal(findCycle(buildImportGraph(browser, dirname)), undefined)
  const outside = listImports(browser).filter(({ target }) => !/^console\/.*\.js$/.test(target))
  assert.deepEqual(outside.map(show), [])
})

test('src imports only types from TypeBox', () => {
  const loading = source.filter(({ text }) => /^import (?!type )[^\n]* from 'typebox(?!\/value)/m.test(text))
  assert.deepEqual(
    loading.map(({ path }) => path),
    [],
  )
})

test('the guard finds a cycle of three', () => {
  const arrows = { a: ['b'], b: ['c', 'd'], c: ['d'], d: ['b'] }
  const cycle = findCycle(new Map(Object.entries(arrows).map(([from, to]) => [from, new Set(to)])))
  assert.deepEqual(cycle, ['b', 'c', 'd', 'b'])
})

/** The only modules that load the demo shop's seed. */
const seedUsers = ['src/commands/demo.ts', 'src/runtime/installation/first-access.ts']

test('src, client and simulator import nothing from each other or from tools', () => {
  const wrong = listImports(everything.filter(({ path }) => ['src', 'client', 'simulator'].includes(top(path))))
    .filter(({ from, target }) => top(from) !== top(target))
    .filter(({ from, target }) => !(top(target) === 'seed' && seedUsers.includes(from)))
  assert.deepEqual(wrong.map(show), [])
})

test('scenarios and benchmarks import no other tools and no tests', () => {
  const allowed: Record<string, string[]> = {
    scenarios: ['src', 'seed', 'client', 'simulator'],
    bench: ['src', 'seed', 'client', 'simulator', 'scenarios'],
  }
  const wrong = toolsAndTests.flatMap(file => {
    const folders = allowed[top(file.path)]
    const foreign = findImports(file).filter(target => folders && ![top(file.path), ...folders].includes(top(target)))
    return foreign.map(target => `${file.path} imports ${target}`)
  })
  assert.deepEqual(wrong, [])
})

test('back-office drivers do not import each other', () => {
  const driverOf = (path: string) => /^src\/backoffice\/(embedded|apparel21)\//.exec(path)?.[1]
  const mixed = source.flatMap(file =>
    findImports(file)
      .filter(target => driverOf(file.path) && driverOf(target) && driverOf(file.path) !== driverOf(target))
      .map(target => `${file.path} imports ${target}`),
  )
  assert.deepEqual(mixed, [])
})

test('the embedded back office is recognised by one name', () => {
  const besides = source.filter(
    ({ path, text }) =>
      /'embedded'|\.syncs\.length/.test(text) &&
      !path.startsWith('src/backoffice/') &&
      path !== 'src/domain/tenancy/back-office-settings.ts',
  )
  assert.deepEqual(
    besides.map(({ path }) => path),
    [],
  )
})

test('the store never creates an ApiError', () => {
  const responses = ['src/errors/api-error.ts', 'src/errors/throw-if-any.ts']
  const answering = source.filter(
    file => file.path.startsWith('src/store/') && findImports(file).some(target => responses.includes(target)),
  )
  assert.deepEqual(answering, [])
})

test('ARCHITECTURE.md names each folder of src', async () => {
  const page = await readFile(new URL('../../ARCHITECTURE.md', import.meta.url), 'utf8')
  const folders = new Set(
    source.map(({ path }) => dirname(path).split('/').slice(1).slice(-2).join('/')).filter(Boolean),
  )
  assert.deepEqual(
    [...folders].filter(folder => !page.includes(`\`${folder}/\``)),
    [],
  )
})

test('the environment is read in one file', () => {
  const readers = source.filter(({ text }) => /process\.env\b/.test(text))
  assert.deepEqual(
    readers.map(({ path }) => path),
    // The second file renders code samples for clients.
    ['src/config/config.ts', 'src/http/openapi/generated-samples.ts'],
  )
})

test('only the runtime opens databases, drivers and transports', () => {
  const opening =
    /\b(?:openDatabase|openBackOffices|openReplicas|openMailTransport|openApp)\(|\bnew pg\.(?:Client|Pool)\(/
  const declaring = /\b(?:export )?(?:async )?function \w+\(/g
  const openers = source
    .filter(({ text }) => opening.test(text.replace(declaring, '')))
    .map(({ path }) => path)
    .filter(path => !path.startsWith('src/runtime/'))
  // The mechanism itself: the pool, the server behind a list of servers, and the replicas that a root asks for.
  assert.deepEqual(openers, ['src/database/db.ts', 'src/database/endpoints.ts', 'src/database/replicas/replica.ts'])
})

test('no error is ignored without a name or a reason', () => {
  const ignoring = /\.catch\(\(\w*\) => (?:\{\s*\}|undefined|null)\)|\bcatch(?: \(\w+\))? \{\s*\}/
  const users = source.filter(({ text }) => ignoring.test(text)).map(({ path }) => path)
  assert.deepEqual(users, ['src/concurrency/backoff.ts', 'src/telemetry/ignored-errors.ts'])
})

test('each shared mechanism exists once', () => {
  const mechanisms: Readonly<Record<string, readonly [byHand: RegExp, home: string, example: string]>> = {
    'single-flight': [
      /\?\?= [\w.]+\([^()]*\)\.(?:finally|catch)\(/,
      'src/concurrency/single-flight.ts',
      'running ??= probes.withConnection(probeServer).finally(() => {',
    ],
    'growing delay': [
      /\w+Ms \* (?:2|factor)|(?<!initialMs: )\b2 \* \w+Ms[,)]/,
      'src/concurrency/backoff.ts',
      'pauseMs = Math.min(2 * pauseMs, maxMs)',
    ],
    'time limit of a wait': [
      /Promise\.race\(\[[^\]]*\b(?:delay|sleep)\(/,
      'src/concurrency/backoff.ts',
      'await Promise.race([polling, delay(1_000)])',
    ],
    'atomic file write': [
      /import \{[^}]*\brename(?:Sync)?\b[^}]*\bwriteFile(?:Sync)?\b[^}]*\} from 'node:fs/,
      'src/files/atomic-write.ts',
      "import { rename, writeFile } from 'node:fs/promises'",
    ],
  }
  const found = Object.entries(mechanisms).flatMap(([name, [byHand, home, example]]) => {
    assert.match(example, byHand, `the guard finds a ${name}`)
    return source.filter(({ path, text }) => path !== home && byHand.test(text)).map(({ path }) => `${name}: ${path}`)
  })
  assert.deepEqual(found, [])
})

test('imports end in .ts and no folder has an empty name', () => {
  for (const file of everything) {
    for (const target of findImports(file)) assert.match(target, /\.ts$|^src\/module-hooks\.js$/, file.path)
    assert.doesNotMatch(file.path, /(^|\/)(utils?|helpers?|common|shared|misc)(\/|\.ts)/)
  }
})

test('migrations are numbered from 1 without a gap', async () => {
  const names = (await readdir(new URL('../../migrations', import.meta.url))).filter(name => /^\d/.test(name)).sort()
  names.forEach((name, i) => {
    assert.match(name, new RegExp(`^${String(i + 1).padStart(4, '0')}_[a-z_]+\\.sql$`))
  })
  assert.ok(names.length)
})

test('migrations/schema.sql matches a migrated database', async () => {
  const { db, drop } = await createTestDatabase()
  try {
    assert.equal(await readFile(schemaFile, 'utf8'), await renderSchema(db), 'run `npm run docs`')
  } finally {
    await drop()
  }
})
