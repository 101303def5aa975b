import { dataOf, etagOf } from './answers.ts'
import type { Endurance, Send } from './transport.ts'
import { type Page, Walk } from './walk.ts'

/** What any read may be told. */
export interface CallOptions {
  /** Ends the call, and is what it ends with. */
  signal?: AbortSignal | undefined
  /** How long this call goes on trying. */
  patienceMs?: number | undefined
  /** A record that was read before: where it has not changed, it is what the call answers with. */
  ifNoneMatch?: object | undefined
  /** Rather an error than an empty list with a warning (`Prefer: handling=strict`). */
  strict?: boolean | undefined
}

/** What any write may be told. */
export interface WriteOptions extends Endurance {
  /** Names this very write, in all its tries; made up where none is given. */
  idempotencyKey?: string | undefined
  /** The record, as it was read, that the change was decided on; or its ETag. */
  ifMatch?: object | string | undefined
  /** Works it all out, and keeps nothing (`Prefer: tx=rollback`). */
  tryOut?: boolean | undefined
}

/** Where a list begins, and the size of its pages. */
export interface Paging {
  /** Records in a page. */
  limit?: number | undefined
  /** The `endCursor` to go on from. */
  afterCursor?: string | undefined
}

/** What the operations are made with. */
export interface Calls {
  list<T>(path: string, query?: object, options?: CallOptions): Walk<T>
  get<T>(path: string, query?: object, options?: CallOptions): Promise<T>
  post<T>(path: string, body: object | undefined, options?: WriteOptions): Promise<T>
  put<T>(path: string, body: object | undefined, options?: WriteOptions): Promise<T>
  delete<T>(path: string, body: object | undefined, options?: WriteOptions): Promise<T>
  /** A PUT that takes an Idempotency-Key. */
  putOnce<T>(path: string, body: object | undefined, options?: WriteOptions): Promise<T>
}

export function callsOf(send: Send): Calls {
  const read = (path: string, query: object, options: CallOptions, headers = {}) =>
    send({ method: 'GET', path: path + textOf(query), headers: { ...readHeaders(options), ...headers } }, options)

  const write =
    (method: 'POST' | 'PUT' | 'DELETE', isKeyed: boolean) =>
    async (path: string, body: object | undefined, options: WriteOptions = {}) => {
      const key = isKeyed ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined
      const headers = writeHeaders(options, key, body)
      return dataOf(await send({ method, path, headers, ...(body && { body: JSON.stringify(body) }) }, options))
    }

  return {
    list: <T>(path: string, query = {}, options = {}) =>
      new Walk<T>(
        async cursor => {
          const { json } = await read(path, cursor === undefined ? query : { ...query, afterCursor: cursor }, options)
          return json as Page<T>
        },
        () => read(path, { ...query, ...ofPages }, options, { accept: 'application/x-ndjson' }),
      ),
    async get(path, query = {}, options = {}) {
      const answer = await read(path, query, options)
      return answer.status === 304 ? options.ifNoneMatch : dataOf(answer)
    },
    post: write('POST', true),
    put: write('PUT', false),
    delete: write('DELETE', false),
    putOnce: write('PUT', true),
  }
}

/** What a whole list knows nothing of. */
const ofPages = { limit: undefined, afterCursor: undefined, wait: undefined }

/** A piece of a path. What a URL would read as another path is no identifier of anything. */
export function segment(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`'${text}' is no identifier.`)
  return encodeURIComponent(text)
}

/** Options that are headers of some operations, by their names there. */
const headerNames = { voucherPin: 'x-voucher-pin', shopperIp: 'x-shopper-ip' }

function ownHeaders(options: object): Record<string, string> {
  const given = options as Record<string, string | undefined>
  return Object.fromEntries(
    Object.entries(headerNames).flatMap(([option, name]) =>
      given[option] === undefined ? [] : [[name, given[option]]],
    ),
  )
}

const readHeaders = (options: CallOptions) => ({
  ...ownHeaders(options),
  ...(options.ifNoneMatch && { 'if-none-match': etagOf(options.ifNoneMatch) }),
  ...(options.strict && { prefer: 'handling=strict' }),
})

const writeHeaders = (options: WriteOptions, key: string | undefined, body: object | undefined) => ({
  ...ownHeaders(options),
  ...(body && { 'content-type': 'application/json' }),
  ...(key && { 'idempotency-key': key }),
  ...(options.ifMatch && { 'if-match': etagOf(options.ifMatch) }),
  ...(options.tryOut && { prefer: 'tx=rollback' }),
})

/** A query as text: `updatedAfter` is `updated_after`, a `Date` is RFC 3339. */
function textOf(query: object): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined)
      parameters.set(
        name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
        value instanceof Date ? value.toISOString() : String(value),
      )
  return parameters.size ? `?${parameters}` : ''
}
