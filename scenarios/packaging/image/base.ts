import { spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { writeRepository } from './repository.ts'
import { runProgram } from './run-program.ts'

/** Source of the base image: Debian's archive, or the packages of this machine's Debian. */
export type BaseSource = 'archive' | 'here'

/** Creates an archive of a small Debian root, like the base image of the Dockerfile. Returns its path. */
export function createBase(home: string, from: BaseSource): string {
  const archive = join(home, 'base.tar')
  if (from === 'archive') {
    const root = join(home, 'root')
    runProgram('debootstrap', '--variant=minbase', 'bookworm', root)
    runProgram('tar', '-C', root, '-cf', archive, '.')
    return archive
  }
  const names = listBasePackages()
  const list = join(home, 'files')
  writeFileSync(list, [...listFiles(names)].map(path => `.${path}\n`).join(''))
  runProgram('tar', '-C', '/', '--no-recursion', '--verbatim-files-from', '-cf', archive, '-T', list)
  const added = join(home, 'added')
  mkdirSync(join(added, 'var/lib/dpkg'), { recursive: true })
  writeFileSync(join(added, 'var/lib/dpkg/status'), runProgram('dpkg-query', '--status', ...names))
  writeRepository(added)
  // Without directories, because podman rejects an archive with two entries for one path.
  const files = readdirSync(added, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  const paths = files.map(({ parentPath, name }) => `./${relative(added, join(parentPath, name))}`)
  runProgram('tar', '-C', added, '--owner=0', '--group=0', '-rf', archive, ...paths)
  return archive
}

/** Returns the names of the packages in a Debian image: the essential ones, apt, passwd and their dependencies. */
function listBasePackages(): ReadonlySet<string> {
  const packages = new Map<string, string[]>()
  const providers = new Map<string, string>()
  const roots: string[] = []
  const packageList = runProgram(
    'dpkg-query',
    '-W',
    '-f',
    `${['Package', 'Essential', 'Provides', 'Pre-Depends', 'Depends'].map(field => `\${${field}}`).join('\\t')}\\n`,
  )
  for (const line of packageList.split('\n')) {
    const [name = '', essential, provides = '', preDepends, depends] = line.split('\t')
    packages.set(name, listNames(`${preDepends}, ${depends}`))
    for (const provided of listNames(provides)) providers.set(provided, name)
    if (essential === 'yes') roots.push(name)
  }
  const names = new Set<string>()
  for (const next = [...roots, 'apt', 'passwd']; next.length; ) {
    const required = next.pop() ?? ''
    const name = packages.has(required) ? required : providers.get(required)
    if (name === undefined || names.has(name)) continue
    names.add(name)
    next.push(...(packages.get(name) ?? []))
  }
  return names
}

/** Returns the names of packages in a field of relations, such as `libc6 (>= 2.36), debconf | debconf-2.0`. */
const listNames = (relations: string) => relations.match(/(?<=^|[,|] *)[a-z0-9][a-z0-9.+-]+/g) ?? []

/** Returns the paths of the packages' files, and of dpkg's records about the packages. */
function listFiles(names: ReadonlySet<string>): ReadonlySet<string> {
  const { stdout } = spawnSync('dpkg', ['-L', ...names], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  const info = '/var/lib/dpkg/info'
  const storedFiles = readdirSync(info).filter(file => names.has(file.replace(/(:\w+)?\.\w+$/, '')))
  const files = new Set([
    ...storedFiles.map(file => join(info, file)),
    '/bin',
    '/lib',
    '/lib64',
    '/sbin',
    '/opt',
    '/etc/passwd',
    '/etc/group',
    '/etc/shadow',
  ])
  for (const path of stdout.split('\n')) {
    if (!path.startsWith('/') || /^\/usr\/share\/(doc|man|info|locale|lintian)\//.test(path)) continue
    // /bin is a link to /usr/bin, but some packages still list their files under /bin.
    const resolvedPath = path.replace(/^\/(bin|lib|lib64|sbin)\//, '/usr/$1/')
    if (lstatSync(resolvedPath, { throwIfNoEntry: false })) files.add(resolvedPath)
  }
  files.delete('/.')
  return files
}
