import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FileTimes } from '../test/support/run/times.ts'
import { runTests } from './run-tests.ts'

/**
 * Runs all tests as `npm test` does, or the named files. Then prints the seconds of each file, most CPU first. The wall
 * time is measured while three other files run. The shared PostgreSQL has its own line. Linux only.
 */
const fileArguments = process.argv.slice(2)
const directory = mkdtempSync(join(tmpdir(), 'tillbridge-times-'))
const timesFolder = join(directory, 'times')
const files = fileArguments.length ? fileArguments : ['test/**/*.test.ts']
process.exitCode = runTests(files, { concurrency: 4, environment: { TEST_TIMES: timesFolder } })
const lines: FileTimes[] = readFileSync(timesFolder, 'utf8')
  .trim()
  .split('\n')
  .map(line => JSON.parse(line))
rmSync(directory, { recursive: true })

const formatRow = (...cells: (string | number)[]) =>
  cells.map(cell => (typeof cell === 'number' ? cell.toFixed(1) : cell).padStart(10)).join('')
console.log(`\n${formatRow('seconds', 'CPU')}  file`)
for (const { file, seconds, cpu } of lines.toSorted((a, b) => b.cpu - a.cpu))
  console.log(`${formatRow(seconds, cpu)}  ${file}`)
const totalCpu = lines.reduce((sum, { cpu }) => sum + cpu, 0)
console.log(`${formatRow(performance.now() / 1_000, totalCpu)}  all`)
