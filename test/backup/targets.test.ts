import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { createDirectory, type Environment, runCommand, runSuccessfully } from '../support/processes.ts'
import { startTestApi, type TestApi } from '../support/service.ts'

const home = createDirectory()
let api: TestApi
let environment: Environment

before(async () => {
  api = await startTestApi()
  await api.db.run(sql`insert into installation (secret_digest) values (${api.keys.digest})`)
  environment = { DATABASE_URL: api.database.connection, SECRET_KEY: api.secret, DATA_DIR: join(home, 'data') }
})
after(() => api.stop())

test('a backup replaces only a regular file', async () => {
  const pipe = join(home, 'pipe')
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0)
  for (const path of [pipe, home]) {
    const { code, err } = await runCommand(['backup', path], environment)
    assert.equal(code, 1)
    assert.equal(err, `tillbridge: ${path} must be a file. Use - for standard output.\n`)
  }
  assert.ok(fs.statSync(pipe).isFIFO())
})

test('a backup to a symbolic link writes its target', async () => {
  const [link, file] = [join(home, 'latest.tillbridge'), join(home, 'monday.tillbridge')]
  fs.writeFileSync(file, 'the previous backup')
  fs.symlinkSync('monday.tillbridge', link)
  await runSuccessfully(['backup', link], environment)
  assert.ok(fs.lstatSync(link).isSymbolicLink())
  assert.match(fs.readFileSync(file, 'latin1'), /^Tillbridge backup /)
})

test('a backup into a missing folder is rejected with a message', async () => {
  const { code, err } = await runCommand(['backup', '/nowhere/x'], environment)
  assert.deepEqual([code, err], [1, "tillbridge: /nowhere/x can't be written: folder /nowhere not found.\n"])
})

test('an invalid CPU percentage is rejected before anything is written', async () => {
  for (const share of ['0', '101', 'x']) {
    const { code, err } = await runCommand(['backup', join(home, 'none'), '--cpu-percent', share], environment)
    assert.equal(code, 1)
    assert.match(err, /--cpu-percent <percent>.* is invalid\. It must be a number from 1 to 100\./)
  }
  assert.ok(!fs.existsSync(join(home, 'none')))
})
