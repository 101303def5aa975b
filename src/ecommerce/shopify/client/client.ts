import { setTimeout as delay } from 'node:timers/promises'
import { withJitter } from '../../../concurrency/backoff.ts'
import { PlatformFailure } from '../../../domain/ecommerce/platform-failure.ts'
import { parseRetryAfterMs } from '../../../http-client/retry-after.ts'
import type { PriorityClass, ThrottleStatus } from '../../../store/ecommerce/budget.ts'
import { getBreaker } from '../../http/breakers.ts'
import { exchange, type JsonResponse } from '../../http/exchange.ts'
import type { Budget } from '../../port/budget.ts'
import type { CallLog } from '../../port/platform.ts'
import type { ShopifyOperation } from '../documents/documents.ts'
import type { Tokens } from './tokens.ts'

/** Sends operations to the Admin API of one shop. */
export interface ShopifyClient {
  /**
   * Throws `PlatformFailure`. Repeats a call that failed for a passing reason: all operations here can run twice. `isReserved`: the points
   * of the first attempt are reserved already.
   */
  send<T>(
    operation: ShopifyOperation,
    variables: object,
    signal: AbortSignal,
    options?: { isReserved?: boolean },
  ): Promise<T>
  /** Reserves the points of a call that follows. */
  reserve(operation: ShopifyOperation, signal: AbortSignal): Promise<void>
  /** Returns the points of a call that was not made. */
  release(operation: ShopifyOperation): Promise<void>
}

interface ClientOptions {
  url: string
  apiVersion: string
  tokens: Tokens
  budget: Budget
  priority: PriorityClass
  log: CallLog
}

interface GraphqlError {
  message?: string
  extensions?: { code?: string }
}

interface GraphqlBody {
  data?: unknown
  errors?: GraphqlError[] | string
  extensions?: {
    cost?: { actualQueryCost?: number | null; throttleStatus?: ThrottleStatus }
    search?: { warnings?: unknown[] }[]
  }
}

/** Milliseconds before each further attempt. */
const retryDelaysMs = [500, 2_000, 5_000, 15_000]

/** A failure that can pass: the call is repeated. */
class PassingFailure extends PlatformFailure {
  readonly waitMs: number | undefined

  constructor(message: string, waitMs?: number) {
    super('unavailable', message)
    this.waitMs = waitMs
  }
}

export function createShopifyClient({ url, apiVersion, tokens, budget, priority, log }: ClientOptions): ShopifyClient {
  const endpoint = new URL(`/admin/api/${apiVersion}/graphql.json`, url)

  async function attempt<T>(
    { document, cost }: ShopifyOperation,
    variables: object,
    signal: AbortSignal,
    isReserved: boolean,
  ): Promise<T> {
    const token = await tokens.get(signal)
    if (!isReserved) await budget.reserve(priority, cost, signal)
    const breaker = getBreaker(endpoint.origin)
    const waitMs = breaker.enter()
    if (waitMs > 0) throw new PassingFailure('The circuit breaker is open.', waitMs)
    // If no response arrives, the points stay reserved: the platform can have charged them.
    const response = await exchange({
      method: 'POST',
      url: endpoint,
      headers: { 'content-type': 'application/json', accept: 'application/json', 'x-shopify-access-token': token },
      body: JSON.stringify({ query: document, variables }),
      signal,
    }).catch(error => {
      if (!(error instanceof PlatformFailure)) {
        breaker.onIgnored()
        throw error
      }
      breaker.onFailure()
      throw new PassingFailure(error.message)
    })
    if (response.status >= 500) breaker.onFailure()
    else breaker.onSuccess()
    const body = (response.body ?? {}) as GraphqlBody
    const { actualQueryCost, throttleStatus } = body.extensions?.cost ?? {}
    await budget.settle(priority, {
      unused: cost - (actualQueryCost ?? 0),
      status: throttleStatus,
      isThrottled: response.status === 429 || isThrottled(body),
    })
    if (response.status === 401) {
      await tokens.discard(token)
      throw new PlatformFailure('denied', 'The platform rejected the access token.')
    }
    checkStatus(response)
    checkErrors(body)
    checkVersion(response, apiVersion)
    return body.data as T
  }

  return {
    reserve: ({ cost }, signal) => budget.reserve(priority, cost, signal),
    release: ({ cost }) => budget.settle(priority, { unused: cost }),
    async send(operation, variables, signal, { isReserved = false } = {}) {
      let isDenied = false
      for (let retry = 0; ; retry++) {
        try {
          return await attempt(operation, variables, signal, isReserved && retry === 0 && !isDenied)
        } catch (error) {
          signal.throwIfAborted()
          const delayMs = retryDelaysMs[retry]
          // A token can be revoked before it expires. The second one decides.
          if (error instanceof PlatformFailure && error.kind === 'denied' && !isDenied) isDenied = true
          else if (!(error instanceof PassingFailure) || delayMs === undefined) throw error
          else {
            log.warn({ operation: operation.name, detail: error.message }, 'platform call failed, will retry')
            await delay(withJitter(error.waitMs ?? delayMs), undefined, { signal })
          }
        }
      }
    },
  }
}

function checkStatus({ status, headers, body }: JsonResponse): void {
  if (status === 429)
    throw new PassingFailure(
      'The platform limits requests.',
      parseRetryAfterMs(headers.get('retry-after') ?? undefined),
    )
  if (status >= 500) throw new PassingFailure(`The platform returned status ${status}.`)
  if (status === 402 || status === 423) throw new PlatformFailure('unavailable', 'The shop is frozen or locked.')
  if (status !== 200 || typeof body !== 'object' || body === null)
    throw new PlatformFailure('invalid', `The platform returned status ${status}, which is not a result.`)
}

const maxMessageLength = 300

const listErrors = ({ errors }: GraphqlBody): GraphqlError[] =>
  typeof errors === 'string' ? [{ message: errors }] : (errors ?? [])

const isThrottled = (body: GraphqlBody) => listErrors(body).some(({ extensions }) => extensions?.code === 'THROTTLED')

function checkErrors(body: GraphqlBody): void {
  const { data, extensions } = body
  if (isThrottled(body)) throw new PassingFailure('The platform throttled the call.', 1_000)
  const list = listErrors(body)
  const [first] = list
  if (first) {
    const message = (first.message ?? 'unknown').slice(0, maxMessageLength)
    throw new PlatformFailure(
      list.some(error => error.extensions?.code === 'ACCESS_DENIED') ? 'scope' : 'invalid',
      `The platform rejected the call: ${message}`,
    )
  }
  if (extensions?.search?.some(({ warnings = [] }) => warnings.length))
    throw new PlatformFailure('invalid', 'The platform ignored an unknown filter.')
  if (typeof data !== 'object' || data === null) throw new PlatformFailure('invalid', 'The response has no data.')
}

/** A version that is no longer supported is served by another one, whose fields can have another meaning. */
function checkVersion({ headers }: JsonResponse, apiVersion: string): void {
  const served = headers.get('x-shopify-api-version')
  if (served !== null && served !== apiVersion)
    throw new PlatformFailure(
      'invalid',
      `The platform no longer supports API version ${apiVersion}. Set a newer apiVersion.`,
    )
}
