import { timingSafeEqual } from 'node:crypto'
import { rootPage } from '../api/root.ts'
import { routes } from '../api/routes.ts'
import { type Answer, failure, rejected } from '../http/answers.ts'
import { createRejection, RejectedRequest } from '../http/errors.ts'
import { payloadVersion, readQuery } from '../http/request.ts'
import { router } from '../http/router.ts'
import type { Country, Settings } from '../world/settings.ts'
import type { World } from '../world/world.ts'
import { type Payload, readPayload } from '../xml/payload.ts'

export interface Received {
  method: string
  /** Below the base. */
  path: string
  search: string
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: Buffer
  root: string
}

const route = router(routes)

function mayEnter({ credentials }: Settings, authorization: unknown): boolean {
  if (!credentials) return true
  const expected = Buffer.from(`Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`)
  const decoded = Buffer.from(typeof authorization === 'string' ? authorization : '')
  return decoded.length === expected.length && timingSafeEqual(decoded, expected)
}

function countryOf({ countries, missingCountryCode }: Settings, code: string | undefined): Country {
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

function payloadOf({ headers, body }: Received): Payload {
  const type = String(headers['content-type'] ?? '')
  if (!/^(text|application)\/xml\s*(;|$)/i.test(type)) throw createRejection(5122)
  try {
    return readPayload(body.toString('utf8').replace(/^\uFEFF/, ''))
  } catch (error) {
    throw createRejection(5121, { detail: error instanceof Error ? error.message : String(error) })
  }
}

/** Returns the response of the API, without faults. */
export function respond(received: Received, world: World, paging: { samePage?: boolean; shuffled?: boolean }): Answer {
  const { settings } = world
  const { method, headers } = received
  if (!mayEnter(settings, headers.authorization)) return failure(401, { 'www-authenticate': 'Basic realm="RetailAPI"' })
  const path = received.path.replace(/\/+$/, '')
  if (path === '') return method === 'GET' ? rootPage(world) : failure(405)
  const match = route(method, path, settings.release)
  if (match === 404 || match === 405) return failure(match)
  try {
    const version = payloadVersion(String(headers.accept ?? ''))
    if (version < 1 || version > 4) throw createRejection(5045)
    const query = readQuery(received.search)
    const country = countryOf(settings, query('countryCode'))
    const parameters = match.parameters
    const payload = () => payloadOf(received)
    return match.handle(
      { method, path, query, parameters, version, country, root: received.root, payload, paging },
      world,
    )
  } catch (error) {
    if (error instanceof RejectedRequest) return rejected(error)
    throw error
  }
}
