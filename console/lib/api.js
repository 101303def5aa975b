import { remedies } from 'tillbridge/remedies'

/**
 * @typedef {{ code: string, title: string, detail?: string, requestId?: string, status?: number, errors?: { pointer?: string, parameter?: string, detail: string }[] }} Problem
 * @typedef {{ method?: string, body?: unknown, headers?: Record<string, string>, signal?: AbortSignal }} Asking `body`: what is sent as JSON, or a file of the type that it has
 */

/** An answer that is no success, or that there was none. */
export class ApiError extends Error {
  /** @param {Problem} problem */
  constructor(problem) {
    super(problem.title)
    this.problem = problem
    /** What to do about it, by the catalogue of errors. */
    this.remedy = remedies[problem.code]
  }
}

let service = ''
/** Chooses the service that is asked from now on. @param {string} name */
export const selectService = name => {
  service = name
}

/** Told when the session has ended: the listener shows where to sign in. @type {{ ended: (refused: ApiError) => void }} */
export const session = { ended() {} }

const unreachable = (detail = 'Is it running? Try again.') =>
  new ApiError({ code: 'unreachable', title: 'Tillbridge cannot be reached.', detail })

/**
 * Sends a request as whoever is signed in, for the service that is chosen. Throws `Refused` where the answer is no success.
 * @param {string} path of the API, with its query
 * @param {Asking} asking
 */
async function sendRequest(path, { method = 'GET', body, headers = {}, signal }) {
  /** @type {Record<string, string>} */
  const sent = { accept: 'application/json', ...headers }
  if (service) sent['x-service-name'] = service
  const isFile = body instanceof Blob
  if (body !== undefined) sent['content-type'] = isFile ? body.type : 'application/json'
  if (method === 'POST' && service) sent['idempotency-key'] ??= crypto.randomUUID()
  /** @type {Response} */
  let response
  try {
    response = await fetch(path.replace(/^\//, ''), {
      method,
      headers: sent,
      ...(body === undefined ? {} : { body: isFile ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })
  } catch (cause) {
    throw signal?.aborted ? cause : unreachable()
  }
  if (response.ok) return response
  const answer = await response.json().catch(() => undefined)
  const refused = new ApiError(
    answer ?? { code: String(response.status), title: 'There was an answer that is not ours.' },
  )
  if (refused.problem.code === 'session_ended') session.ended(refused)
  throw refused
}

/** Asks the API. Throws `Refused`. @param {string} path of the API, with its query @param {Asking} [asking] */
export async function callApi(path, asking = {}) {
  const response = await sendRequest(path, asking)
  const answer = await response.json().catch(() => ({}))
  return { data: answer.data, meta: answer.meta ?? {}, tag: response.headers.get('etag') }
}

/** The data of a path; undefined where there is no such record. @param {string} path @param {Asking} [asking] */
export const findRecord = (path, asking) =>
  callApi(path, asking).then(
    answer => answer.data,
    error => {
      if (error instanceof ApiError && error.problem.code === 'not_found') return undefined
      throw error
    },
  )

/**
 * Each page of a list, from its first one.
 * @param {string} path with its query
 * @param {AbortSignal} [signal]
 */
export async function* loadPages(path, signal) {
  const asking = signal ? { signal } : {}
  for (let cursor = null; ; ) {
    const page = await callApi(toPagePath(path, cursor), asking)
    yield page
    if (!page.meta.hasNextPage) return
    cursor = page.meta.endCursor
  }
}

/**
 * All records of a list, some at a time as they come in one answer.
 * @param {string} path with its query
 * @param {AbortSignal} signal
 */
export async function* exportRecords(path, signal) {
  const { body } = await sendRequest(path, { headers: { accept: 'application/x-ndjson' }, signal })
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  while (reader) {
    const { value, done } = await reader.read().catch(cause => {
      throw signal.aborted ? cause : unreachable('The list broke off. Try again.')
    })
    if (done) break
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    yield lines.filter(Boolean).map(line => JSON.parse(line))
  }
  if (rest) yield [JSON.parse(rest)]
}

/** The path of a page of a list. @param {string} path @param {string | null} cursor @param {number} [limit] */
export function toPagePath(path, cursor, limit = 100) {
  const query = `limit=${limit}${cursor ? `&after_cursor=${encodeURIComponent(cursor)}` : ''}`
  return `${path}${path.includes('?') ? '&' : '?'}${query}`
}
