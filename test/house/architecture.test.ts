import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, posix } from 'node:path/posix'
import { test } from 'node:test'
import { schemaFile, schemaOf } from '../../scripts/schema.ts'
import { freshDatabase } from '../support/database.ts'

const root = new URL('../../', import.meta.url)
const sources = readdir(new URL('src', root), { recursive: true }).then(names =>
  names
    .filter(name => name.endsWith('.ts'))
    .sort()
    .map(name => ({ name, text: readFileSync(new URL(`src/${name}`, root), 'utf8') })),
)

/** A file may import its own step and the steps below it, never one above. */
const ladder = [
  ['cli.ts', 'commands'],
  ['main.ts', 'running', 'config.ts', 'config-values.ts'],
  ['server.ts', 'worker.ts'],
  ['resources', 'jobs'],
  ['http'],
  ['demo', 'backoffice', 'mail'],
  ['store'],
  ['domain'],
  [
    'accounts.ts',
    'db.ts',
    'errors.ts',
    'failpoints.ts',
    'failures.ts',
    'settings.ts',
    'secrets.ts',
    'tls',
    'postgres',
    'migrate.ts',
  ],
]
const stepOf = (name: string) => ladder.findIndex(step => step.includes(name.split('/')[0] ?? ''))

/** The files of `src` that a file imports, by their names. */
function importsOf({ name, text }: { name: string; text: string }) {
  const statements = text.matchAll(
    /^(?:import|export)\s[^'"`;]*?\bfrom\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm,
  )
  return [...statements]
    .map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? '')
    .filter(path => path.startsWith('.'))
    .map(path => posix.normalize(posix.join(dirname(name), path)))
    .filter(path => !path.startsWith('..'))
}

test('each file of the source stands on the ladder', async () => {
  assert.deepEqual(
    (await sources).filter(({ name }) => stepOf(name) < 0).map(({ name }) => name),
    [],
  )
})

test('imports point down', async () => {
  const seen = (await sources).flatMap(source => importsOf(source).map(target => ({ from: source.name, target })))
  assert.ok(seen.length > 200, 'imports are found')
  const upward = seen.filter(({ from, target }) => stepOf(target) < stepOf(from))
  assert.deepEqual(
    upward.map(({ from, target }) => `${from} imports ${target}`),
    [],
  )
})

test('drivers of back offices do not know each other', async () => {
  const driverOf = (name: string) => /^backoffice\/(embedded|apparel21)\b/.exec(name)?.[1]
  const mixed = (await sources).flatMap(source =>
    importsOf(source)
      .filter(target => driverOf(source.name) && driverOf(target) && driverOf(source.name) !== driverOf(target))
      .map(target => `${source.name} imports ${target}`),
  )
  assert.deepEqual(mixed, [])
})

test('no two files import each other', async () => {
  const imports = new Map((await sources).map(source => [source.name, importsOf(source)]))
  const found = [...imports].flatMap(([name, targets]) =>
    targets
      .filter(target => name < target && imports.get(target)?.includes(name))
      .map(target => `${name} and ${target}`),
  )
  assert.deepEqual(found, [])
})

test('no file of the source has more than 250 lines', async () => {
  const long = (await sources).filter(({ text }) => text.split('\n').length - 1 > 250)
  assert.deepEqual(
    long.map(({ name }) => name),
    [],
  )
})

test('the environment is read in one file', async () => {
  const readers = (await sources).filter(({ text }) => /process\.env\b/.test(text))
  assert.deepEqual(
    readers.map(({ name }) => name),
    ['config.ts'],
  )
})

test('imports end in .ts, and folders are named for what they hold', async () => {
  for (const source of await sources) {
    for (const target of importsOf(source)) assert.match(target, /\.ts$/, source.name)
    assert.doesNotMatch(source.name, /(^|\/)(utils?|helpers?|common|shared|core|lib|misc)(\/|\.ts)/)
  }
})

test('migrations are numbered from 1 without a gap', async () => {
  const names = (await readdir(new URL('migrations', root))).filter(name => name !== 'schema.sql').sort()
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
