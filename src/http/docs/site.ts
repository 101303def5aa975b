import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { memoize, ttlCache } from '../../concurrency/ttl-cache.ts'
import { pause } from '../../concurrency/turns.ts'
import { escapeHtml } from '../../domain/values/html.ts'
import { type CompressedFile, toCompressedFile } from './compressed-file.ts'
import { renderMarkdown, toAnchor, toText } from './markdown.ts'

// The documentation site: `docs/` as pages, Markdown and a search index. Pages are rendered on their first request and
// cached. `docs/index.md` is the table of contents: its lists under headings of level 2 are the sections of the site.

interface Page {
  /** Its address below `/docs/`. Empty for the start page. */
  path: string
  /** Its file, from the root of the repository. */
  file: string
  source: string
  title: string
  /** The first sentences, as text. */
  description: string
}

/** A section of the table of contents. */
interface Section {
  title: string
  pages: Page[]
}

const root = new URL('../../../', import.meta.url)
const read = (file: string) => readFileSync(new URL(file, root), 'utf8')

/** Returns the address of a document. Documents outside `docs/` are in the folder of their section. */
const toPath = (file: string) => outsidePaths[file] ?? file.replace(/^docs\/|\.md$/g, '')

const outsidePaths: Readonly<Record<string, string>> = {
  'docs/index.md': '',
  'CHANGELOG.md': 'changelog',
  'client/README.md': 'reference/sdk-typescript',
  'clients/python/README.md': 'reference/sdk-python',
  'clients/php/README.md': 'reference/sdk-php',
  'clients/csharp/README.md': 'reference/sdk-csharp',
}

function loadPage(file: string): Page {
  const source = read(file)
  const [, title = '', rest = ''] = /^# ([^\n]+)\n(.*)/ms.exec(source) ?? []
  const paragraph = rest.split('\n\n').find(block => /^\s*[A-Za-z`*]/.test(block)) ?? ''
  return { path: toPath(file), file, source, title: toText(title), description: toText(paragraph) }
}

interface Contents {
  sections: Section[]
  pages: Page[]
  byFile: ReadonlyMap<string, Page>
}

async function loadContents(): Promise<Contents> {
  const start = loadPage('docs/index.md')
  const [, ...parts] = start.source.split(/^## /m)
  const sections: Section[] = []
  for (const part of parts) {
    const section: Section = { title: part.slice(0, part.indexOf('\n')), pages: [] }
    for (const [, target = ''] of part.matchAll(/^- \[[^\]]*\]\(([^)]+\.md)\)/gm)) {
      await pause()
      section.pages.push(loadPage(posix.join('docs', target)))
    }
    sections.push(section)
  }
  const pages = [start, ...sections.flatMap(section => section.pages)]
  return { sections, pages, byFile: new Map(pages.map(page => [page.file, page])) }
}

// Read on the first request, because most processes never serve a document.
const getContents = memoize(loadContents)

const files = ttlCache({ load: buildSiteFile })

/** Returns a file of the site by its path below `/docs/`, or undefined if it does not exist. */
export async function findSiteFile(path: string): Promise<CompressedFile | undefined> {
  const file = await files.get(path)
  if (!file) files.delete(path)
  return file
}

const markdown = 'text/markdown; charset=utf-8'
/** The workflows for agents (Arazzo). They refer to `../openapi.json`. */
const workflows = 'workflows.arazzo.yaml'

async function buildSiteFile(path: string): Promise<CompressedFile | undefined> {
  const toFile = (type: string, text: string) => toCompressedFile(type, Buffer.from(text))
  if (path === 'search.json')
    return toFile('application/json; charset=utf-8', JSON.stringify(await listSearchEntries()))
  if (path === 'site.css')
    return toFile('text/css; charset=utf-8', `${read('console/styles/base.css')}${readAsset('site.css')}`)
  if (path === 'site.js') return toFile('text/javascript; charset=utf-8', readAsset('site.js'))
  if (path === 'minisearch.js')
    return toFile(
      'text/javascript; charset=utf-8',
      withoutSourceMap(readFileSync(new URL(import.meta.resolve('minisearch')), 'utf8')),
    )
  if (path === workflows) return toFile('application/yaml; charset=utf-8', read(`docs/${workflows}`))
  const contents = await getContents()
  const { pages } = contents
  const page = pages.find(candidate => candidate.path === path)
  if (page) return toFile('text/html; charset=utf-8', await renderPage(page, contents))
  const markdownPage = pages.find(candidate => `${candidate.path || 'index'}.md` === path)
  if (markdownPage) return toFile(markdown, markdownPage.source)
  const image = pages.some(candidate => candidate.source.includes(`${path})`)) && /^images\/[\w-]+\.png$/.test(path)
  return image ? toCompressedFile('image/png', readFileSync(new URL(`docs/${path}`, root))) : undefined
}

const readAsset = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')
const withoutSourceMap = (source: string) => source.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')

/** Returns the addresses of all pages below `/docs/`. */
export const listSitePages = async () => (await getContents()).pages.map(({ path }) => path)

/** Returns the relative address of the installation's root, so that pages work below any path of a proxy. */
const toRoot = ({ path }: Page) => (path === '' ? '' : '../'.repeat(path.split('/').length))

/** Returns the address of a link in a page. Throws if it leads to a file that isn't on the site. */
function resolveLink({ byFile }: Contents, page: Page, target: string) {
  if (/^([a-z]+:|#|\/)/.test(target)) return target.startsWith('/') ? `${toRoot(page)}${target.slice(1)}` : target
  const [path = '', anchor] = target.split('#')
  const file = posix.join(posix.dirname(page.file), path)
  const linkedPage = byFile.get(file)
  const fragment = anchor === undefined ? '' : `#${anchor}`
  if (linkedPage) return `${toRoot(page)}docs${linkedPage.path && `/${linkedPage.path}`}${fragment}`
  if (file.startsWith('docs/images/')) return `${toRoot(page)}${file}`
  throw new Error(`${page.file}: ${target} isn't on the site. List the page in docs/index.md.`)
}

async function renderPage(page: Page, contents: Contents) {
  const { sections, pages } = contents
  const home = toRoot(page)
  const { title, html, headings } = await renderMarkdown(splitAtHeadings(page.source), target =>
    resolveLink(contents, page, target),
  )
  const link = (to: Page, label = to.title) =>
    `<a href="${home}docs${to.path && `/${to.path}`}"${to === page ? ' aria-current="page"' : ''}>${escapeHtml(label)}</a>`
  const section = sections.find(candidate => candidate.pages.includes(page))
  const at = pages.indexOf(page)
  const [previous, next] = [pages[at - 1], pages[at + 1]]
  const source = `${home}docs/${page.path || 'index'}.md`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Tillbridge</title>
<meta name="description" content="${escapeHtml(page.description)}">
<link rel="icon" href="${home}docs/icon.svg" type="image/svg+xml">
<link rel="alternate" type="text/markdown" href="${source}">
<link rel="stylesheet" href="${home}docs/site.css">
<script type="module" src="${home}docs/site.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="${home}docs"><img src="${home}docs/icon.svg" alt="" width="26" height="26">Tillbridge docs</a>
<search hidden>
<label class="hidden" for="query">Search the documentation</label>
<input id="query" type="search" placeholder="Search (press /)" autocomplete="off" spellcheck="false">
<div id="results" hidden><p role="status"></p><ul></ul></div>
</search>
<a class="to-contents" href="#contents">Contents</a>
<a href="${home}docs/api">API reference</a>
<a href="${home}console">Console</a>
</header>
<main id="content" tabindex="-1">
<div class="trail">${section ? escapeHtml(section.title) : 'Documentation'}<span class="as-markdown"><button type="button" data-copy="${source}" hidden>Copy as Markdown</button> <a href="${source}">View as Markdown</a></span></div>
${html}
<footer>${previous ? `<span>Previous: ${link(previous)}</span>` : ''}${next ? `<span>Next: ${link(next)}</span>` : ''}</footer>
</main>
<nav id="contents" aria-label="Contents">
${sections.map(group => `<h2>${escapeHtml(group.title)}</h2>\n<ul>${group.pages.map(to => `<li>${link(to)}</li>`).join('')}</ul>`).join('\n')}
</nav>
${
  headings.length > 1
    ? `<nav id="sections" aria-label="On this page"><h2>On this page</h2>\n<ul>${headings.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`).join('')}</ul></nav>`
    : ''
}
</body>
</html>
`
}

/** Returns each section of each page: its address below `/docs/`, its heading and its text. */
async function listSearchEntries() {
  const { pages } = await getContents()
  const entries: { path: string; title: string; heading: string; text: string }[] = []
  for (const { path, title, source } of pages) {
    await pause()
    const anchors = new Map<string, number>()
    for (const part of splitAtHeadings(source)) {
      const line = part.slice(0, part.indexOf('\n'))
      const heading = toText(line.replace(/^#+ /, ''))
      const anchor = toAnchor(heading)
      const count = anchors.get(anchor) ?? 0
      anchors.set(anchor, count + 1)
      const isTitle = line.startsWith('# ')
      entries.push({
        path: isTitle ? path : `${path}#${count ? `${anchor}-${count}` : anchor}`,
        title,
        heading: isTitle ? '' : heading,
        text: toText(part.slice(line.length)),
      })
    }
  }
  return entries
}

/** Splits a page at its headings. A line in a code block that begins with `#` is no heading. */
function splitAtHeadings(source: string) {
  const parts: string[] = []
  let isCode = false
  for (const line of source.split('\n')) {
    if (/^ *```/.test(line)) isCode = !isCode
    if (!isCode && /^#{1,3} /.test(line)) parts.push(`${line}\n`)
    else parts.push(`${parts.pop() ?? ''}${line}\n`)
  }
  return parts
}

const agentInstructions = `## Instructions

- Every page is also Markdown: append \`.md\` to its address. All pages in one file: [llms-full.txt]({url}/llms-full.txt).
- The OpenAPI document is at {url}/openapi.json. It is large: request a tag with \`?tag=Orders\` (at most 8,000 tokens), or \`?view=shop\` or \`?view=admin\`.
- The steps of common tasks, such as an order that a voucher pays: {url}/docs/workflows.arazzo.yaml (Arazzo).
- Each request needs HTTPS, an account (\`Authorization: Basic\`) and the header \`X-Service-Name\`.
- Send an \`Idempotency-Key\` with each POST, and repeat the same request after a timeout, 503 or 504.
- Branch on \`code\` of an error. {url}/errors/<code> explains each code.
- Amounts are strings such as "39.95". Never use floating-point numbers.
- Try writes with \`Prefer: tx=rollback\`: a dry run changes nothing.
- Never put credentials into a web page or an app.
`

/** Returns `/llms.txt`: instructions and the table of contents for language models. */
export async function buildLlmsText(url: string): Promise<string> {
  const { pages, sections } = await getContents()
  const lists = sections.map(
    section =>
      `## ${section.title}\n\n${section.pages
        .map(
          ({ path, title, description }) => `- [${title}](${url}/docs/${path}.md)${description && `: ${description}`}`,
        )
        .join('\n')}\n`,
  )
  return ['# Tillbridge\n', `> ${pages[0]?.description}\n`, agentInstructions.replaceAll('{url}', url), ...lists].join(
    '\n',
  )
}

/** Returns `/llms-full.txt`: all pages in the order of the table of contents. */
export const buildFullLlmsText = async (url: string): Promise<string> =>
  (await getContents()).pages
    .map(({ path, source }) => `<!-- ${url}/docs/${path || 'index'}.md -->\n\n${source}`)
    .join('\n')
