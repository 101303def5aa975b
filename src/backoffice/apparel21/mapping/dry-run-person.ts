import { readDocument, type Xml } from '../xml/xml.ts'

/** The person that the back office would have, had it been told: what would be sent, and of `read` what that leaves as it is. */
export async function buildDryRunPerson(body: string, read: Xml | undefined, id: string): Promise<Xml> {
  const sent = await readDocument(toBytes(body), ['Person'])
  if (!sent) throw new Error('a payload has a root')
  const own = new Set(sent.children.map(child => child.name))
  const kept = read?.children.filter(child => !own.has(child.name)) ?? [element('Id', id)]
  return { ...sent, children: [...kept, ...sent.children] }
}

const element = (name: string, text: string): Xml => ({ name, attributes: {}, text, children: [] })

async function* toBytes(text: string) {
  yield Buffer.from(text)
}
