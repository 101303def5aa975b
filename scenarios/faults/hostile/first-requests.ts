import { readFileSync } from 'node:fs'

/** A request that is sent once after a start. */
export interface FirstRequest {
  method: string
  path: string
  headers: Record<string, string>
  body?: string
}

interface Parameter {
  $ref?: string
  name: string
  in: string
  example?: unknown
}
interface Operation {
  parameters?: Parameter[]
  requestBody?: { content?: Record<string, { example?: unknown }> }
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { parameters: Record<string, Parameter> }
}

const json = { 'content-type': 'application/json' }
const browser = { accept: 'text/html', 'accept-encoding': 'gzip' }
const agent = { ...json, accept: 'application/json, text/event-stream' }

const buildMessage = (method: string, params: object): FirstRequest => ({
  method: 'POST',
  path: '/mcp',
  headers: agent,
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
})
const buildUpload = (type: string, body: string): FirstRequest => ({
  method: 'POST',
  path: '/imports?type=customers',
  headers: { 'content-type': type },
  body,
})

/** Requests that the OpenAPI document doesn't describe, and pages that are built at their first request. */
const undocumentedRequests: FirstRequest[] = [
  ...[
    '/',
    '/console',
    '/console/session',
    '/docs/search.json',
    '/docs/reference/errors',
    '/docs/start/quickstart',
    '/docs/api',
    '/docs/api/viewer.js',
    '/openapi.json?samples=true',
    '/openapi.json?view=shop',
    '/openapi.json?view=postman',
    '/openapi.json?tag=Orders',
    '/llms.txt',
    '/llms-full.txt',
    '/missing',
  ].map(path => ({ method: 'GET', path, headers: browser })),
  buildMessage('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'scenario', version: '1' },
  }),
  buildMessage('tools/list', {}),
  buildUpload('text/csv', 'id,surname,email\n1,Lee,lee@example.com\n'),
  buildUpload('application/x-ndjson', '{"id":"1","surname":"Lee"}\n'),
]

/** Lists a request for each operation of the API, with its example (writes as dry runs), and one for each other page. */
export function listFirstRequests(): FirstRequest[] {
  const url = new URL('../../../openapi.json', import.meta.url)
  const { paths, components } = JSON.parse(readFileSync(url, 'utf8')) as Document
  const resolve = ({ $ref, ...own }: Parameter): Parameter =>
    $ref === undefined ? own : (components.parameters[$ref.slice($ref.lastIndexOf('/') + 1)] ?? own)
  const toRequest = (template: string, method: string, { parameters = [], requestBody }: Operation): FirstRequest => {
    const examples = new Map(parameters.map(resolve).map(({ name, example }) => [name, String(example)]))
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(examples.get(name) ?? name))
    if (method === 'get') return { method: 'GET', path, headers: {} }
    const body = JSON.stringify(requestBody?.content?.['application/json']?.example ?? {})
    return { method: method.toUpperCase(), path, headers: { ...json, 'if-match': '*', prefer: 'tx=rollback' }, body }
  }
  const documented = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      // A stream doesn't end, and an import needs a file.
      .filter(([method]) => path !== '/changes/stream' && `${method} ${path}` !== 'post /imports')
      .map(([method, operation]) => toRequest(path, method, operation)),
  )
  return [...documented, ...undocumentedRequests]
}
