import { type Page, Paginator } from './paginator.ts'
import { getEtag, readData } from './response-meta.ts'
import type { RetryOptions, Send } from './transport.ts'

/** Options of every read. */
export interface CallOptions {
  /** Aborts the call. The call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** Milliseconds for which the call is retried. Default: the client's. */
  retryTimeoutMs?: number | undefined
  /** A record that was read before. If it hasn't changed, the call returns it. */
  ifNoneMatch?: object | undefined
  /** Throws an error instead of returning an empty list with a warning (`Prefer: handling=strict`). */
  strict?: boolean | undefined
}

/** Options of every write. */
export interface WriteOptions extends RetryOptions {
  /** Identifies the write in all attempts. Default: a random UUID. */
  idempotencyKey?: string | undefined
  /** The record as it was read, or its ETag. If it has changed, the write is rejected. */
  ifMatch?: object | string | undefined
  /** Computes the result and stores nothing (`Prefer: tx=rollback`). */
  dryRun?: boolean | undefined
}

/** The start of a list and the size of its pages. */
export interface Paging {
  /** Records per page, 1 to 100. Default 100. */
  limit?: number | undefined
  /** The `endCursor` to continue from. */
  afterCursor?: string | undefined
}

/** Functions that send the requests of all operations. */
export interface Calls {
  list<T>(path: string, query?: object, options?: CallOptions): Paginator<T>
  get<T>(path: string, query?: object, options?: CallOptions): Promise<T>
  post<T>(path: string, body: object | undefined, options?: WriteOptions): Promise<T>
  put<T>(path: string, body: object | undefined, options?: WriteOptions): Promise<T>
  delete<T>(path: string, body: object | undefined, options?: WriteOptions): Promise<T>
  /** A PUT that accepts an idempotency key. */
  putOnce<T>(path: string, body: object | undefined, options?: WriteOptions): Promise<T>
}

export function createCalls(send: Send): Calls {
  const read = (path: string, query: object, options: CallOptions, headers = {}) =>
    send(
      { method: 'GET', path: path + toQueryString(query), headers: { ...readHeaders(options), ...headers } },
      options,
    )

  const write =
    (method: 'POST' | 'PUT' | 'DELETE', isKeyed: boolean) =>
    async (path: string, body: object | undefined, options: WriteOptions = {}) => {
      const key = isKeyed ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined
      const headers = writeHeaders(options, key, body)
      return readData(await send({ method, path, headers, ...(body && { body: JSON.stringify(body) }) }, options))
    }

  return {
    list: <T>(path: string, query = {}, options = {}) =>
      new Paginator<T>(
        async cursor => {
          const { json } = await read(path, cursor === undefined ? query : { ...query, afterCursor: cursor }, options)
          return json as Page<T>
        },
        () => read(path, { ...query, ...withoutPaging }, options, { accept: 'application/x-ndjson' }),
      ),
    async get(path, query = {}, options = {}) {
      const answer = await read(path, query, options)
      return answer.status === 304 ? options.ifNoneMatch : readData(answer)
    },
    post: write('POST', true),
    put: write('PUT', false),
    delete: write('DELETE', false),
    putOnce: write('PUT', true),
  }
}

/** Removes the parameters that an export doesn't accept. */
const withoutPaging = { limit: undefined, afterCursor: undefined, wait: undefined }

/** Encodes a path segment. Throws if the text is empty or would change the path. */
export function segment(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`'${text}' can't be used as an identifier.`)
  return encodeURIComponent(text)
}

/** Options that are sent as headers. */
const headerNames = { voucherPin: 'x-voucher-pin', shopperIp: 'x-shopper-ip' }

function optionHeaders(options: object): Record<string, string> {
  const values = options as Record<string, string | undefined>
  return Object.fromEntries(
    Object.entries(headerNames).flatMap(([option, name]) =>
      values[option] === undefined ? [] : [[name, values[option]]],
    ),
  )
}

const readHeaders = (options: CallOptions) => ({
  ...optionHeaders(options),
  ...(options.ifNoneMatch && { 'if-none-match': getEtag(options.ifNoneMatch) }),
  ...(options.strict && { prefer: 'handling=strict' }),
})

const writeHeaders = (options: WriteOptions, key: string | undefined, body: object | undefined) => ({
  ...optionHeaders(options),
  ...(body && { 'content-type': 'application/json' }),
  ...(key && { 'idempotency-key': key }),
  ...(options.ifMatch && { 'if-match': getEtag(options.ifMatch) }),
  ...(options.dryRun && { prefer: 'tx=rollback' }),
})

/** Returns a query string. `updatedAfter` becomes `updated_after`, and a `Date` becomes RFC 3339. */
function toQueryString(query: object): string {
  const values = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined)
      values.set(
        name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
        value instanceof Date ? value.toISOString() : String(value),
      )
  return values.size ? `?${values}` : ''
}
