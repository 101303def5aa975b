import { spawnSync } from 'node:child_process'

interface RunOptions {
  concurrency: number
  environment?: Record<string, string>
}

/** Runs test files as `npm test` does; returns the exit code. */
export function runTests(files: readonly string[], { concurrency, environment = {} }: RunOptions): number {
  const support = ['--import=./test/support/run/ends.ts', '--test-global-setup=test/support/run/setup.ts']
  const options = [...support, '--test-timeout=300000', `--test-concurrency=${concurrency}`]
  const env = { ...process.env, ...environment }
  return spawnSync(process.execPath, ['--test', ...options, ...files], { stdio: 'inherit', env }).status ?? 1
}
