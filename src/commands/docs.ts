import { readFile, writeFile } from 'node:fs/promises'
import { pino } from 'pino'
import { envExample } from '../config/config.ts'
import { errorCodes } from '../errors/api-error.ts'
import type { AppContext } from '../http/app-context.ts'
import { importTypesDocument } from '../import/formats/document.ts'
import { buildServer } from '../runtime/server.ts'

const root = new URL('../../', import.meta.url)

/** Returns the current text of each generated document, by path. */
export async function buildDocuments(): Promise<Record<string, string>> {
  return {
    'openapi.json': await buildOpenApiDocument(),
    '.env.example': envExample(),
    'docs/reference/errors.md': buildErrorsPage(),
    'docs/reference/import-formats.md': importTypesDocument(),
  }
}

/** Writes the documents that are stale, or only checks them. Returns their paths. */
async function writeDocuments(check: boolean): Promise<string[]> {
  const stale: string[] = []
  for (const [name, text] of Object.entries(await buildDocuments())) {
    const file = new URL(name, root)
    const current = await readFile(file, 'utf8').catch(() => undefined)
    if (current === text) continue
    stale.push(name)
    if (!check) await writeFile(file, text)
  }
  return stale
}

/** Returns a server with all routes that never listens and has no database. */
export const buildBareServer = () =>
  buildServer({
    appContext: {} as AppContext,
    log: pino({ level: 'silent' }),
    certificate: { cert: '', key: '' },
    http2: false,
    trustedProxies: ['127.0.0.1'],
    publicUrl: () => 'https://localhost:8443',
    ready: () => false,
  })

/** Returns the response of `GET /openapi.json`. */
async function buildOpenApiDocument() {
  const server = await buildBareServer()
  try {
    const response = await server.inject({ url: '/openapi.json', headers: { 'x-forwarded-proto': 'https' } })
    return `${JSON.stringify(response.json(), undefined, 2)}\n`
  } finally {
    await server.close()
  }
}

/** Returns the page of the error catalogue. */
function buildErrorsPage() {
  const rows = Object.entries(errorCodes)
    .map(([code, definition]) => ({ code, ...definition }))
    .sort((a, b) => a.status - b.status)
    .map(({ code, status, title, remedy }) => `| ${status} | \`${code}\` | ${title} | ${remedy} |\n`)
  return `# Errors

Every error is \`application/problem+json\` (RFC 9457); programs branch on \`code\`. \`type\` is the address of a page that says what
stands here: \`GET /errors/<code>\`. This page is made from \`src/errors/error-codes.ts\` by \`npm run docs\`.

| Status | Code | What it means | What to do |
|---|---|---|---|
${rows.join('')}`
}

if (import.meta.main) {
  const check = process.argv.includes('--check')
  const stale = await writeDocuments(check)
  for (const name of stale) console.log(check ? `${name} is stale. Run \`npm run docs\`.` : `${name} written.`)
  if (check && stale.length) process.exitCode = 1
}
