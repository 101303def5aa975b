import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { debianPostgresMissing } from '../../scenarios/support/debian-postgres.ts'
import { findBinaries } from '../../src/postgres/binaries.ts'
import { createDirectory, runCommand, runSuccessfully, serve, stopServer } from '../support/processes.ts'

const autoBinaries = { POSTGRES_BIN_DIR: 'auto' }
const readMajor = (DATA_DIR: string) => fs.readFileSync(join(DATA_DIR, 'postgres/data/PG_VERSION'), 'utf8').trim()

test('an installed PostgreSQL is preferred; its data is upgraded only on request', {
  skip: debianPostgresMissing,
}, async () => {
  const DATA_DIR = join(createDirectory(), 'data')
  const first = await serve(['--no-demo'], { DATA_DIR, ...autoBinaries })
  assert.match(first.out, /^The database is PostgreSQL \d+\.\d+ of this machine\.$/m)
  await runSuccessfully(['service', 'add', 'luma'], { DATA_DIR, ...autoBinaries })
  await stopServer(first)
  const major = readMajor(DATA_DIR)

  const bundled = dirname(findBinaries().postgres)
  for (const command of [
    ['start', '--no-demo'],
    ['service', 'list'],
  ]) {
    const { code, err } = await runCommand(command, { DATA_DIR, POSTGRES_BIN_DIR: bundled })
    assert.equal(code, 1)
    assert.match(
      err,
      new RegExp(`was written by PostgreSQL ${major}, and POSTGRES_BIN_DIR has \\d+\\.\\d+\\. Set it to the programs`),
    )
  }
  assert.equal(readMajor(DATA_DIR), major)
  assert.deepEqual(
    fs.readdirSync(join(DATA_DIR, 'postgres')).filter(name => name.startsWith('data')),
    ['data'],
  )

  const programs = `/usr/lib/postgresql/${major}/bin`
  for (const POSTGRES_BIN_DIR of ['auto', programs])
    assert.match(await runSuccessfully(['service', 'list'], { DATA_DIR, POSTGRES_BIN_DIR }), /^luma /m)
})

test('the bundled PostgreSQL keeps its data, and the start prints its purpose', async () => {
  const DATA_DIR = join(createDirectory(), 'data')
  await runSuccessfully(['service', 'add', 'luma'], { DATA_DIR, POSTGRES_BIN_DIR: 'bundled' })
  const server = await serve(['--no-demo'], { DATA_DIR, ...autoBinaries })
  assert.match(
    server.out,
    /^The database is the bundled PostgreSQL \d+\.\d+, which is for evaluation\. For production, set/m,
  )
  await stopServer(server)
})

test('POSTGRES_BIN_DIR must name a directory with the programs', async () => {
  const DATA_DIR = createDirectory()
  for (const POSTGRES_BIN_DIR of ['/usr/share', 'native/bin']) {
    const { code, err } = await runCommand(['start'], { DATA_DIR, POSTGRES_BIN_DIR })
    assert.equal(code, 1)
    assert.match(
      err,
      /POSTGRES_BIN_DIR must be auto, bundled, or the absolute path of a directory with postgres and initdb; it is /,
    )
  }
})
