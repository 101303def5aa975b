import type { Operation } from '../http/routing/operation.ts'
import type { Values } from './tools.ts'

interface ToolRequest {
  method: string
  /** The path with its query. */
  url: string
  headers: Record<string, string>
  body?: string
}

export interface ToolResponse {
  status: number
  text: string
  /** The version of a single record. */
  etag?: string | undefined
}

/** Sends a request with the caller's credentials. */
export type Send = (request: ToolRequest) => Promise<ToolResponse>

/** Builds the request of an operation. Values become parameters of the path, then of the query or fields of the body. */
export function buildRequest({ method, path, params }: Operation, values: Values): ToolRequest {
  const remaining = Object.entries(values).filter(([name, value]) => !(name in params) && value !== undefined)
  const filled = path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(String(values[name])))
  if (method !== 'GET') {
    const headers = { 'content-type': 'application/json' }
    return { method, url: filled, headers, body: JSON.stringify(Object.fromEntries(remaining)) }
  }
  const query = String(new URLSearchParams(remaining.map(([name, value]) => [name, String(value)])))
  return { method, url: query ? `${filled}?${query}` : filled, headers: {} }
}

interface InputSchema {
  type?: string | string[]
  description: string
  enum?: unknown[]
  items?: { type?: string; enum?: unknown[] }
  [keyword: string]: unknown
}

/** Returns the schema of an input, from the definition of its operation. Leaves out what the operation validates itself. */
export function getInputSchema({ params, query, body, operationId }: Operation, name: string): InputSchema {
  const param = params[name]
  if (param) return { type: 'string', description: param.description }
  const properties = { ...query.properties, ...(body as { properties?: object } | undefined)?.properties }
  const schema = properties[name as keyof typeof properties] as unknown as InputSchema & { anyOf?: InputSchema[] }
  if (!schema) throw new Error(`operation ${operationId} has no input ${name}`)
  const { type, enum: words, items, description } = { ...schema, ...schema.anyOf?.[0] }
  const [sentence = ''] = /^.*?\.(?= |$)/s.exec(description ?? '') ?? []
  return {
    ...(words ? { enum: words } : { type: type ?? 'string' }),
    description: sentence,
    ...(items && { items: items.enum ? { enum: items.enum } : { type: items.type ?? 'string' } }),
  }
}
