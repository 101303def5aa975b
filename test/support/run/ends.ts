import '../../../src/module-hooks.js'
import { after, beforeEach } from 'node:test'
import { recordTimes } from './times.ts'

/** How long a test file may take to come to its first test, and how long it may go on after its last one. Milliseconds. */
const grace = { before: 300_000, after: 60_000 }

/**
 * Loaded before every test file by `npm test`: a file that never comes to its first test, or that something keeps alive after its last one,
 * would keep the whole run waiting, because `--test-timeout` counts tests alone. It fails and says what is open.
 * What each file took is kept for `npm run test:times`.
 */
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  process.on('exit', () => recordTimes(process.argv[1] ?? ''))
  const failAfter = (withinMs: number, what: string) => {
    const late = () => {
      console.error(`${what} ${withinMs / 1000} s; open are ${process.getActiveResourcesInfo().join(', ')}`)
      process.exit(1)
    }
    return setTimeout(late, withinMs).unref()
  }
  const firstTestTimer = failAfter(grace.before, 'No test has begun for')
  beforeEach(() => clearTimeout(firstTestTimer))
  after(() => {
    clearTimeout(firstTestTimer)
    failAfter(grace.after, 'The last test is over for')
  })
}
