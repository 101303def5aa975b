import manifest from '../../../package.json' with { type: 'json' }
import { pause } from '../../concurrency/turns.ts'
import { Reference } from '../../domain/catalog/references.ts'
import { RecordsChangedEvent, WebhookTestEvent } from '../../domain/webhooks/webhooks.ts'
import { type TSchema, Type } from '../../schemas/schemas.ts'
import { EmptyBody } from '../body/body.ts'
import { ListMeta, Warning } from '../pagination/lists.ts'
import { Problem } from '../problem.ts'
import { type Operation, type Tag, tagDescriptions } from '../routing/operation.ts'
import { createDocumentWriter, type Writer } from './document-writer.ts'
import { errorsOfEveryRequest, getOwnErrors } from './errors.ts'
import { headerParameters, referToHeaders, responseHeaders, sharedResponseHeaders } from './headers.ts'
import { writeOperation } from './operations.ts'
import { type PageOperation, type PublicPageResponse, pages, pagesTag } from './pages.ts'
import { buildExamplePath, buildPathParameter, queryParameter, referToParameters } from './parameters.ts'
import { getCodeSamples } from './samples.ts'
import { extendSchemas, shareParameters, shareResponses } from './shared-components.ts'
import { buildIntroduction, toHeading } from './texts.ts'

/**
 * Builds the OpenAPI document of the API's operations and the public pages, from the definitions that the server runs on. `hasSamples` adds code
 * samples and example errors, which people read and programs don't need.
 */
export async function buildOpenApiDocument(
  operations: readonly Operation[],
  publicUrl: string,
  hasSamples: boolean,
): Promise<object> {
  const writer = createDocumentWriter(publicUrl, hasSamples)
  // Schemas that other schemas refer to by name only.
  for (const schema of [Problem, ListMeta, Warning, Reference]) writer.write(schema)

  const writeMethods = (pathOperations: readonly Operation[]) =>
    Object.fromEntries(
      pathOperations.map(operation => [operation.method.toLowerCase(), writeOperation(writer, operation)]),
    )
  const completePaths: Parameters<typeof shareParameters>[0] = {}
  for (const [path, pathOperations] of Map.groupBy(operations, operation => toTemplate(operation.path))) {
    await pause()
    completePaths[path] = writeMethods(pathOperations)
  }
  for (const page of pages) completePaths[page.path] = { get: writePage(writer, page) }
  await pause()
  const { paths: pathsWithSharedParameters, parameters } = shareParameters(completePaths)
  await pause()
  const { paths, responses } = shareResponses(pathsWithSharedParameters)
  await pause()
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

const buildResponse = (
  { json }: Writer,
  status: string,
  { description, schema, headers = [], hasMarkdown }: PublicPageResponse,
) => ({
  description,
  ...(headers.length && { headers: referToHeaders(...headers) }),
  ...(status !== '304' && { content: schema ? json(schema) : { ...html, ...(hasMarkdown && markdown) } }),
})

/** Returns the OpenAPI operation of a public page. */
const writePage = (writer: Writer, page: PageOperation) => ({
  operationId: page.operationId,
  tags: [pagesTag],
  summary: toHeading(page.summary),
  description: page.description,
  security: [],
  parameters: [
    ...Object.entries(page.params ?? {}).map(([name, { description, example, schema }]) => ({
      ...buildPathParameter(name, description, example),
      schema: writer.write(schema),
    })),
    ...Object.entries(page.query?.properties ?? {}).map(([name, schema]) =>
      queryParameter(name, writer.write(schema as TSchema, 'query'), false),
    ),
    ...(304 in page.responses ? referToParameters(['IfNoneMatch']) : []),
  ],
  responses: {
    ...Object.fromEntries(
      Object.entries(page.responses).map(([status, response]) => [status, buildResponse(writer, status, response)]),
    ),
    ...writer.errors.write([...errorsOfEveryRequest, ...(page.errors ?? [])], buildExamplePath(page.path, page.params)),
  },
  'x-error-codes': getOwnErrors(page.errors ?? []),
})

const markdown = {
  'text/markdown': { schema: { type: 'string' }, example: '---\nnext: fix_request\n---\n…' },
}
const html = {
  'text/html': { schema: { type: 'string' }, example: '<!doctype html>…' },
}

const buildDeliveryHeader = (name: string, description: string, example: string) => ({
  name,
  in: 'header',
  description,
  required: true,
  schema: { type: 'string' },
  example,
})

const deliveryHeaders = [
  buildDeliveryHeader(
    'webhook-id',
    'The ID of the delivery. All its attempts have the same ID.',
    'msg_2b7d3c1a8e445b0c3f52',
  ),
  buildDeliveryHeader('webhook-timestamp', 'The time of the attempt in seconds since 1970.', '1795339887'),
  buildDeliveryHeader(
    'webhook-signature',
    'One signature per active secret, separated by spaces: `v1,` and the base64 of the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
]

/** Returns the requests that Tillbridge sends to webhook endpoints. */
const writeWebhooks = ({ json, hasSamples }: Writer) => ({
  'records.changed': {
    post: {
      operationId: 'receiveChanges',
      tags: ['Webhooks' satisfies Tag],
      summary: 'Receive changes',
      description:
        'Tillbridge sends changes to each endpoint in order, one delivery at a time (Standard Webhooks). Verify the signature, return 2xx within 15 seconds, then process the changes. A failed delivery is retried with the same `webhook-id` and body. A test event has the type `webhook.test` and no changes.',
      security: [],
      parameters: deliveryHeaders,
      requestBody: {
        description: 'The event.',
        required: true,
        content: json(
          Type.Union([RecordsChangedEvent, WebhookTestEvent], {
            $id: 'WebhookEvent',
            description: 'The event. `type` is its kind.',
          }),
        ),
      },
      responses: {
        '2XX': { description: 'The delivery succeeded.' },
        default: { description: 'The delivery failed. Tillbridge retries it. A 410 pauses the webhook.' },
      },
      ...(hasSamples && getCodeSamples('receiveChanges')),
    },
  },
})
