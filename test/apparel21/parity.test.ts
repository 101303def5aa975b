import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { routes } from '../../simulator/api/routes.ts'

const document = readFileSync(new URL('../../docs/reference/apparel21-calls.md', import.meta.url), 'utf8')
const rows = document.split('\n').filter(line => line.startsWith('| `'))
const calls = rows.flatMap(row =>
  [...(row.split('|')[1] ?? '').matchAll(/`([A-Z]+ [^`]+)`/g)].map(([, call = '']) => call),
)
const normalize = (call: string) => call.replaceAll(/\{[^}]*\}/g, '{}').toLowerCase()

test('the table of calls has every call of the simulator', () => {
  const listed = new Set(calls.map(normalize))
  const missing = routes.map(({ method, path }) => normalize(`${method} ${path}`)).filter(call => !listed.has(call))
  assert.deepEqual(missing, [])
})

test('each call has a use or a reason', () => {
  assert.deepEqual(
    rows.filter(row => row.includes('not used yet')),
    [],
  )
  for (const row of rows) assert.ok((row.split('|')[2] ?? '').trim().length > 5, row)
})
