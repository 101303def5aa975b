import type { Writer } from './document-writer.ts'
import { errorsOfEveryRequest, getOwnErrors } from './errors.ts'
import { referToHeaders } from './headers.ts'
import { type PageOperation, type PublicPageResponse, pagesTag } from './pages.ts'
import { buildExamplePath, pathParameter } from './parameters.ts'
import { toHeading } from './texts.ts'

const buildResponse = ({ json }: Writer, { description, schema, headers = [] }: PublicPageResponse) => ({
  description,
  ...(headers.length && { headers: referToHeaders(...headers) }),
  content: schema ? json(schema) : html,
})

/** Returns the OpenAPI operation of a public page. */
export const writePage = (writer: Writer, page: PageOperation) => ({
  operationId: page.operationId,
  tags: [pagesTag],
  summary: toHeading(page.summary),
  description: page.description,
  security: [],
  parameters: Object.entries(page.params ?? {}).map(([name, { description, example, schema }]) => ({
    ...pathParameter(name, description, example),
    schema: writer.write(schema),
  })),
  responses: {
    ...Object.fromEntries(
      Object.entries(page.responses).map(([status, response]) => [status, buildResponse(writer, response)]),
    ),
    ...writer.errors.write([...errorsOfEveryRequest, ...(page.errors ?? [])], buildExamplePath(page.path, page.params)),
  },
  'x-error-codes': getOwnErrors(page.errors ?? []),
})

const html = {
  'text/html': { schema: { type: 'string' }, example: '<!doctype html>…' },
}
