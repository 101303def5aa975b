import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { killAtExit } from './kill-at-exit.ts'

/** Packages of the npm registry with exact versions, such as `{ directus: '12.4.0' }`. */
export type Packages = Record<string, string>

/** The text of a package.json that depends on `packages`. */
export const toManifest = (packages: Packages) => JSON.stringify({ private: true, dependencies: packages })

/**
 * Installs packages into the cache of this user, once for each `name`, and returns their directory. `build` runs programs in it before the
 * installation counts as complete; without it, packages can't run programs. `say` receives the progress.
 */
export async function installPackages(
  name: string,
  packages: Packages,
  say: (line: string) => void,
  build: (directory: string, log: string) => Promise<void> = async () => {},
): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tillbridge')
  const directory = join(cache, name)
  if (existsSync(directory)) return directory
  mkdirSync(cache, { recursive: true })
  const draft = mkdtempSync(join(cache, 'new-'))
  const log = join(draft, 'install.log')
  writeFileSync(join(draft, 'package.json'), toManifest(packages))
  say(`Installing ${name} into ${directory}`)
  await runProgram('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], draft, process.env, log)
  await build(draft, log)
  renameSync(draft, directory)
  return directory
}

/** Runs a program to its end and appends its output to `log`. Throws with the path of the log if it fails. */
export async function runProgram(
  program: string,
  args: string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  log: string,
): Promise<void> {
  const child = killAtExit(spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }))
  const output = createWriteStream(log, { flags: 'a' })
  child.stdout.pipe(output, { end: false })
  child.stderr.pipe(output, { end: false })
  const [code] = await once(child, 'close')
  await finished(output.end())
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} failed with ${code}: see ${log}`)
}
