import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { installWithAccess } from '../support/installations/installations.ts'
import { createDirectory, runSuccessfully, serve, stopServer } from '../support/processes.ts'

test('a command on a copied DATA_DIR leaves the original unchanged', async () => {
  const home = createDirectory()
  const original = { DATA_DIR: join(home, 'data') }
  await installWithAccess(original)
  const running = await serve([], original)
  const copy = { DATA_DIR: join(home, 'copy') }
  assert.equal(spawnSync('cp', ['-a', original.DATA_DIR, copy.DATA_DIR]).status, 0)
  await runSuccessfully(['service', 'add', 'later'], original)
  await runSuccessfully(['service', 'add', 'copied'], copy)
  const [originalList, copyList] = await Promise.all(
    [original, copy].map(server => runSuccessfully(['service', 'list'], server)),
  )
  assert.doesNotMatch(copyList ?? '', /^later\b/m)
  assert.match(copyList ?? '', /^luma\b/m)
  assert.match(copyList ?? '', /^copied\b/m)
  assert.doesNotMatch(originalList ?? '', /^copied\b/m)
  await stopServer(running)
})
