import { findImports, readSources } from '../test/support/imports.ts'

/** Prints the test files that start neither a database nor a server. All of them take a minute. */
const files = new Map(
  readSources('src', 'seed', 'simulator', 'scripts', 'scenarios', 'bench', 'test').map(file => [file.path, file]),
)
const serverStarters = /^test\/support\/(database|cluster|service|processes|servers|installations\/shop-processes)\.ts$/

/** True if a file imports one of the starters, directly or indirectly. */
function startsServer(path: string, seen = new Set<string>()): boolean {
  if (serverStarters.test(path)) return true
  if (seen.has(path)) return false
  seen.add(path)
  const file = files.get(path)
  return file !== undefined && findImports(file).some(next => startsServer(next, seen))
}

process.stdout.write([...files.keys()].filter(path => path.endsWith('.test.ts') && !startsServer(path)).join(' '))
