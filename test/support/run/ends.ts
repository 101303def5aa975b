import '../../../src/module-hooks.js'
import { after, beforeEach } from 'node:test'
import { recordTimes } from './times.ts'

/** How long a test file may take to come to its first test, and how long it may go on after its last one. Milliseconds. */
const grace = { before: 300_000, after: 60_000 }

/**
 * Loaded before every test file by `npm test`. `--test-timeout` counts only tests, so a file that never reaches its
 * first test, or stays alive after its last one, would hang the run. Such a file fails and lists its open resources.
 * The times of each file are recorded for `npm run test:times`.
 */
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  process.on('exit', () => recordTimes(process.argv[1] ?? ''))
  const failAfter = (withinMs: number, label: string) => {
    const failFile = () => {
      console.error(`${label} ${withinMs / 1000} s; open are ${process.getActiveResourcesInfo().join(', ')}`)
      process.exit(1)
    }
    return setTimeout(failFile, withinMs).unref()
  }
  const firstTestTimer = failAfter(grace.before, 'No test has begun for')
  beforeEach(() => clearTimeout(firstTestTimer))
  after(() => {
    clearTimeout(firstTestTimer)
    failAfter(grace.after, 'The last test is over for')
  })
}
