import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { buildClientFiles } from '../../scripts/client/write.ts'

const source = new URL('../../client/src/', import.meta.url)
const files = await buildClientFiles()

test("the client's schemas and operations match the API", async () => {
  for (const [name, text] of Object.entries(files)) {
    const storedText = await readFile(new URL(name, source), 'utf8').catch(() => '')
    assert.ok(storedText === text, `client/src/${name} is stale: run \`npm run docs\``)
  }
})

test('the client has no schema or operation missing from the API', () => {
  const storedFiles = globSync('{api,shapes}/*', { cwd: fileURLToPath(source) })
  assert.deepEqual(storedFiles.sort(), Object.keys(files).sort())
})
