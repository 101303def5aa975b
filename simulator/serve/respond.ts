import { timingSafeEqual } from 'node:crypto'
import { buildRootPage } from '../api/root.ts'
import { routes } from '../api/routes.ts'
import { createRejection, RejectedRequest } from '../http/errors.ts'
import { parsePayloadVersion, readQuery } from '../http/request.ts'
import { type ApiResponse, respondFailure, respondRejected } from '../http/responses.ts'
import { createRouter } from '../http/router.ts'
import type { Country, Settings } from '../world/settings.ts'
import type { World } from '../world/world.ts'
import { type Payload, readPayload } from '../xml/payload.ts'

export interface ReceivedRequest {
  method: string
  /** The path below the base. */
  path: string
  search: string
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: Buffer
  root: string
}

const route = createRouter(routes)

function isAuthorized({ credentials }: Settings, authorization: unknown): boolean {
  if (!credentials) return true
  const expected = Buffer.from(`Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`)
  const decoded = Buffer.from(typeof authorization === 'string' ? authorization : '')
  return decoded.length === expected.length && timingSafeEqual(decoded, expected)
}

function requireCountry({ countries, missingCountryCode }: Settings, code: string | undefined): Country {
  if (!code)
    throw createRejection(missingCountryCode.code, {
      status: missingCountryCode.status,
      detail: 'countryCode is missing',
    })
  const country = countries.find(other => other.code.toLowerCase() === code.toLowerCase())
  if (!country) throw createRejection(5029, { detail: code })
  if (country.problem !== undefined) throw createRejection(country.problem)
  return country
}

function parsePayload({ headers, body }: ReceivedRequest): Payload {
  const type = String(headers['content-type'] ?? '')
  if (!/^(text|application)\/xml\s*(;|$)/i.test(type)) throw createRejection(5122)
  try {
    return readPayload(body.toString('utf8').replace(/^\uFEFF/, ''))
  } catch (error) {
    throw createRejection(5121, { detail: error instanceof Error ? error.message : String(error) })
  }
}

/** Returns the API's response, without faults. */
export function respond(
  received: ReceivedRequest,
  world: World,
  paging: { samePage?: boolean; shuffled?: boolean },
): ApiResponse {
  const { settings } = world
  const { method, headers } = received
  if (!isAuthorized(settings, headers.authorization))
    return respondFailure(401, { 'www-authenticate': 'Basic realm="RetailAPI"' })
  const path = received.path.replace(/\/+$/, '')
  if (path === '') return method === 'GET' ? buildRootPage(world) : respondFailure(405)
  const match = route(method, path, settings.release)
  if (match === 404 || match === 405) return respondFailure(match)
  try {
    const version = parsePayloadVersion(String(headers.accept ?? ''))
    if (version < 1 || version > 4) throw createRejection(5045)
    const query = readQuery(received.search)
    const country = requireCountry(settings, query('countryCode'))
    const parameters = match.parameters
    const payload = () => parsePayload(received)
    return match.handle(
      { method, path, query, parameters, version, country, root: received.root, payload, paging },
      world,
    )
  } catch (error) {
    if (error instanceof RejectedRequest) return respondRejected(error)
    throw error
  }
}
