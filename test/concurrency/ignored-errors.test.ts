import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { handleLater, ignoredErrors, ignoreError, listenToIgnoredErrors } from '../../src/telemetry/ignored-errors.ts'

test('an ignored error is counted by its reason and reported', async () => {
  const ignored: unknown[] = []
  listenToIgnoredErrors((error, reason) => ignored.push([(error as Error).message, reason]))
  assert.equal(await ignoreError(Promise.reject(new Error('gone')), 'a test'), undefined)
  assert.equal(await ignoreError(Promise.resolve('result'), 'a test'), 'result')
  assert.equal(ignoredErrors.get('a test'), 1)
  assert.deepEqual(ignored, [['gone', 'a test']])
})

test('a promise that is handled later still rejects', async () => {
  const promise = handleLater(Promise.reject(new Error('later')))
  await new Promise(setImmediate)
  await assert.rejects(promise, /later/)
})

test('every source file names the errors it ignores', () => {
  const source = new URL('../../src/', import.meta.url)
  const allowed = ['telemetry/ignored-errors.ts', 'concurrency/backoff.ts']
  const swallowing = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.ts') && !allowed.includes(path))
    .filter(path => /catch\(\(\) => \{\s*\}\)/.test(readFileSync(new URL(path, source), 'utf8')))
  assert.deepEqual(swallowing, [])
})
