import { once } from 'node:events'
import { connect } from 'node:http2'
import { request } from 'node:https'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { buildCredentials } from '../../support/servers.ts'
import type { Caller } from '../../support/service.ts'

/** A running bulk export. */
export interface BulkExportStream {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: headers of HTTP/1.1 or HTTP/2
  headers: any
  /** Stays unread until the test reads it. */
  body: Readable
  /** Reads all records. Rejects if the response is cut off. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  readRecords(): Promise<any[]>
  /** Closes the connection. */
  close(): void
}

interface ExportRequest {
  at: { baseUrl: string; ca: string }
  caller: Pick<Caller, 'username' | 'password' | 'service'>
  path: string
  headers?: Record<string, string>
  http2?: boolean
}

export const ndjson = 'application/x-ndjson'

/** Starts a bulk export. Resolves when its headers have arrived. */
export async function startBulkExport({
  at,
  caller,
  path,
  headers = {},
  http2 = false,
}: ExportRequest): Promise<BulkExportStream> {
  const requestHeaders = { ...buildCredentials(caller), accept: ndjson, ...headers }
  const {
    status,
    headers: responseHeaders,
    body,
    close,
  } = await (http2 ? requestOverHttp2 : requestOverHttp1)(at, path, requestHeaders)
  // Readers get the error.
  body.on('error', () => {})
  return {
    status,
    headers: responseHeaders,
    body,
    close,
    readRecords: async () => parseRecords(await text(body)),
  }
}

/** Parses the lines of a bulk export. Throws if the last line has no line break. */
export function parseRecords(lines: string) {
  const all = lines.split('\n')
  if (all.pop() !== '') throw new Error('the last line has no line break')
  return all.map(line => JSON.parse(line))
}

async function requestOverHttp1({ baseUrl, ca }: ExportRequest['at'], path: string, headers: Record<string, string>) {
  const clientRequest = request(`${baseUrl}${path}`, { ca, headers, agent: false }).end()
  const [response] = await once(clientRequest, 'response')
  return {
    status: response.statusCode,
    headers: response.headers,
    body: response,
    close: () => clientRequest.destroy(),
  }
}

async function requestOverHttp2({ baseUrl, ca }: ExportRequest['at'], path: string, headers: Record<string, string>) {
  const session = connect(baseUrl, { ca })
  const body = session.request({ ':path': path, ...headers })
  body.once('close', () => session.close())
  const [responseHeaders] = await once(body, 'response')
  return { status: Number(responseHeaders[':status']), headers: responseHeaders, body, close: () => session.destroy() }
}
