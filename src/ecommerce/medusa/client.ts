import { PlatformFailure } from '../../domain/ecommerce/platform-failure.ts'
import { checkAvailability, exchangeGuarded, retryTransient, TransientFailure } from '../http/attempts.ts'
import type { JsonResponse } from '../http/exchange.ts'
import type { CallLog } from '../port/platform.ts'

/** Sends requests to the Admin API of one Medusa. */
export interface MedusaClient {
  /** Reads. Throws `PlatformFailure`. Repeats a request after a transient failure. */
  get<T>(path: string, query: Query, signal: AbortSignal): Promise<T>
  /** Writes once: Medusa has no idempotency keys. Throws `MedusaRejection`, or `PlatformFailure` if the outcome is unknown. */
  post<T>(path: string, body: object, signal: AbortSignal): Promise<T>
}

/** The fields of a query. An array repeats its field. */
export type Query = Readonly<Record<string, string | number | readonly string[]>>

/** Medusa rejected a request. `code` is its type of error, such as `not_found`. Nothing was changed. */
export class MedusaRejection extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

interface ErrorBody {
  type?: string
  message?: string
}

export function createMedusaClient({ url, secret, log }: { url: string; secret: string; log: CallLog }): MedusaClient {
  const headers = { accept: 'application/json', authorization: `Basic ${Buffer.from(`${secret}:`).toString('base64')}` }

  /** Sends a request once. Throws `PlatformFailure` if it has no result. A rejected request is a result. */
  async function attempt(method: 'GET' | 'POST', target: URL, body: object | undefined, signal: AbortSignal) {
    const response = await exchangeGuarded({
      method,
      url: target,
      headers: body ? { ...headers, 'content-type': 'application/json' } : headers,
      ...(body && { body: JSON.stringify(body) }),
      signal,
    })
    checkAccess(response)
    checkAvailability(response)
    if (response.status === 409) throw new TransientFailure('The platform returned status 409.')
    return response
  }

  return {
    get<T>(path: string, query: Query, signal: AbortSignal) {
      const target = new URL(path, url)
      for (const [name, value] of Object.entries(query))
        for (const text of Array.isArray(value) ? value : [value]) target.searchParams.append(name, String(text))
      const read = async () => {
        const response = await attempt('GET', target, undefined, signal)
        if (response.status !== 200) throw toFailure(response)
        return toBody<T>(response)
      }
      return retryTransient(read, { facts: { path }, log, signal })
    },
    async post<T>(path: string, body: object, signal: AbortSignal) {
      const response = await attempt('POST', new URL(path, url), body, signal)
      if (response.status === 200) return toBody<T>(response)
      const { type, message = '' } = (response.body ?? {}) as ErrorBody
      // An error without a type is not from Medusa, but from a proxy in front of it.
      if (rejectedStatuses.includes(response.status) && type !== undefined) throw new MedusaRejection(type, message)
      throw toFailure(response)
    },
  }
}

const rejectedStatuses = [400, 404, 422]

function checkAccess({ status }: JsonResponse): void {
  if (status === 401) throw new PlatformFailure('denied', 'The platform rejected the secret API key.')
  if (status === 403) throw new PlatformFailure('scope', "The secret API key doesn't permit this.")
}

const maxMessageLength = 300

function toFailure({ status, body }: JsonResponse): PlatformFailure {
  const { message } = (body ?? {}) as ErrorBody
  return new PlatformFailure(
    'invalid',
    message === undefined
      ? `The platform returned status ${status}, which is not a result.`
      : `The platform rejected the call: ${message.slice(0, maxMessageLength)}`,
  )
}

function toBody<T>({ body }: JsonResponse): T {
  if (typeof body === 'object' && body !== null) return body as T
  throw new PlatformFailure('invalid', 'The response is not JSON.')
}
