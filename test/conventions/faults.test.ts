import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { faultsFile, renderFaultsPage } from '../../scripts/faults.ts'
import { faultSections } from './faults/faults.ts'

const allCases = faultSections.flatMap(({ cases }) => cases)

/** Returns the titles of the tests in a file's source, with `…` for each interpolated value. */
function findTitles(source: string) {
  const titles = source.matchAll(
    /\b(?:test|it|suite|describe)\(\s*(?:'((?:[^'\\]|\\.)*)'|"([^"]*)"|`((?:[^`\\]|\\.)*)`)/g,
  )
  return [...titles].map(([, single, double, template]) =>
    (single ?? double ?? template ?? '').replace(/\$\{(?:[^{}]|\{[^}]*\})*\}/g, '…').replace(/\\(.)/g, '$1'),
  )
}

/** Returns the tests of cases whose file or title doesn't exist. */
function findMissing(cases: typeof allCases): string[] {
  return cases.flatMap(([number, , ...tests]) =>
    tests.flatMap(([file, title]) => {
      const path = new URL(`../${file}`, import.meta.url)
      const titles = existsSync(path) ? findTitles(readFileSync(path, 'utf8')) : []
      return titles.includes(title) ? [] : [`${number}: ${file}: ${title}`]
    }),
  )
}

test('each of the 228 faults is listed once and in order', () => {
  assert.deepEqual(
    allCases.map(([number]) => number).sort((a, b) => a - b),
    Array.from({ length: 228 }, (_, i) => i + 1),
  )
  for (const { title, cases } of faultSections)
    assert.deepEqual(
      cases.map(([number]) => number),
      cases.map(([number]) => number).sort((a, b) => a - b),
      title,
    )
})

test('each named test exists with its title', () => {
  assert.deepEqual(findMissing(allCases), [])
})

test('the check finds an unknown title and a missing file', () => {
  const file = 'conventions/faults.test.ts'
  const wrong = findMissing([
    [1, 'a fault', [file, 'a title that does not exist'], ['conventions/nowhere.test.ts', 'any']],
  ])
  assert.deepEqual(wrong, [`1: ${file}: a title that does not exist`, '1: conventions/nowhere.test.ts: any'])
})

test('contributing/faults.md matches the table', async () => {
  assert.equal(await readFile(faultsFile, 'utf8'), renderFaultsPage(), 'run `npm run docs`')
})
