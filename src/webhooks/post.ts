import { type ClientRequest, type IncomingMessage, request as requestPlainly } from 'node:http'
import { type Agent, request } from 'node:https'
import { parseRetryAfterMs } from '../http-client/retry-after.ts'
import { AddressNotAllowed } from './addresses.ts'

/** The result of an attempt. */
export interface Outcome {
  /** Null: there was no answer. */
  status: number | null
  /** Why it was not taken; null where it was. */
  fault: string | null
  /** The beginning of the answer. */
  response: string
  /** The value of `Retry-After`. */
  retryAfterSeconds?: number | undefined
  milliseconds: number
}

/** An endpoint has so long to answer (contract 11). Milliseconds. */
const patienceMs = 15_000
/** So much of an answer is read, and so much kept. Bytes. */
const mostRead = 64 * 1_024
const mostKept = 1_024

interface Posted {
  body: string
  headers: Readonly<Record<string, string>>
}

/** Posts once. A 2xx response is a success, a redirect is a failure. Throws only if `signal` aborts. */
export async function postOver(agent: Agent, url: URL, posted: Posted, signal: AbortSignal): Promise<Outcome> {
  const begun = performance.now()
  const late = AbortSignal.timeout(patienceMs)
  const outcome = (told: Omit<Outcome, 'milliseconds'>): Outcome => ({
    ...told,
    milliseconds: Math.round(performance.now() - begun),
  })
  let status: number | null = null
  try {
    const response = await answered(agent, url, posted, AbortSignal.any([signal, late]))
    status = response.statusCode ?? 0
    const answer = await beginningOf(response)
    const isTaken = status >= 200 && status < 300
    return outcome({
      status,
      fault: isTaken ? null : `The endpoint answered ${status}.`,
      response: answer,
      retryAfterSeconds: secondsOf(parseRetryAfterMs(response.headers['retry-after'])),
    })
  } catch (error) {
    if (signal.aborted) throw error
    return outcome({
      status,
      fault: late.aborted ? 'The endpoint did not answer within 15 s.' : faultOf(error),
      response: '',
    })
  }
}

const answered = (agent: Agent, url: URL, { body, headers }: Posted, signal: AbortSignal) =>
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
    const asked: ClientRequest = url.protocol === 'https:' ? request(url, options) : requestPlainly(url, options)
    asked.once('response', resolve)
    asked.once('error', reject)
    asked.end(body)
  })

/** Reads an answer to its end, unless it is longer than anybody wants; returns its beginning. */
async function beginningOf(response: IncomingMessage): Promise<string> {
  let read = 0
  let kept = Buffer.alloc(0)
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (kept.length < mostKept) kept = Buffer.concat([kept, chunk]).subarray(0, mostKept)
    read += chunk.length
    if (read > mostRead) break
  }
  // Half a character at the end, and what no text of the database holds.
  return kept
    .toString('utf8')
    .replace(/\uFFFD+$/, '')
    .replaceAll('\0', '')
}

const secondsOf = (ms: number | undefined) => (ms === undefined ? undefined : Math.ceil(ms / 1_000))

/** Describes a connection error without internals. */
function faultOf(error: unknown): string {
  if (error instanceof AddressNotAllowed) return error.message
  const { code = '', message } = error as NodeJS.ErrnoException
  if (/CERT|TLS|SSL|SIGNED|ISSUER/.test(code)) return `The endpoint cannot be trusted: ${code}.`
  return message.startsWith('The name ')
    ? message
    : `The endpoint can't be reached: ${code || 'the connection was closed'}.`
}
