import { globSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { renderEnvExample } from '../../src/config/config.ts'
import type { AppContext } from '../../src/http/app-context.ts'
import { renderImportFormats } from '../../src/import/formats/document.ts'
import { routes } from '../../src/resources/resources.ts'
import { buildServer } from '../../src/runtime/server.ts'
import { buildCatalogue } from '../texts/collect.ts'
import { buildCollection } from './collection.ts'
import { buildCommandsPage } from './commands.ts'
import {
  buildAlertsPage,
  buildEnvironmentPage,
  buildErrorsPage,
  buildLimitsPage,
  buildPermissionsPage,
  buildSettingsPage,
  buildWebhookEventsPage,
} from './reference.ts'
import { includeSamples } from './samples.ts'

const root = new URL('../../', import.meta.url)

/** Returns the current text of each generated document and of each page with samples, by path. */
export async function buildDocuments(): Promise<Record<string, string>> {
  const pages = globSync('docs/{start,shop}/*.md', { cwd: fileURLToPath(root) }).sort()
  const pagesWithSamples = await Promise.all(
    pages.map(async page => [page, includeSamples(await readFile(new URL(page, root), 'utf8'))]),
  )
  const openApiDocument = await buildOpenApiDocument()
  const { collection, environment } = buildCollection(openApiDocument)
  return {
    ...Object.fromEntries(pagesWithSamples),
    'openapi.json': openApiDocument,
    'examples/postman/tillbridge.postman_collection.json': collection,
    'examples/postman/demo.postman_environment.json': environment,
    'console/texts/en.json': `${JSON.stringify(buildCatalogue(), undefined, 2)}\n`,
    '.env.example': renderEnvExample(),
    'docs/reference/alerts.md': buildAlertsPage(),
    'docs/reference/cli.md': await buildCommandsPage(),
    'docs/reference/environment.md': buildEnvironmentPage(),
    'docs/reference/errors.md': buildErrorsPage(),
    ...renderImportFormats(),
    'docs/reference/limits.md': buildLimitsPage(openApiDocument),
    'docs/reference/permissions.md': buildPermissionsPage(),
    'docs/reference/service-settings.md': buildSettingsPage(),
    'docs/reference/webhook-events.md': buildWebhookEventsPage(openApiDocument),
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
export const buildBareServer = async () => {
  const { server } = await buildServer({
    appContext: {} as AppContext,
    definitions: routes,
    log: pino({ level: 'silent' }),
    certificate: { cert: '', key: '' },
    http2: false,
    trustedProxies: ['127.0.0.1'],
    publicUrl: () => 'https://localhost:8443',
    ready: () => false,
    clientMemoryBytes: Number.POSITIVE_INFINITY,
  })
  return server
}

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

if (import.meta.main) {
  const check = process.argv.includes('--check')
  const stale = await writeDocuments(check)
  for (const name of stale) console.log(check ? `${name} is stale. Run \`npm run docs\`.` : `${name} written.`)
  if (check && stale.length) process.exitCode = 1
}
