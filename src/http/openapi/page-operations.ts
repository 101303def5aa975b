import type { Writer } from './document-writer.ts'
import { errorsOfEveryRequest } from './errors.ts'
import { headersOf } from './headers.ts'
import { type PageAnswer, type PageOperation, pagesTag } from './pages.ts'
import { pathParameter, referredTo, sentWithAny } from './parameters.ts'
import { heading } from './texts.ts'

const answerOf = ({ json }: Writer, { description, shape, headers = [] }: PageAnswer) => ({
  description,
  headers: headersOf(...headers),
  content: shape ? json(shape) : html,
})

/** A public page as the document has it. */
export const writePage = (writer: Writer, page: PageOperation) => ({
  operationId: page.operationId,
  tags: [pagesTag],
  summary: heading(page.summary),
  description: page.description,
  security: [],
  parameters: [
    ...Object.entries(page.params ?? {}).map(([name, { description, example, words }]) =>
      pathParameter(name, description, example, { enum: words }),
    ),
    ...referredTo(sentWithAny),
  ],
  responses: {
    ...Object.fromEntries(Object.entries(page.answers).map(([status, answer]) => [status, answerOf(writer, answer)])),
    ...writer.errors.write([...errorsOfEveryRequest, ...(page.errors ?? [])]),
  },
})

const html = {
  'text/html': { schema: { type: 'string', examples: ['<!doctype html>…'] }, example: '<!doctype html>…' },
}
