import '../../../src/module-hooks.js'
import { after, beforeEach } from 'node:test'
import { recordTimes } from './times.ts'

/** The maximum time before the first test of a file and after its last one, in milliseconds. */
const maxMs = { before: 300_000, after: 60_000 }

/**
 * Loaded before every test file by `npm test`. `--test-timeout` counts only tests, so a file that never reaches its
 * first test, or stays alive after its last one, would hang the run. Such a file fails and lists its open resources.
 * The times of each file are recorded for `npm run test:times`.
 */
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  process.on('exit', () => recordTimes(process.argv[1] ?? ''))
  const failAfter = (withinMs: number, label: string) => {
    const failFile = () => {
      console.error(`${label} ${withinMs / 1000} s. Open resources: ${process.getActiveResourcesInfo().join(', ')}`)
      process.exit(1)
    }
    return setTimeout(failFile, withinMs).unref()
  }
  const firstTestTimer = failAfter(maxMs.before, 'No test has started within')
  beforeEach(() => clearTimeout(firstTestTimer))
  after(() => {
    clearTimeout(firstTestTimer)
    failAfter(maxMs.after, 'The test file has not ended after its last test within')
  })
}
