import { getRemedy } from './remedies.js'
import { t } from './text.js'

/**
 * @typedef {{ code: string, title: string, detail?: string, requestId?: string, status?: number, errors?: { pointer?: string, parameter?: string, detail: string }[] }} Problem
 * @typedef {{ method?: string, body?: unknown, headers?: Record<string, string>, signal?: AbortSignal }} RequestOptions `body`: a value to send as JSON, or a file, which is sent with its own type
 */

/** An error response, or a failed connection. */
export class ApiError extends Error {
  /** @param {Problem} problem @param {number} [retryAfterSeconds] */
  constructor(problem, retryAfterSeconds) {
    super(problem.title)
    this.problem = problem
    this.remedy = getRemedy(problem.code, retryAfterSeconds)
  }
}

/** The code of a failed connection, which no response has. */
const unreachable = 'unreachable'

/** True if the server didn't respond, so the same load can succeed later. @param {unknown} error */
export const isUnreachable = error => error instanceof ApiError && error.problem.code === unreachable

let service = ''
/** Selects the service of all later requests. @param {string} name */
export const selectService = name => {
  service = name
}

/** `onEnd` is called when a response says that the session has ended. @type {{ onEnd: (error: ApiError) => void }} */
export const session = { onEnd() {} }

const createConnectionError = (detail = t('Check your network. Screens load again when Tillbridge responds.')) =>
  new ApiError({ code: unreachable, title: t("Can't reach Tillbridge."), detail })

/**
 * Reports a failed import of a module as a failed connection. If the server responds, an upgrade has replaced the module: loads the page
 * again.
 * @template T @param {Promise<T>} module @returns {Promise<T>}
 */
export const connect = module =>
  module.catch(async cause => {
    if (!(cause instanceof TypeError)) throw cause
    const page = await fetch('console').catch(() => undefined)
    if (page?.ok && reloadOnce()) return new Promise(() => {})
    throw createConnectionError()
  })

const minReloadIntervalMs = 60_000

/** Loads the page again, unless it was loaded again a short time ago. */
function reloadOnce() {
  const now = Date.now()
  if (now - Number(sessionStorage.getItem('reloadedAt')) < minReloadIntervalMs) return false
  sessionStorage.setItem('reloadedAt', String(now))
  location.reload()
  return true
}

/**
 * Sends a request with the session's cookie for the selected service. Throws `ApiError` unless the response is a success.
 * @param {string} path of the API, with its query
 * @param {RequestOptions} options
 */
async function sendRequest(path, { method = 'GET', body, headers: extraHeaders = {}, signal }) {
  /** @type {Record<string, string>} */
  const headers = { accept: 'application/json', ...extraHeaders }
  if (service) headers['x-service-name'] ??= service
  const isFile = body instanceof Blob
  if (body !== undefined) headers['content-type'] = isFile ? body.type : 'application/json'
  if (method === 'POST' && service) headers['idempotency-key'] ??= crypto.randomUUID()
  /** @type {Response} */
  let response
  try {
    response = await fetch(path.replace(/^\//, ''), {
      method,
      headers,
      ...(body === undefined ? {} : { body: isFile ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })
  } catch (cause) {
    throw signal?.aborted ? cause : createConnectionError()
  }
  if (response.ok) return response
  const problem = await response.json().catch(() => undefined)
  const error = new ApiError(
    problem ?? { code: String(response.status), title: t('Unexpected response from the server') },
    Number(response.headers.get('retry-after')) || undefined,
  )
  if (error.problem.code === 'session_ended') session.onEnd(error)
  throw error
}

/** Sends a request to the API and returns the parsed response. Throws `ApiError`. @param {string} path of the API, with its query @param {RequestOptions} [options] */
export async function callApi(path, options = {}) {
  const response = await sendRequest(path, options)
  const { data, meta = {} } = await response.json().catch(() => ({}))
  return { data, meta, tag: response.headers.get('etag') }
}

/**
 * Loads a view of the OpenAPI document.
 * @param {'shop' | 'admin'} view @param {AbortSignal} signal
 */
export async function loadApiDocument(view, signal) {
  const response = await sendRequest(`/openapi.json?view=${view}`, { signal })
  return response.json()
}

/** Returns the record at a path, or undefined if it doesn't exist. @param {string} path @param {RequestOptions} [options] */
export const findRecord = (path, options) =>
  callApi(path, options).then(
    ({ data }) => data,
    error => {
      if (error instanceof ApiError && error.problem.code === 'not_found') return undefined
      throw error
    },
  )

/**
 * Loads the pages of a list one by one.
 * @param {string} path with its query
 * @param {AbortSignal} [signal]
 */
async function* loadPages(path, signal) {
  const options = signal ? { signal } : {}
  for (let cursor = null; ; ) {
    const page = await callApi(toPagePath(path, cursor), options)
    yield page
    if (!page.meta.hasNextPage) return
    cursor = page.meta.endCursor
  }
}

/** Loads all records of a list, with the list's warnings. @param {string} path with its query @param {AbortSignal} [signal] */
export async function loadAll(path, signal) {
  const pages = await Array.fromAsync(loadPages(path, signal))
  return { data: pages.flatMap(page => page.data), warnings: pages[0]?.meta.warnings ?? [] }
}

/**
 * Yields all records of a list in chunks, from one streamed response.
 * @param {string} path with its query
 * @param {AbortSignal} signal
 */
export async function* exportRecords(path, signal) {
  const { body } = await sendRequest(path, { headers: { accept: 'application/x-ndjson' }, signal })
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  let incomplete = ''
  while (reader) {
    const { value, done } = await reader.read().catch(cause => {
      throw signal.aborted ? cause : createConnectionError("The list couldn't be loaded completely. Try again.")
    })
    if (done) break
    const lines = (incomplete + value).split('\n')
    incomplete = lines.pop() ?? ''
    yield lines.filter(Boolean).map(line => JSON.parse(line))
  }
  if (incomplete) yield [JSON.parse(incomplete)]
}

/** Returns the path of one page of a list. @param {string} path @param {string | null} cursor @param {number} [limit] */
export function toPagePath(path, cursor, limit = 100) {
  const query = `limit=${limit}${cursor ? `&after_cursor=${encodeURIComponent(cursor)}` : ''}`
  return `${path}${path.includes('?') ? '&' : '?'}${query}`
}
