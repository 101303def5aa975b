import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from '../browser.ts'

const source = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const allRules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Asserts that axe-core finds no accessibility problem on the page (WCAG 2.2 AA). */
export async function assertAccessible(page: Page, message: string, rules = allRules) {
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(`${source}; undefined`)
  const violations = await page.evaluate<string[]>(`axe.run(document, { runOnly: ${JSON.stringify(rules)} }).then(
    ({ violations }) => violations.map(({ id, help, nodes }) => id + ': ' + help + '\\n' + nodes.map(({ html, failureSummary }) => html + '\\n' + failureSummary).join('\\n')))`)
  assert.deepEqual(violations, [], message)
}
