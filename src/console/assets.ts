import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, extname, join, relative } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { memoize } from '../concurrency/ttl-cache.ts'
import { pause } from '../concurrency/turns.ts'
import { changeKinds } from '../domain/changes.ts'
import { assessImport, assessRun, assessSync, assessWebhook, formatDuration } from '../domain/health/health.ts'
import { issueCsvCells, issueCsvHeaders } from '../domain/mappings/issue-csv.ts'
import { platformImportTypes } from '../domain/mappings/mapping-check.ts'
import { Settings } from '../domain/tenancy/service-settings.ts'
import { errorCodes } from '../errors/api-error.ts'
import { type CompressedFile, toCompressedFile } from '../http/docs/compressed-file.ts'
import { getWeight } from '../http/negotiation/accept.ts'
import { escapeFormula, unescapeFormula } from '../import/formats/formulas.ts'
import { synonyms } from '../import/formats/synonyms.ts'
import { getColumns } from '../import/pipeline/columns.ts'
import type { ImportType } from '../import/pipeline/import-type.ts'
import { importTypes } from '../import/pipeline/import-types.ts'

const folder = fileURLToPath(new URL('../../console', import.meta.url))
const resolvePackage = (name: string) => fileURLToPath(import.meta.resolve(name))
const resolveInPackage = (name: string, file: string) => join(dirname(resolvePackage(name)), file)
const read = (path: string) => readFileSync(path, 'utf8')

/** Modules that are imported by name, with the paths that replace the names. Import maps would need inline scripts, which the policy forbids. */
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
  'tillbridge/health': 'packages/health.js',
  'tillbridge/operations': 'packages/operations.js',
}
type Package = keyof typeof packages

const remedies = Object.fromEntries(Object.entries(errorCodes).map(([code, { remedy }]) => [code, remedy]))

/** Removes the sentences of a description that are about requests, which don't help with a file. */
const withoutApiNotes = (description: string) =>
  description
    .split(/(?<=\.) /)
    .filter(sentence => !sentence.includes('`GET '))
    .join(' ')

/** Returns the import types with their columns, as `console/generated.d.ts` declares them. */
const listImportTypes = () =>
  Object.fromEntries(
    Object.entries(importTypes).map(([name, type]) => [
      name,
      {
        description: type.description,
        role: (type as ImportType).role ?? 'maintainer',
        canBeComplete: (type as ImportType).complete !== undefined,
        columns: getColumns(type).map(
          ({ name: column, required, shape: { type: jsonType, format, description, examples } }) => ({
            name: column,
            required,
            type: jsonType,
            format,
            description: withoutApiNotes(description),
            example: String(examples[0] ?? ''),
            aliases: (type as ImportType).columnAliases?.[column],
            role: (type as ImportType).adminColumns?.includes(column) ? 'admin' : undefined,
          }),
        ),
      },
    ]),
  )

/** Returns the summary of each write of the API by its operation: `{ 'PUT /customers/:id': 'Update a customer' }`. */
function listOperationTitles() {
  const { paths }: { paths: Record<string, Record<string, { summary?: string }>> } = JSON.parse(
    read(fileURLToPath(new URL('../../openapi.json', import.meta.url))),
  )
  return Object.fromEntries(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => ['post', 'put', 'patch', 'delete'].includes(method))
        .map(([method, { summary }]) => [`${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`, summary]),
    ),
  )
}

/** The source of each of these modules. The `tillbridge/…` modules are generated from our own tables and rules. */
const sources: Record<Package, () => string> = {
  preact: () => read(resolvePackage('preact')),
  'preact/hooks': () => read(resolvePackage('preact/hooks')),
  htm: () => read(resolveInPackage('htm', 'htm.module.js')),
  uplot: () => read(resolveInPackage('uplot', 'uPlot.esm.js')),
  'tillbridge/remedies': () => `export const remedies = ${JSON.stringify(remedies)}\n`,
  'tillbridge/settings': () => `export const settings = ${JSON.stringify(Settings.properties)}\n`,
  'tillbridge/changes': () => `export const kinds = ${JSON.stringify(changeKinds)}\n`,
  'tillbridge/health': () =>
    `import { t } from '../lib/text.js'\n${[formatDuration, assessRun, assessImport, assessSync, assessWebhook].map(source => `export ${source}\n`).join('')}`,
  'tillbridge/operations': () => `export const operationTitles = ${JSON.stringify(listOperationTitles())}\n`,
  'tillbridge/import-types': () =>
    `export const importTypes = ${JSON.stringify(listImportTypes())}\nexport const synonyms = ${JSON.stringify(synonyms)}\n`,
  'tillbridge/mappings': () =>
    `export const platformImportTypes = ${JSON.stringify(platformImportTypes)}\nexport const issueCsvHeaders = ${JSON.stringify(issueCsvHeaders)}\nexport ${issueCsvCells}\n`,
  'tillbridge/formulas': () =>
    `export const escapeFormula = ${escapeFormula}\nexport const unescapeFormula = ${unescapeFormula}\n`,
}

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The style sheets, in the order of the cascade. */
const styles = ['base', 'frame', 'components', 'forms', 'pages', 'narrow']

/** Modules that aren't preloaded, because only some screens need them. */
const lazyModules =
  /^(pages\/|components\/(chart|bars|request-chart|data-table|leave-guard)|packages\/(uplot|settings|import-types|changes|mappings|operations))/

interface Site {
  assets: ReadonlyMap<string, CompressedFile>
  /** The HTML page in each language. */
  pages: ReadonlyMap<string, string>
}
// Built on the first request, because most processes never serve the console.
const getSite = memoize(buildSite)

/** Returns a file by its path below `/console/`, which begins with the digest of all files, or undefined if it does not exist. */
export const findAsset = async (path: string): Promise<CompressedFile | undefined> => (await getSite()).assets.get(path)

/**
 * Returns the HTML page in the language that the browser prefers among those with a catalogue.
 * @param providerName the identity provider on the sign-in button, if there is one
 */
export async function getPage(providerName: string | undefined, acceptLanguage: string | undefined): Promise<string> {
  const { pages } = await getSite()
  const page = pages.get(chooseLanguage(acceptLanguage, [...pages.keys()])) ?? ''
  return providerName === undefined
    ? page
    : page.replace('<div id="console"', () => `<div id="console" data-provider="${escapeHtml(providerName)}"`)
}

const escapeHtml = (text: string) => text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)

/** Returns the language with the highest weight in an Accept-Language header (RFC 9110, section 12.5.4), otherwise English. */
export function chooseLanguage(acceptLanguage = '', languages: readonly string[]): string {
  const tags = acceptLanguage.split(',').map(range => (range.split(';')[0] ?? '').trim().toLowerCase())
  const weigh = (language: string) =>
    Math.max(0, ...tags.filter(tag => tag.split('-')[0] === language).map(tag => getWeight([tag], acceptLanguage)))
  const [preferred = english] = languages.filter(weigh).sort((a, b) => weigh(b) - weigh(a))
  return preferred
}

const english = 'en'

/** Reads the catalogues of the other languages. The English one is the template for translators: English texts are their own keys. */
const readCatalogues = (): [language: string, json: string][] =>
  globSync('texts/*.json', { cwd: folder })
    .sort()
    .map((path): [string, string] => [basename(path, '.json'), read(join(folder, path))])
    .filter(([language]) => language !== english)

async function buildSite(): Promise<Site> {
  const texts = new Map<string, string>()
  for (const path of globSync('**/*.{js,css,svg}', { cwd: folder }).sort()) {
    await pause()
    texts.set(path, read(join(folder, path)))
  }
  for (const [name, path] of Object.entries(packages)) {
    await pause()
    texts.set(path, sources[name as Package]())
  }
  texts.set('packages/uplot.css', read(resolveInPackage('uplot', 'uPlot.min.css')))
  const preloaded = [...texts.keys()].filter(path => path.endsWith('.js') && !lazyModules.test(path))
  const catalogues = readCatalogues()
  for (const [language, json] of catalogues) texts.set(`texts/${language}.js`, `export const texts = ${json}`)

  const hash = createHash('sha256')
  for (const [path, text] of texts) hash.update(`${path}\0${text}\0`)
  const digest = hash.digest('base64url').slice(0, 16)

  const assets = new Map<string, CompressedFile>()
  for (const [path, text] of texts) {
    await pause()
    const bytes = Buffer.from(path.endsWith('.js') ? resolveImports(path, text) : text)
    assets.set(`${digest}/${path}`, toCompressedFile(types[extname(path)] ?? 'application/octet-stream', bytes))
  }
  const root = `console/${digest}`
  const pages = new Map([[english, renderPage(english, root, preloaded, {})]])
  for (const [language, json] of catalogues)
    pages.set(language, renderPage(language, root, [`texts/${language}.js`, ...preloaded], JSON.parse(json)))
  return { assets, pages }
}

/** Replaces the package names in the imports of a module with relative paths. */
const resolveImports = (path: string, text: string) =>
  text
    .replace(/(\bfrom\s*|\bimport\s*)(["'])([\w./-]+)\2/g, (match, keyword: string, quote: string, name: string) => {
      if (!Object.hasOwn(packages, name)) return match
      const target = relative(dirname(path), packages[name as Package])
      return `${keyword}${quote}${target.startsWith('.') ? target : `./${target}`}${quote}`
    })
    .replace(/\n\/\/# sourceMappingURL=\S*\s*$/, '\n')

/** Renders the page. It preloads the modules, so that the browser requests all of them at once instead of following their imports one by one. */
function renderPage(language: string, root: string, modules: readonly string[], catalogue: Record<string, string>) {
  const t = (text: string) => catalogue[text] ?? text
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${t('Tillbridge console')}</title>
<link rel="icon" href="docs/icon.svg" type="image/svg+xml">
${styles.map(name => `<link rel="stylesheet" href="${root}/styles/${name}.css">`).join('\n')}
${modules.map(path => `<link rel="modulepreload" href="${root}/${path}">`).join('\n')}
</head>
<body>
<div id="console"><p class="opening">${t('Opening the console…')}</p></div>
<noscript>${t('The console needs JavaScript. The <link>API</link> has the same data.').replace(/<(\/?)link>/g, (_, end: string) => (end ? '</a>' : '<a href="docs">'))}</noscript>
<script type="module" src="${root}/main.js"></script>
</body>
</html>
`
}
