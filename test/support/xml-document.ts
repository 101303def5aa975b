import assert from 'node:assert/strict'
import { readDocument, type Xml } from '../../src/backoffice/apparel21/xml/xml.ts'

/** Parses XML in the same way as a response of the back office. */
export async function parseXmlDocument(text: string): Promise<Xml> {
  async function* body() {
    yield Buffer.from(text)
  }
  const [, root = ''] = /<(\w+)/.exec(text) ?? []
  return (await readDocument(body(), [root])) ?? assert.fail('the document is empty')
}
