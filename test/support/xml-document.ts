import assert from 'node:assert/strict'
import { readDocument, type Xml } from '../../src/backoffice/apparel21/xml/xml.ts'

/** What is read of an answer that is this text. */
export async function parseXmlDocument(text: string): Promise<Xml> {
  async function* body() {
    yield Buffer.from(text)
  }
  const [, root = ''] = /<(\w+)/.exec(text) ?? []
  return (await readDocument(body(), [root])) ?? assert.fail('it is empty')
}
