import type { TSchema } from '../../schemas/schemas.ts'
import type { Writer } from './document-writer.ts'
import { errorsOfEveryRequest, getOwnErrors } from './errors.ts'
import { referToHeaders } from './headers.ts'
import { type PageOperation, type PublicPageResponse, pagesTag } from './pages.ts'
import { buildExamplePath, buildPathParameter, queryParameter, referToParameters } from './parameters.ts'
import { toHeading } from './texts.ts'

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
export const writePage = (writer: Writer, page: PageOperation) => ({
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
