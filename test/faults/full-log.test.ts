import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { createTestDatabase } from '../support/database.ts'
import {
  cli,
  createDirectory,
  createServiceAccess,
  sendGet,
  serve,
  stopServer,
  waitUntil,
} from '../support/processes.ts'
import { mountSmallDisk } from './own-postgres.ts'

const disk = mountSmallDisk(1)

describe('a full log disk', { skip: typeof disk === 'string' && disk }, () => {
  assert.ok(typeof disk !== 'string')
  after(() => disk.remove())
  const log = join(disk.directory, 'log')

  test('requests continue, and the log resumes with its count of lost lines', async () => {
    const database = await createTestDatabase()
    const environment = {
      DATA_DIR: join(createDirectory(), 'data'),
      DATABASE_URL: database.connection,
      SECRET_KEY: 's'.repeat(32),
      ACCESS_LOG: 'true',
      LOG_LEVEL: 'info',
      RUN_JOBS: 'false',
    }
    const access = await createServiceAccess(environment)
    const program = ['sh', '-c', `exec "${process.execPath}" "${cli}" "$@" 2>>"${log}"`, 'sh'] as const
    const server = await serve(['--no-demo'], environment, { program })
    try {
      const sendRequests = async (times: number) => {
        for (let i = 0; i < times; i++) assert.equal((await sendGet(server, '/stores', access)).status, 200)
      }
      await sendRequests(3)
      disk.fill()
      await sendRequests(50)
      disk.empty()
      await sendRequests(3)
      await waitUntil(() => readFileSync(log, 'utf8').includes('"lost":'), 'the log reports the number of lost lines')
    } finally {
      assert.deepEqual(await stopServer(server), { code: 0, signal: null })
      await database.drop()
    }
    const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean)
    const gap = lines.findIndex(line => line.includes('"lost":'))
    // Lines that were cut because the disk was full.
    const cutLines = lines.flatMap((line, i) => (line.endsWith('}') ? [] : [i]))
    assert.deepEqual(
      cutLines.filter(i => i !== gap - 1),
      [],
    )
    const records = lines.filter((_, i) => !cutLines.includes(i)).map(line => JSON.parse(line))
    const { lost } = records.find(record => record.lost)
    assert.ok(lost > 0)
    assert.equal(records.filter(({ msg }) => msg === 'request').length + lost, 56)
  })
})
