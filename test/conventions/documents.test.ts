import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { buildDocuments } from '../../scripts/documents/write.ts'
import { buildProgram } from '../../src/commands/program.ts'
import { alertKinds } from '../../src/domain/alerts.ts'
import { changelog } from '../../src/http/docs/public.ts'

for (const [name, text] of Object.entries(await buildDocuments()))
  test(`${name} is up to date`, async () => {
    const storedText = await readFile(new URL(`../../${name}`, import.meta.url), 'utf8').catch(() => '')
    assert.ok(storedText === text, `${name} is stale: run \`npm run docs\``)
  })

test('documents are generated reproducibly', async () => {
  assert.deepEqual(await buildDocuments(), await buildDocuments())
})

test('the check succeeds on up-to-date documents', () => {
  const { status, stdout } = spawnSync(process.execPath, ['scripts/documents/write.ts', '--check'], {
    cwd: new URL('../..', import.meta.url),
    encoding: 'utf8',
  })
  assert.deepEqual({ status, stdout }, { status: 0, stdout: '' })
})

test('a decision has a number and four parts on half a page', async () => {
  const folder = new URL('../../contributing/decisions/', import.meta.url)
  for (const name of await readdir(folder)) {
    const text = await readFile(new URL(name, folder), 'utf8')
    assert.match(text, new RegExp(`^# ${Number(name.slice(0, 4))}\\. `), name)
    const parts = [...text.matchAll(/^\*\*([^*]+)\.\*\*/gm)].map(([, part]) => part)
    assert.deepEqual(parts, ['Context', 'Decision', 'Evidence', 'Consequences'], name)
    assert.ok(text.split('\n').length <= 45 && text.split(/\s+/).length <= 420, `${name} is longer than half a page`)
  }
})

test('the changelog starts with the newest entry and the API returns it', async () => {
  const text = await readFile(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')
  assert.equal(changelog.length, text.match(/^\| *\d/gm)?.length)
  for (const [i, { date, change }] of changelog.entries())
    assert.ok(i === 0 || date <= (changelog[i - 1]?.date ?? ''), `the entry is below an earlier one: ${date} ${change}`)
})

/** Returns the anchors of a page's headings, as GitHub builds them. */
const findAnchors = (text: string) =>
  new Set(
    [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )

test('links between documents lead to pages and headings that exist', async () => {
  const root = new URL('../../', import.meta.url)
  const pages = globSync(['*.md', 'docs/**/*.md', 'contributing/**/*.md', 'client/*.md'], { cwd: fileURLToPath(root) })
  assert.ok(pages.length > 50)
  const withoutCode = async (url: URL) => (await readFile(url, 'utf8')).replace(/^ *```.*?^ *```/gms, '')
  const broken: string[] = []
  for (const page of pages) {
    const url = new URL(page, root)
    for (const [, path = '', anchor] of (await withoutCode(url)).matchAll(/\]\(([^)#\s]*)(?:#([^)]*))?\)/g)) {
      if (/^(https?|mailto):/.test(path)) continue
      const target = new URL(path || page, path ? url : root)
      if (!existsSync(target)) broken.push(`${page}: ${path}`)
      else if (anchor && target.pathname.endsWith('.md') && !findAnchors(await withoutCode(target)).has(anchor))
        broken.push(`${page}: ${path}#${anchor}`)
    }
  }
  assert.deepEqual(broken, [])
})

test('a page shows each picture of the documents', async () => {
  const cwd = fileURLToPath(new URL('../../', import.meta.url))
  const pages = await Promise.all(
    globSync(['README.md', 'docs/**/*.md'], { cwd }).map(page =>
      readFile(new URL(`../../${page}`, import.meta.url), 'utf8'),
    ),
  )
  const unused = globSync('docs/images/*', { cwd }).filter(
    picture => !pages.some(page => page.includes(`${picture.slice('docs/'.length)})`)),
  )
  assert.deepEqual(unused, [])
})

test('every alert and every Prometheus rule has a runbook', async () => {
  const readRepositoryFile = (name: string) => readFile(new URL(`../../${name}`, import.meta.url), 'utf8')
  const headings = new Set(
    [...(await readRepositoryFile('docs/operate/runbooks.md')).matchAll(/^### (.+)$/gm)].flatMap(([, names = '']) =>
      names.split(', '),
    ),
  )
  const rules = [...(await readRepositoryFile('deploy/prometheus/rules.yml')).matchAll(/- alert: (\w+)/g)].map(
    ([, name = '']) => name,
  )
  assert.deepEqual([...headings].sort(), [...Object.keys(alertKinds), ...rules].sort())
})

/** Yields the `tillbridge` commands of a page: the lines of its code blocks, with continued lines joined, and commands in its sentences. */
function* findCommands(text: string) {
  for (const [, command = ''] of text
    .replaceAll(/^ *```.*?^ *```/gms, '')
    .matchAll(/`(?:npx )?tillbridge ([a-z][^`]* [^`]*)`/g))
    yield command.trim()
  for (const [, block = ''] of text.matchAll(/^ *```sh\n(.*?)^ *```/gms))
    for (const line of block.replaceAll(/\\\n\s*/g, ' ').split('\n')) {
      if (line.includes('--entrypoint')) continue
      // Matches the last `tillbridge` of the line, because a path or a container can have the same name.
      const [, command] = /^(?:.*[\s/])?tillbridge ([a-z][^#'|>;&]*)/.exec(line) ?? []
      if (command) yield command.trim()
    }
}

test('commands in documents exist with their options', async () => {
  const root = new URL('../../', import.meta.url)
  const program = await buildProgram()
  const unknown: string[] = []
  let checkedCommands = 0
  for (const page of globSync(['README.md', 'docs/**/*.md'], { cwd: fileURLToPath(root) }))
    for (const line of findCommands(await readFile(new URL(page, root), 'utf8'))) {
      checkedCommands++
      const words = line.split(/\s+/)
      let command: Command = program
      for (const word of words) {
        const child = command.commands.find(candidate => candidate.name() === word)
        if (!child) break
        command = child
      }
      const options = words.flatMap(word => /^--[a-z-]+/.exec(word)?.[0] ?? [])
      const missing = options.filter(
        option => option !== '--help' && !command.options.some(({ long }) => long === option),
      )
      const isGroup = command.commands.length > 0 && command.registeredArguments.length === 0
      if (isGroup || missing.length) unknown.push(`${page}: tillbridge ${line} ${missing.join(' ')}`)
    }
  assert.ok(checkedCommands > 40, String(checkedCommands))
  assert.deepEqual(unknown, [])
})
