import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Caller, TestApi } from './service.ts'

/** The latest version of the protocol, and the last one with a handshake. */
export const protocols = ['2026-07-28', 'legacy'] as const

/** Connects the client of the official SDK to `/mcp`. */
export async function connectAgent(
  { baseUrl }: Pick<TestApi, 'baseUrl'>,
  caller: Pick<Caller, 'request'>,
  protocol: (typeof protocols)[number] = '2026-07-28',
) {
  const client = new Client(
    { name: 'test agent', version: '1.2' },
    { versionNegotiation: { mode: protocol === 'legacy' ? 'legacy' : { pin: protocol } } },
  )
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', baseUrl), {
      async fetch(_, { method = 'GET', headers, body } = {}) {
        const response = await caller.request('/mcp', {
          method,
          headers: Object.fromEntries(new Headers(headers)),
          ...(typeof body === 'string' && { body }),
        })
        const isEmpty = [202, 204].includes(response.status)
        return new Response(isEmpty ? null : response.text, {
          status: response.status,
          headers: { 'content-type': String(response.headers['content-type'] ?? '') },
        })
      },
    }),
  )
  return client
}

/** Calls a tool. Returns its text, the untrusted data in it and the notes before the data. */
export async function callTool(client: Client, name: string, input: Record<string, unknown> = {}) {
  const { content, isError = false } = await client.callTool({ name, arguments: input })
  const [first] = content
  const text = first?.type === 'text' ? first.text : ''
  const [, notes = '', data = ''] = /^(.*?\n)?<untrusted-data>\n(.*)\n<\/untrusted-data>$/s.exec(text) ?? []
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  const parse = (json: string): any => (json ? JSON.parse(json) : undefined)
  return { isError, text, data: parse(data), notes: parse(notes) }
}
