import type { Writer } from './document-writer.ts'
import { errorsOfEveryRequest } from './errors.ts'
import { referToHeaders } from './headers.ts'
import { type PageOperation, type PublicPageResponse, pagesTag } from './pages.ts'
import { commonHeaders, pathParameter, referToParameters } from './parameters.ts'
import { toHeading } from './texts.ts'

const buildResponse = ({ json }: Writer, { description, schema, headers = [] }: PublicPageResponse) => ({
  description,
  headers: referToHeaders(...headers),
  content: schema ? json(schema) : html,
})

/** Returns the OpenAPI operation of a public page. */
export const writePage = (writer: Writer, page: PageOperation) => ({
  operationId: page.operationId,
  tags: [pagesTag],
  summary: toHeading(page.summary),
  description: page.description,
  security: [],
  parameters: [
    ...Object.entries(page.params ?? {}).map(([name, { description, example, words }]) =>
      pathParameter(name, description, example, { enum: words }),
    ),
    ...referToParameters(commonHeaders),
  ],
  responses: {
    ...Object.fromEntries(
      Object.entries(page.responses).map(([status, response]) => [status, buildResponse(writer, response)]),
    ),
    ...writer.errors.write([...errorsOfEveryRequest, ...(page.errors ?? [])]),
  },
})

const html = {
  'text/html': { schema: { type: 'string', examples: ['<!doctype html>…'] }, example: '<!doctype html>…' },
}
