import { spawnSync } from 'node:child_process'
import { lstatSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ran } from './ran.ts'

/** Source of the base image: Debian's archive, or the packages of this machine's Debian. */
export type From = 'archive' | 'here'

/** Creates an archive of a small Debian root, like the base image of the Dockerfile. Returns its path. */
export function makeBase(home: string, from: From): string {
  const archive = join(home, 'base.tar')
  if (from === 'archive') {
    const root = join(home, 'root')
    ran('debootstrap', '--variant=minbase', 'bookworm', root)
    ran('tar', '-C', root, '-cf', archive, '.')
    return archive
  }
  const list = join(home, 'files')
  writeFileSync(list, [...filesHere()].map(path => `.${path}\n`).join(''))
  ran('tar', '-C', '/', '--no-recursion', '--verbatim-files-from', '-cf', archive, '-T', list)
  return archive
}

/** Returns the files of Debian's essential packages, and of apt and passwd, which every Debian image has. */
function filesHere() {
  const packages = new Map<string, string[]>()
  const all: string[] = []
  const reported = ran(
    'dpkg-query',
    '-W',
    '-f',
    `${['Package', 'Essential', 'Pre-Depends', 'Depends'].map(field => `\${${field}}`).join('\\t')}\\n`,
  )
  for (const line of reported.split('\n')) {
    const [name = '', essential, before, depends] = line.split('\t')
    packages.set(name, `${before}, ${depends}`.match(/(?<=^|[,|] *)[a-z0-9][a-z0-9.+-]+/g) ?? [])
    if (essential === 'yes') all.push(name)
  }
  const names = new Set<string>()
  for (const next = [...all, 'apt', 'passwd']; next.length; ) {
    const name = next.pop() ?? ''
    if (names.has(name) || !packages.has(name)) continue
    names.add(name)
    next.push(...(packages.get(name) ?? []))
  }
  const { stdout } = spawnSync('dpkg', ['-L', ...names], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  const files = new Set(['/bin', '/lib', '/lib64', '/sbin', '/opt', '/etc/passwd', '/etc/group', '/etc/shadow'])
  for (const path of stdout.split('\n')) {
    if (!path.startsWith('/') || /^\/usr\/share\/(doc|man|info|locale|lintian)\//.test(path)) continue
    // Since /bin is /usr/bin, a package may still say the former.
    const real = path.replace(/^\/(bin|lib|lib64|sbin)\//, '/usr/$1/')
    if (lstatSync(real, { throwIfNoEntry: false })) files.add(real)
  }
  files.delete('/.')
  return files
}
