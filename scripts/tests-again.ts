import { failedFiles } from './failed-files.ts'
import { runTests } from './run-tests.ts'

/**
 * Repeats the test files that failed in the last `npm test`, one after the other, and names those that pass now. Such
 * files depend on more than a busy machine provides, which is a defect (contributing/testing.md). Fails if one fails
 * again, or if too many failed for chance.
 */
const most = 10
const files = failedFiles()
if (files.length === 0) {
  console.error(
    'No test file failed when npm test last ran; if it ended with an error all the same, its own words say why.',
  )
  process.exitCode = 1
} else if (files.length > most) {
  console.error(`${files.length} files failed; up to ${most} are run again. Mend what they have in common first.`)
  process.exitCode = 1
} else {
  console.log(`Once more, alone: ${files.join(' ')}`)
  const status = runTests(files, { concurrency: 1 })
  if (status === 0) console.log(`UNSTEADY: failed beside others, passed alone: ${files.join(' ')}`)
  process.exitCode = status
}
