import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'

const list = fileURLToPath(new URL('../node_modules/.cache/tillbridge/failed-files.json', import.meta.url))

/** Returns the test files with failures in the last `npm test`, as paths below the checkout. */
export const readFailedFiles = (): string[] => JSON.parse(readFileSync(list, 'utf8'))

/** A reporter of Node's test runner. Stores the files with failures, and prints the command that runs only these files. */
export default async function* keepFailedFiles(events: AsyncIterable<TestEvent>) {
  const failed = new Set<string>()
  for await (const { type, data } of events) if (type === 'test:fail' && data.file) failed.add(relative('', data.file))
  mkdirSync(dirname(list), { recursive: true })
  writeFileSync(list, JSON.stringify([...failed].sort()))
  if (failed.size)
    yield `\nFailed in ${[...failed].sort().join(' ')}\nnpm run test:again runs these alone, one after the other.\n`
}
