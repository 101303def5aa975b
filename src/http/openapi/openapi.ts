import manifest from '../../../package.json' with { type: 'json' }
import { Reference } from '../../domain/catalog/references.ts'
import { EmptyBody } from '../body/body.ts'
import { ListMeta, Warning } from '../pagination/lists.ts'
import { Problem } from '../problem.ts'
import { type Operation, tagDescriptions } from '../routing/operation.ts'
import { createDocumentWriter } from './document-writer.ts'
import { headerParameters, responseHeaders, sharedResponseHeaders } from './headers.ts'
import { writeOperation } from './operations.ts'
import { writePage } from './page-operations.ts'
import { pages, pagesTag } from './pages.ts'
import { extendSchemas, shareParameters, shareResponses } from './shared-components.ts'
import { buildIntroduction } from './texts.ts'
import { writeWebhooks } from './webhooks.ts'

/**
 * Builds the OpenAPI document of the API's operations and the public pages, from the definitions that the server runs on. `hasSamples` adds code
 * samples and example errors, which people read and programs don't need.
 */
export function buildOpenApiDocument(operations: readonly Operation[], publicUrl: string, hasSamples: boolean): object {
  const writer = createDocumentWriter(publicUrl, hasSamples)
  // Schemas that other schemas refer to by name only.
  for (const schema of [Problem, ListMeta, Warning, Reference]) writer.write(schema)

  const writeMethods = (sharing: readonly Operation[]) =>
    Object.fromEntries(sharing.map(operation => [operation.method.toLowerCase(), writeOperation(writer, operation)]))
  const { paths: writtenPaths, parameters } = shareParameters(
    Object.fromEntries([
      ...[...Map.groupBy(operations, operation => toTemplate(operation.path))].map(([path, sharing]) => [
        path,
        writeMethods(sharing),
      ]),
      ...pages.map(page => [page.path, { get: writePage(writer, page) }]),
    ]),
  )
  const { paths, responses } = shareResponses(writtenPaths)
  const webhooks = writeWebhooks(writer)
  const tags = new Set([...operations.map(({ tag }) => tag), pagesTag])
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tillbridge',
      version: manifest.version,
      summary: manifest.description,
      description: buildIntroduction(),
      contact: { name: 'The operator of this installation' },
    },
    servers: [{ url: publicUrl }],
    security: [{ basic: [] }],
    tags: [...tags].map(name => ({ name, description: tagDescriptions[name] })),
    paths,
    webhooks,
    'x-response-headers': sharedResponseHeaders,
    components: {
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic', description: 'Username and password of an account.' },
      },
      parameters: { ...headerParameters, ...parameters },
      headers: responseHeaders,
      requestBodies: { Empty: { content: writer.body(EmptyBody, 'body, empty is null') } },
      responses: { ...writer.errors.components, ...responses },
      schemas: extendSchemas(writer.components),
    },
  }
}

/** Converts `:id` to `{id}`. */
const toTemplate = (path: string) => path.replace(/:(\w+)/g, '{$1}')
