import { spawn } from 'node:child_process'
import { once } from 'node:events'
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
  installed(packages, programsOfNpm, home => [
    ['npm', 'install', '--silent', '--no-audit', '--no-fund', '--prefix', home, '--ignore-scripts', ...packages],
  ])

/** TypeScript 5 comes with it: its programs are called as those of the TypeScript that we have, so it is no dependency. */
export const openApiTypeScript = ['openapi-typescript@7.13.0', 'typescript@5.9.3']

/** The folder with the programs of packages of npm that were installed here; undefined where none were. */
export function foundOfNpm(...packages: string[]) {
  const home = homeOf(packages)
  return existsSync(join(home, whole)) ? join(home, programsOfNpm) : undefined
}

const programsOfNpm = 'node_modules/.bin'
/** Marks a folder whose installation is complete. */
const whole = 'installed'
const homeOf = (packages: string[]) => join(cache, packages.join('-').replace(/[^\w.-]+/g, '-'))

/** Made at the first run, and kept. */
async function installed(packages: string[], programs: string, stepsInto: (home: string) => string[][]) {
  const home = homeOf(packages)
  if (existsSync(join(home, whole))) return join(home, programs)
  console.log(`Installing ${packages.join(', ')} …`)
  rmSync(home, { recursive: true, force: true })
  for (const [command = '', ...args] of stepsInto(home)) {
    if (await succeeds(command, args)) continue
    rmSync(home, { recursive: true, force: true })
    console.error(`${packages.join(', ')} cannot be installed: \`${[command, ...args].join(' ')}\` failed.`)
    return
  }
  writeFileSync(join(home, whole), '')
  return join(home, programs)
}

/** False, too, where there is no such command. */
const succeeds = (command: string, args: string[]) =>
  once(spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'close').then(
    ([code]) => code === 0,
    () => false,
  )
