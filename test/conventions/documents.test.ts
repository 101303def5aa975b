import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { buildDocuments } from '../../src/commands/docs.ts'
import { changelog } from '../../src/http/docs/changelog.ts'

for (const [name, text] of Object.entries(await buildDocuments()))
  test(`${name} is up to date`, async () => {
    const there = await readFile(new URL(`../../${name}`, import.meta.url), 'utf8').catch(() => '')
    assert.ok(there === text, `${name} is stale: run \`npm run docs\``)
  })

test('documents are generated reproducibly', async () => {
  assert.deepEqual(await buildDocuments(), await buildDocuments())
})

test('the check succeeds on up-to-date documents', () => {
  const { status, stdout } = spawnSync(process.execPath, ['src/commands/docs.ts', '--check'], {
    cwd: new URL('../..', import.meta.url),
    encoding: 'utf8',
  })
  assert.deepEqual({ status, stdout }, { status: 0, stdout: '' })
})

test('a decision begins with its number', async () => {
  const folder = new URL('../../contributing/decisions/', import.meta.url)
  for (const name of await readdir(folder))
    assert.match(await readFile(new URL(name, folder), 'utf8'), new RegExp(`^# ${Number(name.slice(0, 4))}\\. `), name)
})

test('the changelog starts with the newest entry and the API returns it', async () => {
  const text = await readFile(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')
  assert.equal(changelog.length, text.match(/^\| *\d/gm)?.length)
  for (const [i, { date, change }] of changelog.entries())
    assert.ok(i === 0 || date <= (changelog[i - 1]?.date ?? ''), `below an earlier one: ${date} ${change}`)
})

test('links between documents lead to files that exist', async () => {
  const root = new URL('../../', import.meta.url)
  const pages = globSync(['*.md', 'docs/**/*.md', 'contributing/**/*.md', 'client/*.md'], { cwd: fileURLToPath(root) })
  assert.ok(pages.length > 50)
  const broken: string[] = []
  for (const page of pages) {
    const text = (await readFile(new URL(page, root), 'utf8')).replace(/^ *```.*?^ *```/gms, '')
    for (const [, target = ''] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g))
      if (!/^(https?|mailto):/.test(target) && !existsSync(new URL(target, new URL(page, root))))
        broken.push(`${page}: ${target}`)
  }
  assert.deepEqual(broken, [])
})
