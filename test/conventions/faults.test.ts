import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { faultsFile, renderFaultsPage } from '../../scripts/faults.ts'
import { errors } from './faults/faults.ts'

const allCases = errors.flatMap(({ cases }) => cases)

/** The titles of the tests in a file's source, with `…` where values are put in. */
function titlesIn(source: string) {
  const titles = source.matchAll(
    /\b(?:test|it|suite|describe)\(\s*(?:'((?:[^'\\]|\\.)*)'|"([^"]*)"|`((?:[^`\\]|\\.)*)`)/g,
  )
  return [...titles].map(([, single, double, template]) =>
    (single ?? double ?? template ?? '').replace(/\$\{(?:[^{}]|\{[^}]*\})*\}/g, '…').replace(/\\(.)/g, '$1'),
  )
}

/** Returns the files and titles that don't exist. */
function missing(named: typeof allCases): string[] {
  return named.flatMap(([number, , ...shown]) =>
    shown.flatMap(([file, title]) => {
      const path = new URL(`../${file}`, import.meta.url)
      const titles = existsSync(path) ? titlesIn(readFileSync(path, 'utf8')) : []
      return titles.includes(title) ? [] : [`${number}: ${file}: ${title}`]
    }),
  )
}

test('each of the 228 faults is listed once and in order', () => {
  assert.deepEqual(
    allCases.map(([number]) => number).sort((a, b) => a - b),
    Array.from({ length: 228 }, (_, i) => i + 1),
  )
  for (const { title, cases } of errors)
    assert.deepEqual(
      cases.map(([number]) => number),
      cases.map(([number]) => number).sort((a, b) => a - b),
      title,
    )
})

test('each named test exists with its title', () => {
  assert.deepEqual(missing(allCases), [])
})

test('the check finds an unknown title and a missing file', () => {
  const file = 'conventions/faults.test.ts'
  const wrong = missing([[1, 'a fault', [file, 'a title that does not exist'], ['conventions/nowhere.test.ts', 'any']]])
  assert.deepEqual(wrong, [`1: ${file}: a title that does not exist`, '1: conventions/nowhere.test.ts: any'])
})

test('contributing/faults.md matches the table', async () => {
  assert.equal(await readFile(faultsFile, 'utf8'), renderFaultsPage(), 'run `npm run docs`')
})
