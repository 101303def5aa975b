import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { dirname, extname, join, relative } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { kinds as told } from '../domain/changes.ts'
import { issueCsvCells, issueCsvHeaders } from '../domain/mappings/issue-csv.ts'
import { platformImportTypes } from '../domain/mappings/mapping-check.ts'
import { Settings } from '../domain/tenancy/service-settings.ts'
import { errorCodes } from '../errors/api-error.ts'
import { asItWas, withoutFormula } from '../import/formats/formulas.ts'
import { columnsOf } from '../import/pipeline/columns.ts'
import type { ImportType } from '../import/pipeline/import-type.ts'
import { importTypes } from '../import/pipeline/import-types.ts'

/** A file that the console's page is made of. */
export interface Asset {
  type: string
  bytes: Buffer
  gzipped: Buffer
}

const folder = fileURLToPath(new URL('../../console', import.meta.url))
const installed = (name: string) => fileURLToPath(import.meta.resolve(name))
const beside = (name: string, file: string) => join(dirname(installed(name)), file)
const read = (path: string) => readFileSync(path, 'utf8')

/** What the modules import by name, and where it is served. Browsers know names by import maps alone, which would be inline scripts. */
const packages = {
  preact: 'packages/preact.js',
  'preact/hooks': 'packages/hooks.js',
  htm: 'packages/htm.js',
  uplot: 'packages/uplot.js',
  'tillbridge/remedies': 'packages/remedies.js',
  'tillbridge/settings': 'packages/settings.js',
  'tillbridge/import-types': 'packages/import-types.js',
  'tillbridge/formulas': 'packages/formulas.js',
  'tillbridge/mappings': 'packages/mappings.js',
  'tillbridge/changes': 'packages/changes.js',
}
type Package = keyof typeof packages

const remedies = Object.fromEntries(Object.entries(errorCodes).map(([code, { remedy }]) => [code, remedy]))

/** The kinds of rows with their columns. */
const importable = () =>
  Object.fromEntries(
    Object.entries(importTypes).map(([name, kind]) => [
      name,
      {
        description: kind.description,
        role: (kind as ImportType).role ?? 'maintainer',
        columns: columnsOf(kind).map(({ name, required, shape: { type, format, description, examples } }) => ({
          name,
          required,
          type,
          format,
          description,
          example: String(examples[0] ?? ''),
          titles: (kind as ImportType).titles?.[name],
          role: (kind as ImportType).ofAdmins?.includes(name) ? 'admin' : undefined,
        })),
      },
    ]),
  )

/** What each of them says. Some are not where Node would look, the others are made of our own tables and rules. */
const says: Record<Package, () => string> = {
  preact: () => read(installed('preact')),
  'preact/hooks': () => read(installed('preact/hooks')),
  htm: () => read(beside('htm', 'htm.module.js')),
  uplot: () => read(beside('uplot', 'uPlot.esm.js')),
  'tillbridge/remedies': () => `export const remedies = ${JSON.stringify(remedies)}\n`,
  'tillbridge/settings': () => `export const settings = ${JSON.stringify(Settings.properties)}\n`,
  'tillbridge/changes': () => `export const kinds = ${JSON.stringify(told)}\n`,
  'tillbridge/import-types': () => `export const importTypes = ${JSON.stringify(importable())}\n`,
  'tillbridge/mappings': () =>
    `export const platformImportTypes = ${JSON.stringify(platformImportTypes)}\nexport const issueCsvHeaders = ${JSON.stringify(issueCsvHeaders)}\nexport ${issueCsvCells}\n`,
  'tillbridge/formulas': () => `export const withoutFormula = ${withoutFormula}\nexport const asItWas = ${asItWas}\n`,
}

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The later ones refine the earlier ones. */
const styles = ['base', 'frame', 'components', 'forms', 'pages', 'narrow']

/** Loaded only by the screens that need them. */
const later = /^(pages\/|components\/chart|packages\/(uplot|settings|kinds|changes|mappings))/

interface Made {
  assets: ReadonlyMap<string, Asset>
  page: string
}
let made: Made | undefined
// When the first reader comes: most processes never need it.
const make = () => {
  made ??= makeAll()
  return made
}

/** The files by what follows `/console/`: the digest of all, and the path. */
export const assets = () => make().assets
/** The page. */
export const page = () => make().page

function makeAll(): Made {
  const texts = new Map<string, string>()
  for (const path of globSync('**/*.{js,css,svg}', { cwd: folder }).sort()) texts.set(path, read(join(folder, path)))
  for (const [name, path] of Object.entries(packages)) texts.set(path, says[name as Package]())
  texts.set('packages/uplot.css', read(beside('uplot', 'uPlot.min.css')))

  const hash = createHash('sha256')
  for (const [path, text] of texts) hash.update(`${path}\0${text}\0`)
  const digest = hash.digest('base64url').slice(0, 16)

  const assets = new Map<string, Asset>()
  for (const [path, text] of texts) {
    const bytes = Buffer.from(path.endsWith('.js') ? servedAs(path, text) : text)
    assets.set(`${digest}/${path}`, {
      type: types[extname(path)] ?? 'application/octet-stream',
      bytes,
      gzipped: gzipSync(bytes, { level: 9 }),
    })
  }
  const first = [...texts.keys()].filter(path => path.endsWith('.js') && !later.test(path))
  return { assets, page: pageOf(`console/${digest}`, first) }
}

/** A module with the packages that it names where they are served. */
const servedAs = (path: string, text: string) =>
  text
    .replace(/(\bfrom\s*|\bimport\s*)(["'])([\w./-]+)\2/g, (all, before: string, quote: string, name: string) => {
      if (!Object.hasOwn(packages, name)) return all
      const target = relative(dirname(path), packages[name as Package])
      return `${before}${quote}${target.startsWith('.') ? target : `./${target}`}${quote}`
    })
    .replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')

// The modules are named here, so that all of them are on their way at once, and not one after the other as they import each other.
const pageOf = (root: string, modules: readonly string[]) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Tillbridge console</title>
<link rel="icon" href="docs/icon.svg" type="image/svg+xml">
${styles.map(name => `<link rel="stylesheet" href="${root}/styles/${name}.css">`).join('\n')}
${modules.map(path => `<link rel="modulepreload" href="${root}/${path}">`).join('\n')}
</head>
<body>
<div id="console"><p class="opening">Opening the console…</p></div>
<noscript>The console needs JavaScript. All that it shows is in the API too: <a href="docs">the reference</a>.</noscript>
<script type="module" src="${root}/main.js"></script>
</body>
</html>
`
