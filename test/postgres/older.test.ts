import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { createPrimary, debianPostgresMissing } from '../../scenarios/support/debian-postgres.ts'
import {
  createDirectory,
  createServiceAccess,
  pickPort,
  runCommand,
  runSuccessfully,
  sendGet,
  serve,
  startCommand,
  stopServer,
  waitUntil,
} from '../support/processes.ts'

const customersCsv = [
  'id,email,firstname',
  ...Array.from({ length: 40 }, (_, i) => `${100 + i},c${i}@example.com,Ann`),
].join('\n')

/** Creates an installation whose data was written by Debian's PostgreSQL, which is older than the bundled one. */
async function createOlderInstallation() {
  const DATA_DIR = join(createDirectory(), 'data')
  fs.mkdirSync(DATA_DIR, { mode: 0o711 })
  const port = Number(pickPort())
  const postgres = createPrimary({ home: join(DATA_DIR, 'postgres'), port })
  postgres.start()
  try {
    const address = `postgres://tillbridge@127.0.0.1:${port}`
    const client = new pg.Client(`${address}/postgres`)
    await client.connect()
    await client.query('create database tillbridge')
    await client.end()
    const environment = { DATA_DIR, DATABASE_URL: `${address}/tillbridge` }
    const access = await createServiceAccess(environment)
    const file = join(DATA_DIR, 'people.csv')
    fs.writeFileSync(file, customersCsv)
    await runSuccessfully(['import', 'customers', file, '--service', 'luma'], environment)
    const server = await serve(['--no-demo'], environment)
    const { json } = await sendGet(server, '/customers/search?limit=15', access)
    await stopServer(server)
    return { DATA_DIR, access, first: json }
  } finally {
    postgres.stop()
    fs.rmSync(join(DATA_DIR, 'postgres/log'))
  }
}

test('a start upgrades an older PostgreSQL safely and keeps a copy', {
  skip: debianPostgresMissing,
}, async () => {
  const { DATA_DIR, access, first } = await createOlderInstallation()
  const home = join(DATA_DIR, 'postgres')
  const olderMajor = fs.readFileSync(join(home, 'data/PG_VERSION'), 'utf8').trim()

  const rejected = await runCommand(['service', 'list'], { DATA_DIR })
  assert.equal(rejected.code, 1)
  assert.match(
    rejected.err,
    new RegExp(`was written by PostgreSQL ${olderMajor}, .+. Run "tillbridge start" to upgrade it\\.`),
  )

  const isNewClusterCreated = () =>
    fs.readdirSync(home).some(name => fs.existsSync(join(home, name, 'PG_VERSION')) && name.startsWith('data.new-'))
  const killed = startCommand(['start', '--no-demo'], { DATA_DIR, PORT: '0' })
  await waitUntil(isNewClusterCreated, 'the newer database is being created', 30_000)
  killed.child.kill('SIGKILL')
  await killed.ended
  assert.equal(fs.readFileSync(join(home, 'data/PG_VERSION'), 'utf8').trim(), olderMajor)

  for (const FAILPOINT of ['rows_upgraded', 'older_data_moved']) {
    const { signal, out, err } = await runCommand(['start', '--no-demo'], { DATA_DIR, PORT: '0', FAILPOINT })
    assert.equal(signal, 'SIGKILL', `${FAILPOINT}: ${out}${err}`)
  }

  const server = await serve(['--no-demo'], { DATA_DIR })
  const nextPage = await sendGet(server, `/customers/search?limit=50&after_cursor=${first.meta.endCursor}`, access)
  assert.equal(nextPage.status, 200, nextPage.text)
  const ids = [...first.data, ...nextPage.json.data].map(({ id }: { id: string }) => id)
  assert.deepEqual([ids.length, new Set(ids).size], [40, 40])
  assert.notEqual(fs.readFileSync(join(home, 'data/PG_VERSION'), 'utf8').trim(), olderMajor)
  assert.equal(fs.readFileSync(join(home, `data-${olderMajor}/PG_VERSION`), 'utf8').trim(), olderMajor)
  await stopServer(server)
})
