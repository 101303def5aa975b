import { spawnSync } from 'node:child_process'

/**
 * Prints the advisories for the locked packages of the current directory and the pins that a newer release has replaced. If the request
 * fails, prints its reason. An unknown result must not look like no advisories.
 */

interface Advisory {
  name: string
  title: string
  url: string
  severity: string
  range: string
}

interface Audit {
  /** `via` has advisories, and names of dependencies that have one. */
  vulnerabilities: Record<string, { via: (Advisory | string)[] }>
}

/** Packages by name. A package of another platform isn't installed, so it has no `current`. */
type Outdated = Record<string, { current?: string; latest: string }>

/** An error of npm, which has one of two forms. */
interface Failure {
  message?: string
  error?: { summary?: string }
}

/** Runs npm. Returns its JSON, or the reason of a failure. Ignores the exit code, which is 1 if npm has findings. */
function runNpm<T extends object>(...args: string[]): T | string {
  const { stdout, stderr, error } = spawnSync('npm', [...args, '--json'], { encoding: 'utf8' })
  if (error) return error.message
  try {
    const output: T & Failure = JSON.parse(stdout || '{}')
    return output.error?.summary || (typeof output.message === 'string' ? output.message : output)
  } catch {
    return stderr.trim().split('\n')[0] || 'npm printed no JSON'
  }
}

function describeAdvisories(): string[] {
  const audit = runNpm<Audit>('audit', '--omit=dev')
  if (typeof audit === 'string') return [`Unknown, because the request failed: ${audit}`]
  const lines = Object.values(audit.vulnerabilities)
    .flatMap(({ via }) => via.filter(advisory => typeof advisory !== 'string'))
    .map(({ name, range, severity, title, url }) => `${name} ${range}: ${severity}: ${title}: ${url}`)
  return lines.length ? [...new Set(lines)] : ['None.']
}

function describeOutdated(): string[] {
  const outdated = runNpm<Outdated>('outdated')
  if (typeof outdated === 'string') return [`Unknown, because the request failed: ${outdated}`]
  const lines = Object.entries(outdated)
    // The tag `latest` can name an older release than the pin.
    .filter(([, { current, latest }]) => current && compareVersions(latest, current) > 0)
    .map(([name, { current, latest }]) => `${name} ${current}: ${latest} is available`)
  return lines.length ? lines : ['None.']
}

/** Compares two versions (https://semver.org, section 11), as a sort function does. A pre-release is older than its release. */
function compareVersions(a: string, b: string): number {
  const [[coreA = '', preA], [coreB = '', preB]] = [a, b].map(version => version.split(/-(.*)/, 2)) as [
    string[],
    string[],
  ]
  const { compare } = new Intl.Collator('en', { numeric: true })
  return compare(coreA, coreB) || Number(!preA) - Number(!preB) || compare(preA ?? '', preB ?? '')
}

console.log(
  ['Advisories (npm audit):', ...describeAdvisories(), 'Outdated pins (npm outdated):', ...describeOutdated()].join(
    '\n',
  ),
)
