import type { IncomingHttpHeaders } from 'node:http'
import { type Agent, request } from 'node:https'

export interface HttpsRequest {
  method: 'GET' | 'POST' | 'PUT'
  path: string
  body?: object | undefined
  key?: string | undefined
}

export interface HttpsResponse<Data> {
  status: number
  headers: IncomingHttpHeaders
  /** The parsed body; empty if it isn't JSON. */
  body: { data?: Data; meta?: { asOf: string; hasNextPage: boolean; endCursor: string | null }; code?: string }
  text: string
}

interface Server {
  baseUrl: string
  agent: Agent | undefined
  headers: Readonly<Record<string, string>>
}

/** Sends a request through an agent that trusts the server's certificate. Rejects if the response isn't complete within 20 s. */
export const sendHttpsRequest = <Data>(
  { method, path, body, key }: HttpsRequest,
  { baseUrl, agent, headers }: Server,
): Promise<HttpsResponse<Data>> =>
  new Promise((resolve, reject) => {
    const sent = request(
      `${baseUrl}${path}`,
      {
        method,
        agent,
        signal: AbortSignal.timeout(20_000),
        headers: {
          ...headers,
          ...(body && { 'content-type': 'application/json' }),
          ...(key !== undefined && { 'idempotency-key': key }),
        },
      },
      response => {
        const chunks: Buffer[] = []
        response.on('data', chunk => chunks.push(chunk))
        response.on('error', reject)
        response.on('close', () => response.complete || reject(new Error('the response was cut off')))
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          const isJson = text !== '' && /json/.test(String(response.headers['content-type']))
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: isJson ? JSON.parse(text) : {},
            text,
          })
        })
      },
    )
    sent.on('error', reject)
    sent.end(body && JSON.stringify(body))
  })
