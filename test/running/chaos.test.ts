import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkout, run } from '../support/processes.ts'

test('after a dozen kills at random every write took effect once, and every ledger adds up', {
  timeout: 300_000,
}, async () => {
  const program = [process.execPath, join(checkout, 'chaos/run.ts')] as const
  const { code, out, err } = await run(['--seed', '11', '--kills', '12', '--shoppers', '4'], {}, { program })
  assert.equal(code, 0, `${err}\n${out}`)
  const facts = out.split('\n').filter(line => line.startsWith('✔'))
  assert.ok(facts.length >= 18, out)
  assert.match(out, /Killed: .*PostgreSQL \d+\./)
})
