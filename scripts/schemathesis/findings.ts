import { line } from '../../src/domain/values/characters.ts'
import { getRefName, type Node } from '../client/types.ts'

/** Settings that would change the rest of the run. */
const omittedSettings = [
  'requireIdempotencyKey',
  'requireIfMatch',
  'readsPerMinute',
  'writesPerMinute',
  'timeZone',
  'currency',
]

/** Parameters that exclude or require others, or that wait longer than Schemathesis does. */
const omittedParameters = [
  ['/customers/search', 'get', ['name']],
  ['/products', 'get', ['removed']],
  ['/browse', 'get', ['filter', 'sort', 'from', 'until']],
  ['/changes', 'get', ['wait']],
  ['/imports', 'post', ['complete', 'remove_most']],
] as const satisfies [string, string, string[]][]

/** The formats of import parameters whose syntax a schema can't express. `formats.py` has their strings. */
const importFormats = { profile: 'import-profile', date_format: 'date-format', encoding: 'encoding' } as const

/**
 * Returns the document for Schemathesis, without the parts that a document can't express (contributing/schemathesis.md
 * has the reason of each).
 */
export function toTestedDocument(document: Node): object {
  const { paths, components } = structuredClone(document)
  const resolveParameter = (node: Node) => (node.$ref ? structuredClone(components.parameters[getRefName(node)]) : node)
  for (const path of Object.values<Node>(paths))
    for (const operation of Object.values<Node>(path))
      operation.parameters = operation.parameters
        .map(resolveParameter)
        .filter((parameter: Node) => parameter.name !== 'after_cursor')
  const parameters = paths['/customers'].get.parameters
  parameters.find((parameter: Node) => parameter.name === 'email').required = true
  paths['/customers'].get.parameters = parameters.filter((parameter: Node) => parameter.name !== 'updated_after')
  for (const [path, method, names] of omittedParameters)
    paths[path][method].parameters = paths[path][method].parameters.filter(
      (parameter: Node) => !(names as string[]).includes(parameter.name),
    )
  for (const [name, format] of Object.entries(importFormats))
    paths['/imports'].post.parameters.find((parameter: Node) => parameter.name === name).schema = {
      type: 'string',
      format,
    }
  paths['/changes/stream'].get.responses[200].content['text/event-stream'].schema = {}
  delete paths['/imports'].post.requestBody.content['application/x-ndjson']
  const redemption = components.schemas.RedemptionInput
  delete redemption.properties.amount
  redemption.required = [...redemption.required, 'points']
  const pin = paths['/vouchers/{number}'].get.parameters.find((parameter: Node) => parameter.name === 'X-Voucher-Pin')
  pin.schema.pattern = '^[0-9]{1,50}$'
  const amount = paths['/vouchers/{number}'].get.parameters.find((parameter: Node) => parameter.name === 'amount')
  amount.schema.pattern = amount.schema.pattern.replace('(\\.\\d{1,4})?', '\\.\\d{2}')
  const { properties } = components.schemas.SettingsChange
  for (const name of omittedSettings) delete properties[name]
  replaceFormat({ paths, components })
  return { ...document, paths, components }
}

/** Replaces the format `single-line`, which Schemathesis does not know, with its pattern. */
function replaceFormat(node: Node): void {
  if (node === null || typeof node !== 'object') return
  if (node.format === 'single-line') {
    delete node.format
    if (node.pattern === undefined) node.pattern = line
    else node.allOf = [{ pattern: line }]
  }
  for (const child of Object.values<Node>(node)) replaceFormat(child)
}
