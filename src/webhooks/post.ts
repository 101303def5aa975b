import { type ClientRequest, type IncomingMessage, request as requestPlainly } from 'node:http'
import { type Agent, request } from 'node:https'
import { parseRetryAfterMs } from '../http-client/retry-after.ts'
import { AddressNotAllowed } from './addresses.ts'

export interface PostResult {
  /** The status of the response. Null if there was none. */
  status: number | null
  /** The reason for a failure. Null if the endpoint accepted the delivery. */
  error: string | null
  /** The beginning of the response body. */
  response: string
  /** The value of `Retry-After`. */
  retryAfterSeconds?: number | undefined
  milliseconds: number
}

/** Milliseconds until an endpoint must have sent its complete response. */
const timeoutMs = 15_000
/** The bytes of a response that are read, so that the connection can be used again, and the bytes that are stored. */
const maxReadBytes = 64 * 1_024
const maxStoredBytes = 1_024

interface PostBody {
  body: string
  headers: Readonly<Record<string, string>>
}

/** Posts once. A 2xx response is a success, a redirect is a failure. Throws only if `signal` aborts. */
export async function postOver(agent: Agent, url: URL, content: PostBody, signal: AbortSignal): Promise<PostResult> {
  const startedAt = performance.now()
  const timeout = AbortSignal.timeout(timeoutMs)
  const toResult = (result: Omit<PostResult, 'milliseconds'>): PostResult => ({
    ...result,
    milliseconds: Math.round(performance.now() - startedAt),
  })
  let status: number | null = null
  try {
    const response = await sendRequest(agent, url, content, AbortSignal.any([signal, timeout]))
    status = response.statusCode ?? 0
    const beginning = await readBeginning(response)
    const isAccepted = status >= 200 && status < 300
    return toResult({
      status,
      error: isAccepted ? null : `The endpoint returned ${status}.`,
      response: beginning,
      retryAfterSeconds: toSeconds(parseRetryAfterMs(response.headers['retry-after'])),
    })
  } catch (error) {
    if (signal.aborted) throw error
    return toResult({
      status,
      error: timeout.aborted ? 'The endpoint did not respond within 15 s.' : describeError(error),
      response: '',
    })
  }
}

const sendRequest = (agent: Agent, url: URL, { body, headers }: PostBody, signal: AbortSignal) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const options = {
      method: 'POST',
      agent,
      signal,
      maxHeaderSize: 16 * 1_024,
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'Tillbridge',
      },
    }
    const post: ClientRequest = url.protocol === 'https:' ? request(url, options) : requestPlainly(url, options)
    post.once('response', resolve)
    post.once('error', reject)
    post.end(body)
  })

/** Reads a response to its end, up to `maxReadBytes`. Returns its beginning. */
async function readBeginning(response: IncomingMessage): Promise<string> {
  let read = 0
  let beginning = Buffer.alloc(0)
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (beginning.length < maxStoredBytes) beginning = Buffer.concat([beginning, chunk]).subarray(0, maxStoredBytes)
    read += chunk.length
    if (read > maxReadBytes) break
  }
  // Remove half a character at the end, and NUL, which PostgreSQL does not accept in text.
  return beginning
    .toString('utf8')
    .replace(/\uFFFD+$/, '')
    .replaceAll('\0', '')
}

const toSeconds = (ms: number | undefined) => (ms === undefined ? undefined : Math.ceil(ms / 1_000))

/** Describes a connection error without internals. */
function describeError(error: unknown): string {
  if (error instanceof AddressNotAllowed) return error.message
  const { code = '', message } = error as NodeJS.ErrnoException
  if (/CERT|TLS|SSL|SIGNED|ISSUER/.test(code)) return `The endpoint's certificate can't be trusted: ${code}.`
  return message.startsWith('The name ')
    ? message
    : `The endpoint can't be reached: ${code || 'the connection was closed'}.`
}
