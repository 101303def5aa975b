import { readFailedFiles } from './failed-files.ts'
import { runTests } from './run-tests.ts'

/**
 * Repeats the test files that failed in the last `npm test`, one after the other, and names those that pass now. Such
 * files depend on more than a busy machine provides, which is a defect (contributing/testing.md). Fails if one fails
 * again, or if too many failed for chance.
 */
const maxFiles = 10
const files = readFailedFiles()
if (files.length === 0) {
  console.error(
    'No test file failed in the last run of npm test. If it ended with an error, its output has the reason.',
  )
  process.exitCode = 1
} else if (files.length > maxFiles) {
  console.error(`${files.length} files failed; at most ${maxFiles} are run again. Fix their common cause first.`)
  process.exitCode = 1
} else {
  console.log(`Running again, one at a time: ${files.join(' ')}`)
  const status = runTests(files, { concurrency: 1 })
  if (status === 0) console.log(`UNSTEADY: failed in parallel, passed alone: ${files.join(' ')}`)
  process.exitCode = status
}
