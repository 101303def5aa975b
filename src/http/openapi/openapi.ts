import manifest from '../../../package.json' with { type: 'json' }
import { Reference } from '../../domain/catalog/references.ts'
import { ListMeta, Warning } from '../pagination/lists.ts'
import { Problem } from '../problem.ts'
import { type Operation, tagDescriptions } from '../routing/operation.ts'
import { documentWriter } from './document-writer.ts'
import { answerHeaders, headerParameters } from './headers.ts'
import { writeOperation } from './operations.ts'
import { writePage } from './page-operations.ts'
import { pages, pagesTag } from './pages.ts'
import { introduction } from './texts.ts'

/** The OpenAPI document of the operations and of the public pages, all of it made from what the server itself runs on. */
export function openApiDocument(operations: readonly Operation[], publicUrl: string): object {
  const writer = documentWriter(publicUrl)
  // Shapes that others name but do not hold.
  for (const shape of [Problem, ListMeta, Warning, Reference]) writer.write(shape)

  const methodsOf = (mine: readonly Operation[]) =>
    Object.fromEntries(mine.map(each => [each.method.toLowerCase(), writeOperation(writer, each)]))
  const paths = Object.fromEntries([
    ...[...Map.groupBy(operations, each => documentedPath(each.path))].map(([path, mine]) => [path, methodsOf(mine)]),
    ...pages.map(each => [each.path, { get: writePage(writer, each) }]),
  ])
  const tags = new Set([...operations.map(({ tag }) => tag), pagesTag])
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tillbridge',
      version: manifest.version,
      summary: manifest.description,
      description: introduction(),
      contact: { name: 'Whoever runs this service' },
    },
    servers: [{ url: publicUrl }],
    security: [{ basic: [] }],
    tags: [...tags].map(name => ({ name, description: tagDescriptions[name] })),
    paths,
    components: {
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic', description: 'Username and password of an account.' },
      },
      parameters: headerParameters,
      headers: answerHeaders,
      responses: writer.errors.components,
      schemas: writer.components,
    },
  }
}

/** `:id` is `{id}`. */
const documentedPath = (path: string) => path.replace(/:(\w+)/g, '{$1}')
