import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const text = readFileSync(new URL('../../contributing/field-reports.md', import.meta.url), 'utf8')
const reports = text.split('\n').filter(line => line.startsWith('| ['))

test('each field report has an existing test', () => {
  assert.ok(reports.length >= 42, `${reports.length} reports`)
  const missing = reports.filter(report => {
    const [, tests = ''] = /\| ((?:`[\w/-]+`(?:, )?)+) \|$/.exec(report) ?? []
    const files = Array.from(tests.matchAll(/`([\w/-]+)`/g), ([, name]) => `../${name}.test.ts`)
    return !files.length || !files.every(file => existsSync(new URL(file, import.meta.url)))
  })
  assert.deepEqual(missing, [])
})

test('the tests and reports of each operator expectation exist', () => {
  const page = readFileSync(new URL('../../contributing/operator-expectations.md', import.meta.url), 'utf8')
  const sources = page.split('\n').flatMap(line => /^\| [^|]+ \| ([^|]+) \| [^|]+ \|$/.exec(line)?.[1] ?? [])
  const names = sources.flatMap(source => Array.from(source.matchAll(/`([a-z][\w/-]+)`/g), ([, name = '']) => name))
  assert.ok(names.length >= 30, `${names.length} names`)
  const missing = names.filter(
    name =>
      !existsSync(new URL(`../${name}.test.ts`, import.meta.url)) &&
      !existsSync(new URL(`../../bench/results/${name}.md`, import.meta.url)),
  )
  assert.deepEqual(missing, [])
})
