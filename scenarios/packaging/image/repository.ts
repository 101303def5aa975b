import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from './run-program.ts'

/** The package that the Dockerfile installs. */
const installedPackage = 'postgresql-client'

/**
 * Adds an apt repository to a root directory, so that apt installs there without a network. It contains the package that the Dockerfile installs
 * and its dependencies, unless `var/lib/dpkg/status` of the root lists them. Downloads packages that this machine doesn't have.
 */
export function writeRepository(root: string) {
  const directory = join(root, 'srv/packages')
  mkdirSync(join(directory, 'partial'), { recursive: true })
  const options = [
    `Dir::State::status=${join(root, 'var/lib/dpkg/status')}`,
    `Dir::Cache::archives=${directory}/`,
    'Debug::NoLocking=true',
    'APT::Sandbox::User=root',
  ].flatMap(option => ['-o', option])
  const download = () =>
    runProgram('apt-get', ...options, 'install', '--download-only', '--no-install-recommends', '-y', installedPackage)
  try {
    download()
  } catch {
    runProgram('apt-get', 'update')
    download()
  }
  const index = readdirSync(directory)
    .filter(file => file.endsWith('.deb'))
    .map(file => {
      const content = readFileSync(join(directory, file))
      const sha256 = createHash('sha256').update(content).digest('hex')
      const fields = runProgram('dpkg-deb', '--field', join(directory, file)).trim()
      return `${fields}\nFilename: ./${file}\nSize: ${content.length}\nSHA256: ${sha256}\n`
    })
  writeFileSync(join(directory, 'Packages'), index.join('\n'))
  mkdirSync(join(root, 'etc/apt'), { recursive: true })
  writeFileSync(join(root, 'etc/apt/sources.list'), 'deb [trusted=yes] file:/srv/packages ./\n')
}
