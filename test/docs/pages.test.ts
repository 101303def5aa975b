import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkout } from '../support/processes.ts'

const guides = globSync('docs/{start,shop,connect,operate}/*.md', { cwd: checkout }).map(file => ({
  file,
  text: readFileSync(join(checkout, file), 'utf8'),
}))

/** Returns the paragraphs of a page, without code, lists, tables, headings, quotes and HTML. */
const listParagraphs = (text: string) =>
  text
    .replaceAll(/^( *)```.*?^\1```/gms, '')
    .split(/\n\s*\n/)
    .map(part => part.trim())
    .filter(part => /^[^|#\-<>\d!]/.test(part))

test('each guide begins with its purpose', () => {
  const without = guides.filter(({ text }) => !/^# .+\n\n[A-Z][^\n]+\.(?:\n|$)/.test(text))
  assert.deepEqual(
    without.map(({ file }) => file),
    [],
  )
})

test('each table of a document has a header', () => {
  const files = globSync('{docs,contributing}/**/*.md', { cwd: checkout })
  const without = files.flatMap(file =>
    readFileSync(join(checkout, file), 'utf8')
      .replaceAll(/^( *)```.*?^\1```/gms, '')
      .split(/\n\s*\n/)
      .filter(part => /^\s*\|/.test(part) && !/^\s*\|.*\n\s*\|[-:| ]+\|/.test(part))
      .map(part => `${file}: ${part.trim().slice(0, 60)}`),
  )
  assert.deepEqual(without, [])
})

test('a paragraph has at most four sentences', () => {
  const longParagraphs = guides.flatMap(({ file, text }) =>
    listParagraphs(text)
      .filter(part => (part.replaceAll(/`[^`]*`/g, 'x').match(/[.!?](?=\s|$)/g)?.length ?? 0) > 4)
      .map(part => `${file}: ${part.slice(0, 60)}`),
  )
  assert.deepEqual(longParagraphs, [])
})

const sections = [
  /^##+ Before you begin$/m,
  /^##+ (If it fails|The most common failure|Troubleshooting)$/m,
  /^## Next steps$/m,
]

test('each how-to has prerequisites, failures and next steps', () => {
  const pages = guides.filter(({ text }) => /^## (\d\. |Before you begin)/m.test(text))
  assert.ok(pages.length > 35, String(pages.length))
  const missing = pages.flatMap(({ file, text }) =>
    sections.filter(section => !section.test(text)).map(section => `${file}: ${section.source}`),
  )
  assert.deepEqual(missing, [])
})

test('each guide of a web shop shows its requests in four languages', () => {
  const shop = guides.filter(({ file }) => file.startsWith('docs/shop/') && !file.endsWith('go-live.md'))
  for (const { file, text } of shop) assert.match(text, /<!-- sample: \S+ -->/, file)
  for (const name of new Set(
    shop.flatMap(({ text }) => [...text.matchAll(/<!-- sample: (\S+) -->/g)].map(([, sample = '']) => sample)),
  ))
    assert.deepEqual(
      ['typescript', 'python', 'php', ...(name === 'tillbridge' || name === 'receive-webhook' ? [] : ['curl'])].filter(
        language => !globSync(`examples/shop/${language}/${name}.*`, { cwd: checkout }).length,
      ),
      [],
      name,
    )
})
