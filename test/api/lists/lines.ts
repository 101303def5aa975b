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
  // biome-ignore lint/suspicious/noExplicitAny: of HTTP/1.1 or HTTP/2
  headers: any
  /** Isn't read until a test reads it. */
  body: Readable
  /** Its records; rejects where it is cut. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  records(): Promise<any[]>
  /** Hangs up. */
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

/** Requests a bulk export. */
export async function openLines({
  at,
  caller,
  path,
  headers = {},
  http2 = false,
}: ExportRequest): Promise<BulkExportStream> {
  const sent = { ...buildCredentials(caller), accept: ndjson, ...headers }
  const { status, headers: responseHeaders, body, close } = await (http2 ? overHttp2 : overHttp1)(at, path, sent)
  // Readers get the error.
  body.on('error', () => {})
  return {
    status,
    headers: responseHeaders,
    body,
    close,
    records: async () => recordsIn(await text(body)),
  }
}

/** Lines as values; each ends with a line break. */
export function recordsIn(lines: string) {
  const all = lines.split('\n')
  if (all.pop() !== '') throw new Error('the last line does not end')
  return all.map(line => JSON.parse(line))
}

async function overHttp1({ baseUrl, ca }: ExportRequest['at'], path: string, headers: Record<string, string>) {
  const clientRequest = request(`${baseUrl}${path}`, { ca, headers, agent: false }).end()
  const [response] = await once(clientRequest, 'response')
  return {
    status: response.statusCode,
    headers: response.headers,
    body: response,
    close: () => clientRequest.destroy(),
  }
}

async function overHttp2({ baseUrl, ca }: ExportRequest['at'], path: string, headers: Record<string, string>) {
  const session = connect(baseUrl, { ca })
  const body = session.request({ ':path': path, ...headers })
  body.once('close', () => session.close())
  const [responseHeaders] = await once(body, 'response')
  return { status: Number(responseHeaders[':status']), headers: responseHeaders, body, close: () => session.destroy() }
}
