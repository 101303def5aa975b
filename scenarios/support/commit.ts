import { execFileSync } from 'node:child_process'

/** Returns the commit of this checkout, or `unknown`. */
export function readCommit() {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  } catch {
    return 'unknown'
  }
}
