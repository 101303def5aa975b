import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSources } from '../support/imports.ts'

// The compiler doesn't compare a row type with its statement. In `src`, row-types.test.ts executes each statement. Most code
// of the benches and scenarios is run by no test, so this test at least finds columns that a statement doesn't name.

/** A call such as `row<{ id: string }>(sql…`: the fields of its row type, and its statement up to an embedded one. */
const call = /\brows?<\{([^<>{}]*)\}>\(\s*sql`([^`]*)`/g
const field = /(?:^|[;,])\s*(\w+)\??:/g

test('a statement names each column of its row type', () => {
  const missing: string[] = []
  let count = 0
  for (const { path, text } of readSources('bench', 'scenarios', 'scripts', 'seed', 'simulator', 'test'))
    for (const [, type = '', statement = ''] of text.matchAll(call)) {
      if (/\$\{[^}]*$/.test(statement)) continue
      count++
      for (const [, name = ''] of type.matchAll(field))
        if (!new RegExp(`\\b${name}\\b`).test(statement))
          missing.push(`${path}: ${name} in ${statement.trim().slice(0, 60)}`)
    }
  assert.deepEqual(missing, [])
  assert.ok(count > 100, `${count} statements were checked`)
})
