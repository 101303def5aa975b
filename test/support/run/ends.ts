import { after } from 'node:test'

/** How long a test file may go on after its last test. Milliseconds. */
const grace = 60_000

/**
 * Loaded before every test file by `npm test`: a file that something keeps alive after its last test, which `--test-timeout` does not count,
 * would keep the whole run waiting. It fails and says what was left open.
 */
if (process.env.NODE_TEST_CONTEXT !== undefined)
  after(() => {
    const late = () => {
      console.error(`Still open ${grace / 1000} s after the last test: ${process.getActiveResourcesInfo().join(', ')}`)
      process.exit(1)
    }
    setTimeout(late, grace).unref()
  })
