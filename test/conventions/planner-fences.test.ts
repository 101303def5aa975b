import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSources, type Source } from '../support/imports.ts'

// Only named helpers can hide values and subqueries from the planner (contributing/decisions/0035-planner-fences.md).

const fences = 'src/store/lists/planner-fences.ts'
/** The settings of sessions, and those of the bundled server. */
const settingsFiles = ['src/database/session-settings.ts', 'src/postgres/server-settings.ts']

const fencePattern = /\boffset 0\b|\bas (?:not )?materialized \(|\(select \$\{[^}]*\}::[^)\s]*\)/i
const settingPattern = /\b(?:enable_\w+(?:scan|join|sort|agg)|plan_cache_mode|\w+_collapse_limit|random_page_cost)\b/

const findLines = (sources: readonly Source[], pattern: RegExp) =>
  sources.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}: ${line.trim()}`] : [])),
  )

test('only the named helpers hide something from the planner', () => {
  const sources = readSources('src')
  assert.ok(
    findLines(
      sources.filter(({ path }) => path === fences),
      fencePattern,
    ).length > 2,
  )
  assert.deepEqual(
    findLines(
      sources.filter(({ path }) => path !== fences),
      fencePattern,
    ),
    [],
  )
})

test('only connection and server settings change the planner', () => {
  const sources = readSources('src')
  assert.ok(
    findLines(
      sources.filter(({ path }) => settingsFiles.includes(path)),
      settingPattern,
    ).length > 2,
  )
  assert.deepEqual(
    findLines(
      sources.filter(({ path }) => !settingsFiles.includes(path)),
      settingPattern,
    ),
    [],
  )
})
