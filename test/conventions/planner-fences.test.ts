import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSources, type Source } from '../support/imports.ts'

// Contributing/decisions/0035-planner-fences.md: hiding something from the planner is an exception with a name.

const fences = 'src/store/lists/planner-fences.ts'
/** Settings of writers' connections, and of the bundled server as a whole. */
const settingsFiles = ['src/database/session-settings.ts', 'src/postgres/server-settings.ts']

const fence = /\boffset 0\b|\bas (?:not )?materialized \(|\(select \$\{[^}]*\}::[^)\s]*\)/i
const plannerSetting = /\b(?:enable_\w+(?:scan|join|sort|agg)|plan_cache_mode|\w+_collapse_limit|random_page_cost)\b/

const linesWith = (sources: readonly Source[], pattern: RegExp) =>
  sources.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}: ${line.trim()}`] : [])),
  )

test('only the named helpers hide something from the planner', () => {
  const sources = readSources('src')
  assert.ok(
    linesWith(
      sources.filter(({ path }) => path === fences),
      fence,
    ).length > 2,
  )
  assert.deepEqual(
    linesWith(
      sources.filter(({ path }) => path !== fences),
      fence,
    ),
    [],
  )
})

test('only connection and server settings change the planner', () => {
  const sources = readSources('src')
  assert.ok(
    linesWith(
      sources.filter(({ path }) => settingsFiles.includes(path)),
      plannerSetting,
    ).length > 2,
  )
  assert.deepEqual(
    linesWith(
      sources.filter(({ path }) => !settingsFiles.includes(path)),
      plannerSetting,
    ),
    [],
  )
})
