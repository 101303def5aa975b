import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkout, createDirectory, runCommand } from '../support/processes.ts'
import { startTestApi } from '../support/service.ts'

const program = [process.execPath, join(checkout, 'scenarios/specification/run.ts')] as const

test('the demo fulfils every row of the specification', { timeout: 120_000 }, async () => {
  const { code, out, err } = await runCommand([], {}, { program })
  assert.equal(code, 0, `${err}\n${out}`)
  assert.match(out, /^6\d hold, 0 do not, 0 were not tested\.$/m)
  assert.doesNotMatch(out, /✖|–/)
})

test('a check of a live installation writes nothing and reports failures', async () => {
  const api = await startTestApi({ role: 'maintainer' })
  try {
    const ca = join(createDirectory(), 'ca.pem')
    writeFileSync(ca, api.ca)
    const key = Buffer.from(`${api.username}:${api.password}`).toString('base64')
    const installationArgs = ['--url', api.baseUrl, '--ca', ca, '--service', api.service.name, '--api-key', key]
    const { code, out } = await runCommand(installationArgs, {}, { program })
    assert.equal(code, 1)
    assert.match(out, /^ {2}✔ 4\. An account is required$/m)
    assert.match(out, /^ {2}✖ inventory: stock per store/m)
    assert.match(out, /^ {2}– mobile: string, in POST and PUT \(it needs writes: use --writes\)$/m)
    assert.deepEqual(await api.db.pool.query('select from customer').then(({ rowCount }) => rowCount), 0)
  } finally {
    await api.stop()
  }
  const { out } = await runCommand(['--help'], {}, { program })
  assert.match(out, /npm run scenario -- specification --simulator/)
})
