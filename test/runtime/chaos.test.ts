import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkout, run } from '../support/processes.ts'

/** Runs a short form of it; returns what it says, with each fact that held. */
async function chaos(...args: string[]) {
  const program = [process.execPath, join(checkout, 'scenarios/chaos/run.ts')] as const
  const { code, out, err } = await run(['--seed', '11', '--kills', '6', '--shoppers', '4', ...args], {}, { program })
  assert.equal(code, 0, `${err}\n${out}`)
  assert.match(out, /Killed: .*PostgreSQL \d+\./)
  return out.split('\n').filter(line => line.startsWith('✔'))
}

test('after some kills at random every write took effect once, and every ledger adds up', {
  timeout: 300_000,
}, async () => {
  const facts = await chaos()
  assert.ok(facts.length >= 18, facts.join('\n'))
})

test('after some kills in front of a back office that hangs and loses answers, nothing is open, and both agree', {
  timeout: 300_000,
}, async () => {
  const facts = await chaos('--back-office', 'apparel21', '--shoppers', '6')
  assert.ok(facts.length >= 15, facts.join('\n'))
})
