import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path/posix'
import { test } from 'node:test'
import { schemaFile, schemaOf } from '../../scripts/schema.ts'
import { freshDatabase } from '../support/database.ts'
import { arrowsBetween, circleIn, importsOf, modulesOf, sourcesOf } from '../support/imports.ts'

/** The layers of `src/`, top first. A module imports its own layer and the layers below, never one above. */
const layers: Record<string, readonly string[]> = {
  'command line': ['cli.js', 'module-hooks.js', 'commands'],
  runtime: ['runtime', 'config'],
  'entry points': ['resources', 'jobs', 'console'],
  'HTTP toolkit': ['http'],
  'external systems': ['backoffice', 'webhooks'],
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
const layerIndex = (path: string) =>
  Object.values(layers).findIndex(folders => folders.includes(path.split('/')[1] ?? ''))

const top = (path: string) => path.split('/')[0] ?? ''

const source = sourcesOf('src')
const beside = sourcesOf('client', 'simulator', 'seed', 'scenarios', 'bench', 'scripts', 'test')
const everything = [...source, ...beside]
/** What browsers get: as it stands, so it is JavaScript. */
const browser = modulesOf('console')

test('each file of src belongs to a layer', () => {
  const strangers = source.filter(({ path }) => layerIndex(path) < 0)
  assert.deepEqual(strangers, [])
})

test('imports point down', () => {
  const seen = source.flatMap(file => importsOf(file).map(target => ({ from: file.path, target })))
  assert.ok(seen.length > 1_000, 'imports are found')
  const upward = seen.filter(({ from, target }) => target.startsWith('src/') && layerIndex(target) < layerIndex(from))
  assert.deepEqual(upward, [])
})

test('no way along imports leads back to the file it begins at', () => {
  assert.equal(circleIn(arrowsBetween(everything, path => path)), undefined)
})

// The files at the top of `src` are steps of the ladder of their own, not a folder.
const roomOf = (path: string) => (dirname(path) === 'src' ? path : dirname(path))

test('no way along imports leads from a folder back to it', () => {
  assert.equal(circleIn(arrowsBetween(everything, roomOf)), undefined)
})

test("the console's modules lead in no circle, know nothing but each other, and are small", () => {
  assert.ok(browser.length > 20, 'modules are found')
  assert.equal(circleIn(arrowsBetween(browser, path => path)), undefined)
  assert.equal(circleIn(arrowsBetween(browser, dirname)), undefined)
  const outside = browser.flatMap(file => importsOf(file).filter(target => !/^console\/.*\.js$/.test(target)))
  assert.deepEqual(outside, [])
  const long = browser.filter(({ text }) => text.split('\n').length - 1 > 250)
  assert.deepEqual(long, [])
})

test('TypeBox is loaded by nobody who serves or is typed: shapes are made by src/shapes', () => {
  const loading = source.filter(({ text }) => /^import (?!type )[^\n]* from 'typebox(?!\/value)/m.test(text))
  assert.deepEqual(
    loading.map(({ path }) => path),
    [],
  )
})

test('a circle of three is found', () => {
  const arrows = { a: ['b'], b: ['c', 'd'], c: ['d'], d: ['b'] }
  const found = circleIn(new Map(Object.entries(arrows).map(([from, to]) => [from, new Set(to)])))
  assert.deepEqual(found, ['b', 'c', 'd', 'b'])
})

test('the product, its client and the simulator know nothing of each other, nor of the tools beside them', () => {
  const wrong = everything
    .filter(({ path }) => ['src', 'client', 'simulator'].includes(top(path)))
    .flatMap(file => importsOf(file).map(target => ({ from: file.path, target })))
    .filter(({ from, target }) => top(from) !== top(target))
  assert.deepEqual(wrong, [])
})

test('what tries and measures the product knows no other such tool, and no test', () => {
  const known: Record<string, string[]> = {
    scenarios: ['src', 'seed', 'client', 'simulator'],
    bench: ['src', 'seed', 'client', 'simulator', 'scenarios'],
  }
  const wrong = beside.flatMap(file => {
    const mine = known[top(file.path)]
    const foreign = importsOf(file).filter(target => mine && ![top(file.path), ...mine].includes(top(target)))
    return foreign.map(target => `${file.path} imports ${target}`)
  })
  assert.deepEqual(wrong, [])
})

test('drivers of back offices do not know each other', () => {
  const driverOf = (path: string) => /^src\/backoffice\/(embedded|apparel21)\//.exec(path)?.[1]
  const mixed = source.flatMap(file =>
    importsOf(file)
      .filter(target => driverOf(file.path) && driverOf(target) && driverOf(file.path) !== driverOf(target))
      .map(target => `${file.path} imports ${target}`),
  )
  assert.deepEqual(mixed, [])
})

test('that all is in our own tables is said by one name: `ours` of settings, `isOurs` of a driver', () => {
  const besides = source.filter(
    ({ path, text }) =>
      /'embedded'|\.feeds\.length/.test(text) &&
      !path.startsWith('src/backoffice/') &&
      path !== 'src/domain/tenancy/back-office-settings.ts',
  )
  assert.deepEqual(
    besides.map(({ path }) => path),
    [],
  )
})

test('the store answers no caller', () => {
  const answers = ['src/errors/api-error.ts', 'src/errors/throw-if-any.ts']
  const answering = source.filter(
    file => file.path.startsWith('src/store/') && importsOf(file).some(target => answers.includes(target)),
  )
  assert.deepEqual(answering, [])
})

test('no file has more than 250 lines', () => {
  const long = everything.filter(({ text }) => text.split('\n').length - 1 > 250)
  assert.deepEqual(
    long.map(({ path }) => path),
    [],
  )
})

test('a folder holds at most 25 files', () => {
  const files = Map.groupBy(everything, ({ path }) => dirname(path))
  const crowded = [...files].filter(([, inside]) => inside.length > 25).map(([folder]) => folder)
  assert.deepEqual(crowded, [])
})

test('ARCHITECTURE.md has a line for each folder of the source', async () => {
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
    ['src/config/config.ts'],
  )
})

test('imports end in .ts, and folders are named for what they hold', () => {
  for (const file of everything) {
    for (const target of importsOf(file)) assert.match(target, /\.ts$|^src\/imports\.js$/, file.path)
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

test('migrations/schema.sql is what a migrated database has', async () => {
  const { db, drop } = await freshDatabase()
  try {
    assert.equal(await readFile(schemaFile, 'utf8'), await schemaOf(db), 'run `npm run docs`')
  } finally {
    await drop()
  }
})
