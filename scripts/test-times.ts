import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { globalSetup, globalTeardown } from '../test/support/run/setup.ts'

/**
 * Runs test files one after the other, each by itself, and prints what each takes in seconds: by the clock, of CPU for its processes, of CPU
 * for the PostgreSQL that all share; the longest first. What is more by the clock than in CPU was waited. On Linux.
 */
const files = process.argv.slice(2)
if (!files.length) files.push(...globSync('test/**/*.test.ts').sort())

/** Seconds of CPU that a process has used (`own`), and those of its that have ended (`ended`). */
function cpuOf(pid: number | 'self') {
  const [, after = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?=[A-Z] )/)
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = after.split(' ').slice(11, 15).map(Number)
  return { own: (user + system) / 100, ended: (endedUser + endedSystem) / 100 }
}

const children = () =>
  readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0)

await globalSetup()
const postgres = children()
const used = () => sum(postgres.map(pid => sum(Object.values(cpuOf(pid)))))

const lines: { file: string; seconds: number; cpu: number; postgres: number; failed: boolean }[] = []
for (const file of files) {
  const [begun, cpu, shared] = [performance.now(), cpuOf('self').ended, used()]
  const { status } = spawnSync(process.execPath, ['--test', '--test-timeout=600000', file], { stdio: 'ignore' })
  const seconds = (performance.now() - begun) / 1_000
  lines.push({ file, seconds, cpu: cpuOf('self').ended - cpu, postgres: used() - shared, failed: status !== 0 })
  console.error(`${lines.length} of ${files.length}: ${file}`)
}
await globalTeardown()

const row = (cells: (string | number)[]) =>
  cells.map(cell => (typeof cell === 'number' ? cell.toFixed(1) : cell).padStart(12)).join('')
console.log(`${row(['seconds', 'CPU', 'PostgreSQL'])}  file`)
for (const { file, seconds, cpu, postgres, failed } of lines.toSorted((a, b) => b.seconds - a.seconds))
  console.log(`${row([seconds, cpu, postgres])}  ${file}${failed ? '  FAILED' : ''}`)
console.log(`${row((['seconds', 'cpu', 'postgres'] as const).map(what => sum(lines.map(line => line[what]))))}  all`)
