import assert from 'node:assert/strict'

/** A response. The specification has no complete bodies, so a statement reads only the fields it checks. */
export interface ApiResponse {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a statement reads what it expects
  body: any
}

/** One service of an installation, with the two headers that every request carries (section 5). */
export interface Api {
  url: string
  /** The headers, for a request without one of them. */
  headers: Readonly<Record<string, string>>
  get(
    path: string,
    query?: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ApiResponse>
  post(path: string, body: object): Promise<ApiResponse>
  put(path: string, body: object): Promise<ApiResponse>
}

/** The URL and credentials of a service. */
export interface Access {
  url: string
  /** The value after `Basic`. */
  apiKey: string
  service: string
}

const timeoutMs = 30_000

export async function sendRequest(url: string, init: RequestInit = {}): Promise<ApiResponse> {
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs), ...init })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

export function createApi({ url, apiKey, service }: Access): Api {
  const headers = { authorization: `Basic ${apiKey}`, 'x-service-name': service }
  const send = (method: string) => (path: string, body: object) =>
    sendRequest(`${url}${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return {
    url,
    headers,
    get: (path, query = {}, extraHeaders = {}) => {
      const search = new URLSearchParams(query).toString()
      return sendRequest(`${url}${path}${search && '?'}${search}`, { headers: { ...headers, ...extraHeaders } })
    },
    post: send('POST'),
    put: send('PUT'),
  }
}

/** Returns the data of a successful response. */
export function getData({ status, body }: ApiResponse) {
  assert.ok(status >= 200 && status < 300, `${status} ${JSON.stringify(body)}`)
  return body.data
}

/** Asserts that a request is rejected because of its own error. */
export function assertRejected({ status, body }: ApiResponse, ...statuses: number[]) {
  const response = `${status} ${JSON.stringify(body)}`
  assert.ok(statuses.length ? statuses.includes(status) : status >= 400 && status < 500, response)
}
