import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { cutOff } from '../faults/cut.ts'
import { createFaults } from '../faults/faults.ts'
import { makeClock } from '../shop/clock.ts'
import { randomFor } from '../shop/random.ts'
import { createBucket } from './bucket.ts'
import { applyShopifyChange } from './changes.ts'
import { handleShopifyControl } from './control.ts'
import {
  checkRequest,
  computeActualCost,
  executeRequest,
  type GraphqlRequest,
  getOperationName,
  openVersion,
  toBulkLines,
} from './execute.ts'
import { readShopifyFault, type ShopifyFault } from './fault.ts'
import type { ShopifyCall, ShopifySimulator } from './handle.ts'
import { changeShopifySettings, defaultShopifySettings, type ShopifySettings } from './settings.ts'
import { createShop, type Size } from './state.ts'
import { deliverEvent } from './webhooks.ts'
import type { RequestContext, ShopifyWorld } from './world.ts'

export interface ShopifySimulatorOptions {
  /** Default: a free port. */
  port?: number
  host?: string
  seed?: string
  size?: Partial<Size>
  now?: string
  settings?: Partial<ShopifySettings>
}

export const defaultSize: Size = { locations: 3, variants: 40, customers: 20 }

const maxRequestPoints = 1_000
const maxCalls = 5_000
const maxBody = 10 * 1024 * 1024

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request) {
    size += part.length
    if (size > maxBody) throw new RangeError('The body is too large')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
  response.end(JSON.stringify(body))
}

/** Starts a simulated shop. Resolves when it accepts requests. */
export async function startShopifySimulator(options: ShopifySimulatorOptions = {}): Promise<ShopifySimulator> {
  const { host = '127.0.0.1' } = options
  const size = { ...defaultSize, ...options.size }
  const settings = structuredClone(defaultShopifySettings)
  changeShopifySettings(settings, options.settings ?? {})
  const clock = makeClock(() => settings.timeZone, options.now)
  const stopping = new AbortController()
  let seed = options.seed ?? '1'
  let shop = createShop(seed, size, clock.now())
  let random = randomFor(seed, 'shopify running')
  let luck = randomFor(seed, 'shopify faults')
  const faults = createFaults<ShopifyFault>(probability => luck.chance(probability), readShopifyFault)
  const bucket = createBucket(
    () => clock.now(),
    () => settings,
  )
  const calls: ShopifyCall[] = []
  const tokens = new Map<string, number>()
  let grantedTokens = 0
  let origin = ''
  const world: ShopifyWorld = {
    settings,
    get shop() {
      return shop
    },
    get random() {
      return random
    },
    get origin() {
      return origin
    },
    now: () => clock.now(),
    notify: (topic, payload) => deliverEvent(world, topic, payload, stopping.signal, () => takeFaults('events')),
  }

  function createContext(version: string, kinds: ReadonlySet<string>): RequestContext {
    const context: RequestContext = {
      world,
      version,
      faults: kinds,
      lists: {
        isBulk: false,
        isRepeated: kinds.has('page-repeated'),
        isShuffled: kinds.has('page-shuffled'),
        isFilterIgnored: kinds.has('filter-ignored'),
        hasForeignCursor: kinds.has('foreign-cursor'),
        random,
        warnings: [],
      },
      checkBulk(query) {
        const checked = checkRequest(version, { query, variables: {} })
        return 'errors' in checked ? checked.errors.map(({ message }) => message).join(', ') : undefined
      },
      runBulk(query) {
        const checked = checkRequest(version, { query, variables: {} })
        if ('errors' in checked) return { error: 'INTERNAL_SERVER_ERROR' }
        const bulk: RequestContext = { ...context, lists: { ...context.lists, isBulk: true } }
        const { data, errors } = executeRequest(checked.document, {}, bulk)
        return errors?.length ? { error: 'ACCESS_DENIED' } : toBulkLines(data)
      },
    }
    return context
  }

  function takeFaults(name: string): ShopifyFault[] {
    return faults.take('POST', `/${name}`)
  }

  /** Applies the faults of the transport. Returns true if the request is over. */
  async function applyTransportFaults(
    applied: readonly ShopifyFault[],
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    const find = (kind: ShopifyFault['kind']) => applied.find(fault => fault.kind === kind)
    if (find('reset-before')) {
      cutOff(request.socket)
      return true
    }
    const latency = find('latency')
    if (latency) await sleep((latency.seconds ?? 1) * 1_000, undefined, { signal: stopping.signal }).catch(() => {})
    const status = find('status')
    if (status) {
      response.writeHead(status.status ?? 502, { 'content-type': 'text/html' })
      response.end('<html><body>Bad gateway</body></html>')
      return true
    }
    if (find('too-many-requests')) {
      sendJson(response, 429, { errors: 'Exceeded the limit of requests per second.' }, { 'retry-after': '1' })
      return true
    }
    if (find('token-rejected')) {
      rejectToken(response)
      return true
    }
    return response.destroyed
  }

  const rejectToken = (response: ServerResponse) =>
    sendJson(response, 401, {
      errors: '[API] Invalid API key or access token (unrecognized login or wrong password)',
    })

  async function grantToken(request: IncomingMessage, response: ServerResponse) {
    const text = await readBody(request)
    const isJson = String(request.headers['content-type']).startsWith('application/json')
    const form: Record<string, unknown> = isJson ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text))
    const applied = takeFaults('oauth')
    if (await applyTransportFaults(applied, request, response)) return
    if (form.grant_type !== 'client_credentials') return sendJson(response, 400, { error: 'unsupported_grant_type' })
    if (form.client_id !== settings.clientId || form.client_secret !== settings.clientSecret)
      return sendJson(response, 400, { error: 'application_cannot_be_found' })
    const token = `shpat_${randomBytes(16).toString('hex')}`
    grantedTokens++
    tokens.set(token, clock.now() + settings.tokenSeconds * 1_000)
    sendJson(response, 200, {
      access_token: token,
      scope: settings.scopes.join(','),
      expires_in: settings.tokenSeconds,
    })
  }

  async function handleGraphql(request: IncomingMessage, response: ServerResponse, requested: string) {
    const body = JSON.parse(await readBody(request)) as Partial<GraphqlRequest>
    const graphql: GraphqlRequest = { query: String(body.query ?? ''), variables: body.variables ?? {} }
    // An unsupported version falls forward to the oldest supported one.
    const version = settings.versions.includes(requested) ? requested : (settings.versions[0] ?? requested)
    const headers = { 'x-shopify-api-version': version, 'x-request-id': randomBytes(8).toString('hex') }
    const checked = checkRequest(version, graphql)
    const operation = 'errors' in checked ? 'invalid' : getOperationName(checked.document)
    const applied = takeFaults(operation)
    const kinds = new Set<string>(applied.map(({ kind }) => kind))
    const call: ShopifyCall = {
      at: clock.now(),
      operation,
      version,
      variables: graphql.variables,
      status: null,
      requestedCost: 'errors' in checked ? 0 : checked.cost,
      actualCost: 0,
      isThrottled: false,
      errors: [],
      faults: [...kinds],
    }
    calls.push(call)
    if (calls.length > maxCalls) calls.splice(0, calls.length - maxCalls)
    if (await applyTransportFaults(applied, request, response)) {
      call.status = response.headersSent ? response.statusCode : null
      return
    }
    const expiry = tokens.get(String(request.headers['x-shopify-access-token'] ?? ''))
    if (expiry === undefined || expiry <= clock.now()) {
      call.status = 401
      return rejectToken(response)
    }
    call.status = 200
    if ('errors' in checked) {
      call.errors = checked.errors.map(({ message }) => message)
      return sendJson(response, 200, { errors: checked.errors }, headers)
    }
    const { cost, document } = checked
    const reply = (result: object, actualQueryCost: number | null) => {
      if (kinds.has('lost-response')) {
        call.status = null
        return cutOff(request.socket)
      }
      const throttleStatus = bucket.status()
      const extensions = {
        ...(searchNotes.length && { search: searchNotes }),
        cost: { requestedQueryCost: cost, actualQueryCost, throttleStatus },
      }
      sendJson(response, 200, { ...result, extensions }, headers)
    }
    const searchNotes: object[] = []
    if (cost > maxRequestPoints)
      return reply(
        {
          errors: [
            {
              message: `Query cost is ${cost}, which exceeds the single query max cost limit (1000).`,
              extensions: { code: 'MAX_COST_EXCEEDED', cost, maxCost: maxRequestPoints },
            },
          ],
        },
        null,
      )
    if (kinds.has('throttled') || !bucket.take(cost)) {
      call.isThrottled = true
      return reply({ errors: [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }] }, null)
    }
    const context = createContext(version, kinds)
    const { data, errors } = executeRequest(document, graphql.variables, context)
    searchNotes.push(...context.lists.warnings)
    const isMutation = document.definitions.some(
      definition => 'operation' in definition && definition.operation === 'mutation',
    )
    const charged = isMutation ? cost : computeActualCost(cost, data)
    bucket.refund(cost - charged)
    call.actualCost = charged
    call.errors = errors?.map(({ message }) => message) ?? []
    reply({ data: data ?? null, ...(errors?.length && { errors: errors.map(error => error.toJSON()) }) }, charged)
  }

  async function sendBulkFile(request: IncomingMessage, response: ServerResponse, id: number) {
    const operation = shop.bulkOperations.get(id)
    const applied = takeFaults('bulk-file')
    if (await applyTransportFaults(applied, request, response)) return
    if (operation?.status !== 'COMPLETED' || applied.some(({ kind }) => kind === 'bulk-expired')) {
      response.writeHead(403, { 'content-type': 'application/xml' })
      return response.end('<Error><Code>ExpiredToken</Code></Error>')
    }
    const isHalf = applied.some(({ kind }) => kind === 'bulk-half')
    const lines = isHalf ? operation.lines.slice(0, Math.floor(operation.lines.length / 2)) : operation.lines
    response.writeHead(200, { 'content-type': 'application/jsonl' })
    for (let at = 0; at < lines.length; at += 1_000) {
      if (!response.write(`${lines.slice(at, at + 1_000).join('\n')}\n`)) await once(response, 'drain')
      if (response.destroyed) return
    }
    response.end()
  }

  const server = createServer({ keepAliveTimeout: 30_000, requestTimeout: 0 }, async (request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?')
    const api = /^\/admin\/api\/(\d{4}-\d{2}|unstable)\/graphql\.json$/.exec(path)
    const bulk = /^\/bulk\/(\d+)\.jsonl$/.exec(path)
    try {
      if (/^\/_simulator(\/|$)/.test(path))
        await handleShopifyControl(simulator, request, response, await readBody(request))
      else if (request.method === 'POST' && path === '/admin/oauth/access_token') await grantToken(request, response)
      else if (request.method === 'POST' && api) await handleGraphql(request, response, api[1] ?? '')
      else if (request.method === 'GET' && bulk) await sendBulkFile(request, response, Number(bulk[1]))
      else sendJson(response, 404, { errors: 'Not Found' })
    } catch (error) {
      if (response.destroyed || stopping.signal.aborted) return
      // A defect of the simulator must not look like a response of the API.
      console.error(error)
      response.statusCode = 500
      response.end('The simulator failed.')
    }
  })
  for (const version of settings.versions) openVersion(version)
  server.listen(options.port ?? 0, host)
  await once(server, 'listening')
  origin = `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`

  const simulator: ShopifySimulator = {
    url: origin,
    controlUrl: `${origin}/_simulator`,
    get shop() {
      return shop
    },
    settings,
    calls,
    get grantedTokens() {
      return grantedTokens
    },
    faults,
    clock,
    set: changes => changeShopifySettings(settings, changes),
    change: change => applyShopifyChange(world, change),
    revokeTokens: () => tokens.clear(),
    reset(otherSeed = seed) {
      seed = otherSeed
      clock.reset()
      if (options.now !== undefined) clock.set(options.now)
      changeShopifySettings(settings, { ...structuredClone(defaultShopifySettings), ...options.settings })
      faults.clear()
      calls.length = 0
      bucket.fill()
      shop = createShop(seed, size, clock.now())
      random = randomFor(seed, 'shopify running')
      luck = randomFor(seed, 'shopify faults')
    },
    async close() {
      stopping.abort()
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
  return simulator
}
