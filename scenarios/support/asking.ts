import type { IncomingHttpHeaders } from 'node:http'
import { type Agent, request } from 'node:https'
import type { Static } from 'typebox'
import type { ListMeta } from '../../src/http/pagination/lists.ts'

export interface Asked {
  method: 'GET' | 'POST' | 'PUT'
  path: string
  body?: object | undefined
  key?: string | undefined
}

/** What an answer's body says: `data` where something was made or found, `code` where it was refused. */
export interface Body<Data> {
  data?: Data
  meta?: Static<typeof ListMeta>
  code?: string
}

/** An answer. `Data` is what the API documents for it: the trials judge effects, not shapes. */
export interface Answered<Data> {
  status: number
  headers: IncomingHttpHeaders
  body: Body<Data>
  /** The body as it came. */
  text: string
}

/** The way to a server of the API. */
export interface Way {
  baseUrl: string
  agent: Agent | undefined
  headers: Readonly<Record<string, string>>
}

const answerMs = 20_000

/** Asks once; rejects where no whole answer comes within so many milliseconds. */
export const askOnce = <Data>(
  { method, path, body, key }: Asked,
  { baseUrl, agent, headers }: Way,
  waitMs = answerMs,
): Promise<Answered<Data>> =>
  new Promise((resolve, reject) => {
    const asked = request(
      `${baseUrl}${path}`,
      {
        method,
        agent,
        signal: AbortSignal.timeout(waitMs),
        headers: {
          ...headers,
          ...(body && { 'content-type': 'application/json' }),
          ...(key !== undefined && { 'idempotency-key': key }),
        },
      },
      answer => {
        const chunks: Buffer[] = []
        answer.on('data', chunk => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('close', () => answer.complete || reject(new Error('cut')))
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            body: text && /json/.test(String(answer.headers['content-type'])) ? JSON.parse(text) : {},
            text,
          })
        })
      },
    )
    asked.on('error', reject)
    asked.end(body && JSON.stringify(body))
  })

/** Whether an answer leaves nothing open: anything else is asked for again. */
export const isSettled = ({ status, body: { code } }: Pick<Answered<unknown>, 'status' | 'body'>) =>
  status < 500 && status !== 429 && code !== 'idempotency_in_progress' && code !== 'concurrent_update'

/** Milliseconds after which nothing but a fault can be the reason that nothing is settled. */
export const patienceMs = 90_000

export const unsettled = ({ method, path }: Asked, last: string) =>
  new Error(`${method} ${path} was not settled within ${patienceMs / 1_000} s; the last was: ${last}`)
