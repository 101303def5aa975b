import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { fillWithCanaries } from '../api/access/canaries.ts'
import { createEmptyDatabase } from '../support/database.ts'
import { createDirectory, runCommand, runSuccessfully, startCommand, waitUntil } from '../support/processes.ts'
import { startTestApi } from '../support/service.ts'

const home = createDirectory()
const api = await startTestApi()
after(() => api.stop())
const environment = { DATABASE_URL: api.database.connection, SECRET_KEY: api.secret, DATA_DIR: join(home, 'data') }
const buildRemoveArgs = (name: string, file: string) => ['service', 'remove', name, '--yes', name, '--backup', file]

before(() => api.db.run(sql`insert into installation (secret_digest) values (${api.keys.digest})`))

test("one of two concurrent removals is rejected and the other's backup complete", async t => {
  const { service } = api
  await fillWithCanaries(api, api, 'canary-')
  const file = join(home, 'kept.tillbridge')
  const blocker = await api.db.pool.connect()
  const commands = [startCommand(buildRemoveArgs(service.name, file), environment)]
  try {
    await blocker.query('begin')
    // A backup reads the sequences last.
    await blocker.query('alter sequence service_service_id_seq rename to renamed')
    const blockedBackups = sql`
      select from pg_locks where not granted and relation = 'service_service_id_seq'::regclass
         and database = (select oid from pg_database where datname = current_database())`
    await waitUntil(async () => (await api.db.run(blockedBackups)) === 1, 'the backup is being written', 60_000)
    const second = startCommand(buildRemoveArgs(service.name, file), environment)
    commands.push(second)
    await waitUntil(
      async () => second.child.exitCode !== null || (await api.db.run(blockedBackups)) === 2,
      'the second removal ends or writes a backup too',
      60_000,
    )
  } finally {
    await blocker.query('rollback')
    blocker.release()
  }
  const [first, second] = await Promise.all(commands.map(command => command.ended))
  assert.deepEqual([first?.code, second?.code], [0, 1])
  assert.match(commands[1]?.err ?? '', /^tillbridge: Service \S+ is being removed by another process\.$/m)
  const target = await createEmptyDatabase()
  t.after(() => target.drop())
  await runSuccessfully(['restore', file], { ...environment, DATABASE_URL: target.connection })
  assert.equal(await target.db.run(sql`select from store where service_id = ${service.id}`), 2)
})

test('a removal never overwrites a backup file and locks nothing then', async () => {
  const { service } = await api.createService()
  const file = join(home, 'other.tillbridge')
  fs.writeFileSync(file, 'another backup')
  const { code, err, out } = await runCommand(buildRemoveArgs(service.name, file), environment)
  assert.equal(code, 1)
  assert.match(err, /other\.tillbridge exists already\. Nothing was deleted\.$/m)
  assert.doesNotMatch(out, /closed/)
  assert.equal(fs.readFileSync(file, 'utf8'), 'another backup')
})
