import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cache = fileURLToPath(new URL('../node_modules/.cache', import.meta.url))

/** The folder with the programs of Python packages, `name==version`, in an environment of their own; undefined, and said, where they cannot be had. */
export const installedByPip = (...packages: string[]) =>
  installed(packages, 'bin', home => [
    ['python3', '-m', 'venv', home],
    [join(home, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', ...packages],
  ])

/** The same of packages of npm, `name@version`: too big for what everybody installs. */
export const installedByNpm = (...packages: string[]) =>
  installed(packages, 'node_modules/.bin', home => [
    ['npm', 'install', '--silent', '--prefix', home, '--ignore-scripts', ...packages],
  ])

/** Made at the first run, and kept. */
function installed(packages: string[], programs: string, stepsInto: (home: string) => string[][]) {
  const home = join(cache, packages.join('-').replace(/[^\w.-]+/g, '-'))
  const whole = join(home, 'installed')
  if (existsSync(whole)) return join(home, programs)
  console.log(`Installing ${packages.join(', ')} …`)
  rmSync(home, { recursive: true, force: true })
  for (const [command = '', ...args] of stepsInto(home)) {
    const { status } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] })
    if (status === 0) continue
    rmSync(home, { recursive: true, force: true })
    console.error(`${packages.join(', ')} cannot be installed: \`${[command, ...args].join(' ')}\` failed.`)
    return
  }
  writeFileSync(whole, '')
  return join(home, programs)
}
