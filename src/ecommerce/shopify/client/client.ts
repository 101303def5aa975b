import { PlatformFailure } from '../../../domain/ecommerce/platform-failure.ts'
import type { PriorityClass, ThrottleStatus } from '../../../store/ecommerce/budget.ts'
import { checkAvailability, exchangeGuarded, retryTransient, TransientFailure } from '../../http/attempts.ts'
import type { JsonResponse } from '../../http/exchange.ts'
import type { Budget } from '../../port/budget.ts'
import type { CallLog } from '../../port/platform.ts'
import type { ShopifyOperation } from '../documents/documents.ts'
import type { Tokens } from './tokens.ts'

/** Sends operations to the Admin API of one shop. */
export interface ShopifyClient {
  /**
   * Throws `PlatformFailure`. Repeats a call after a transient failure: all operations here can run twice. `isReserved`: the points
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
    // If no response arrives, the points stay reserved: the platform can have charged them.
    const response = await exchangeGuarded({
      method: 'POST',
      url: endpoint,
      headers: { 'content-type': 'application/json', accept: 'application/json', 'x-shopify-access-token': token },
      body: JSON.stringify({ query: document, variables }),
      signal,
    })
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
    checkAvailability(response)
    checkStatus(response)
    checkErrors(body)
    checkVersion(response, apiVersion)
    return body.data as T
  }

  return {
    reserve: ({ cost }, signal) => budget.reserve(priority, cost, signal),
    release: ({ cost }) => budget.settle(priority, { unused: cost }),
    send<T>(operation: ShopifyOperation, variables: object, signal: AbortSignal, { isReserved = false } = {}) {
      let isFirst = true
      let isDenied = false
      const run = async (): Promise<T> => {
        const hasPoints = isReserved && isFirst
        isFirst = false
        try {
          return await attempt<T>(operation, variables, signal, hasPoints)
        } catch (error) {
          // A token can be revoked before it expires. The second one decides.
          if (!(error instanceof PlatformFailure) || error.kind !== 'denied' || isDenied) throw error
          isDenied = true
          return run()
        }
      }
      return retryTransient(run, { facts: { operation: operation.name }, log, signal })
    },
  }
}

function checkStatus({ status, body }: JsonResponse): void {
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
  if (isThrottled(body)) throw new TransientFailure('The platform throttled the call.', 1_000)
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
