import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path/posix'
import { test } from 'node:test'
import { renderSchema, schemaFile } from '../../scripts/schema.ts'
import { createTestDatabase } from '../support/database.ts'
import { buildImportGraph, findCycle, findImports, readModules, readSources } from '../support/imports.ts'

/** The layers of `src/`, top first. A module can import its own layer and the layers below it. */
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
const getFolder = (path: string) => path.split('/')[1] ?? ''
const getLayerIndex = (path: string) => Object.values(layers).findIndex(folders => folders.includes(getFolder(path)))

const getTopFolder = (path: string) => path.split('/')[0] ?? ''

const source = readSources('src')
const toolsAndTests = readSources('client', 'simulator', 'seed', 'scenarios', 'bench', 'scripts', 'test')
const allFiles = [...source, ...toolsAndTests]
/** The console's modules: JavaScript that browsers load without a build step. */
const consoleModules = readModules('console')

interface Import {
  from: string
  target: string
}
const listImports = (files: typeof source): Import[] =>
  files.flatMap(file => findImports(file).map(target => ({ from: file.path, target })))
const formatImport = ({ from, target }: Import) => `${from} imports ${target}`

/** The indexes of layers 3 to 6. Their folders can't import each other, except `sync/`, which uses `import/`. */
const separateLayers = ['entry points', 'HTTP toolkit', 'external systems', 'mechanisms'].map(name =>
  Object.keys(layers).indexOf(name),
)
const isSideways = ({ from, target }: Import) =>
  separateLayers.includes(getLayerIndex(from)) &&
  getLayerIndex(from) === getLayerIndex(target) &&
  getFolder(from) !== getFolder(target) &&
  !(getFolder(from) === 'sync' && getFolder(target) === 'import')

test('each file of src belongs to a layer', () => {
  const unassigned = source.filter(({ path }) => getLayerIndex(path) < 0)
  assert.deepEqual(unassigned, [])
})

test('imports point down', () => {
  const imports = listImports(source)
  assert.ok(imports.length > 1_000, 'imports are found')
  const upward = imports.filter(
    ({ from, target }) => target.startsWith('src/') && getLayerIndex(target) < getLayerIndex(from),
  )
  assert.deepEqual(upward.map(formatImport), [])
})

test('folders of one layer do not import each other', () => {
  assert.deepEqual(listImports(source).filter(isSideways).map(formatImport), [])
  assert.ok(
    isSideways({ from: 'src/jobs/worker.ts', target: 'src/resources/orders.ts' }),
    'the guard finds a sideways import',
  )
  assert.ok(!isSideways({ from: 'src/sync/sync.ts', target: 'src/import/checkpoint.ts' }))
})

test('the domain imports only errors, schemas and crypto', () => {
  const allowed = ['domain', 'errors', 'schemas', 'crypto']
  const wrong = listImports(source).filter(
    ({ from, target }) => getFolder(from) === 'domain' && !allowed.includes(getFolder(target)),
  )
  assert.deepEqual(wrong.map(formatImport), [])
})

test('only the runtime and the commands import the configuration', () => {
  const allowed = ['config', 'runtime', 'commands']
  const wrong = listImports(source).filter(
    ({ from, target }) => getFolder(target) === 'config' && !allowed.includes(getFolder(from)),
  )
  assert.deepEqual(wrong.map(formatImport), [])
})

test('files import each other without a cycle', () => {
  assert.equal(findCycle(buildImportGraph(allFiles, path => path)), undefined)
})

/** Returns the folder of a file. A file at the top of `src` counts as a folder. */
const getFolderOrFile = (path: string) => (dirname(path) === 'src' ? path : dirname(path))

test('folders import each other without a cycle', () => {
  assert.equal(findCycle(buildImportGraph(allFiles, getFolderOrFile)), undefined)
})

test("the console's modules import only each other, without a cycle", () => {
  assert.ok(consoleModules.length > 20, 'modules are found')
  assert.equal(findCycle(buildImportGraph(consoleModules, path => path)), undefined)
  assert.equal(findCycle(buildImportGraph(consoleModules, dirname)), undefined)
  const outside = listImports(consoleModules).filter(({ target }) => !/^console\/.*\.js$/.test(target))
  assert.deepEqual(outside.map(formatImport), [])
})

test('src imports only types from TypeBox', () => {
  const wrong = source.filter(({ text }) => /^import (?!type )[^\n]* from 'typebox(?!\/value)/m.test(text))
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  )
})

test('the guard finds a cycle of three', () => {
  const targetsBySource = { a: ['b'], b: ['c', 'd'], c: ['d'], d: ['b'] }
  const cycle = findCycle(new Map(Object.entries(targetsBySource).map(([from, to]) => [from, new Set(to)])))
  assert.deepEqual(cycle, ['b', 'c', 'd', 'b'])
})

/** The only modules that load the demo shop's seed. */
const seedUsers = ['src/commands/demo.ts', 'src/runtime/installation/first-access.ts']

test('src, client and simulator import nothing from each other or from tools', () => {
  const wrong = listImports(allFiles.filter(({ path }) => ['src', 'client', 'simulator'].includes(getTopFolder(path))))
    .filter(({ from, target }) => getTopFolder(from) !== getTopFolder(target))
    .filter(({ from, target }) => !(getTopFolder(target) === 'seed' && seedUsers.includes(from)))
  assert.deepEqual(wrong.map(formatImport), [])
})

test('scenarios and benchmarks import no other tools and no tests', () => {
  const allowed: Record<string, string[]> = {
    scenarios: ['src', 'seed', 'client', 'simulator'],
    bench: ['src', 'seed', 'client', 'simulator', 'scenarios'],
  }
  const wrong = toolsAndTests.flatMap(file => {
    const folders = allowed[getTopFolder(file.path)]
    const foreign = findImports(file).filter(
      target => folders && ![getTopFolder(file.path), ...folders].includes(getTopFolder(target)),
    )
    return foreign.map(target => `${file.path} imports ${target}`)
  })
  assert.deepEqual(wrong, [])
})

test('back-office drivers do not import each other', () => {
  const getDriver = (path: string) => /^src\/backoffice\/(embedded|apparel21)\//.exec(path)?.[1]
  const mixed = source.flatMap(file =>
    findImports(file)
      .filter(target => getDriver(file.path) && getDriver(target) && getDriver(file.path) !== getDriver(target))
      .map(target => `${file.path} imports ${target}`),
  )
  assert.deepEqual(mixed, [])
})

test('the embedded back office is recognised by one name', () => {
  const wrong = source.filter(
    ({ path, text }) =>
      /'embedded'|\.syncs\.length/.test(text) &&
      !path.startsWith('src/backoffice/') &&
      path !== 'src/domain/tenancy/back-office-settings.ts',
  )
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  )
})

test('the store never creates an ApiError', () => {
  const creators = ['src/errors/api-error.ts', 'src/errors/throw-if-any.ts']
  const wrong = source.filter(
    file => file.path.startsWith('src/store/') && findImports(file).some(target => creators.includes(target)),
  )
  assert.deepEqual(wrong, [])
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
  const openingCall =
    /\b(?:openDatabase|openBackOffices|openReplicas|openMailTransport|openApp)\(|\bnew pg\.(?:Client|Pool)\(/
  const declaration = /\b(?:export )?(?:async )?function \w+\(/g
  const openers = source
    .filter(({ text }) => openingCall.test(text.replace(declaration, '')))
    .map(({ path }) => path)
    .filter(path => !path.startsWith('src/runtime/'))
  // These files are the mechanism: the pool, the choice from a list of servers, and the replicas that the runtime opens.
  assert.deepEqual(openers, ['src/database/db.ts', 'src/database/endpoints.ts', 'src/database/replicas/replica.ts'])
})

test('no error is ignored without a name or a reason', () => {
  const ignoredError = /\.catch\(\(\w*\) => (?:\{\s*\}|undefined|null)\)|\bcatch(?: \(\w+\))? \{\s*\}/
  const users = source.filter(({ text }) => ignoredError.test(text)).map(({ path }) => path)
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
  const duplicates = Object.entries(mechanisms).flatMap(([name, [byHand, home, example]]) => {
    assert.match(example, byHand, `the guard finds a ${name}`)
    return source.filter(({ path, text }) => path !== home && byHand.test(text)).map(({ path }) => `${name}: ${path}`)
  })
  assert.deepEqual(duplicates, [])
})

test('imports end in .ts and no folder has an empty name', () => {
  for (const file of allFiles) {
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
