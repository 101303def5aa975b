import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkout, runCommand } from '../support/processes.ts'

/** Runs a short chaos test. Returns the lines of the checks that passed. */
async function runChaos(...args: string[]) {
  const program = [process.execPath, join(checkout, 'scenarios/chaos/run.ts')] as const
  const { code, out, err } = await runCommand(
    ['--seed', '11', '--kills', '6', '--shoppers', '4', ...args],
    {},
    { program },
  )
  assert.equal(code, 0, `${err}\n${out}`)
  assert.match(out, /Killed: .*PostgreSQL \d+\./)
  return out.split('\n').filter(line => line.startsWith('✔'))
}

test('writes take effect once and ledgers balance after random kills', {
  timeout: 300_000,
}, async () => {
  const passed = await runChaos()
  assert.ok(passed.length >= 26, passed.join('\n'))
})

test('kills with a slow Apparel21 leave no open or diverging write', {
  timeout: 300_000,
}, async () => {
  const passed = await runChaos('--back-office', 'apparel21', '--shoppers', '6')
  assert.ok(passed.length >= 32, passed.join('\n'))
})
