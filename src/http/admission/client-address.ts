import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import type { Origin } from '../../writes/write.ts'

/** Returns the origin of a request: the shopper that a trusted account reports in `X-Shopper-IP`, or else the caller. */
export function getOrigin(request: FastifyRequest): Origin {
  const { headers, assignment, username: account } = request
  const agent = headers['x-agent']
  // A malformed name is ignored, like a malformed `traceparent`.
  const isAgent = typeof agent === 'string' && /^[!-~]([ -~]{0,98}[!-~])?$/.test(agent)
  const apiKey = assignment?.apiKey?.name
  const caller = {
    address: getClientAddress(request),
    account,
    ...(isAgent && { agent }),
    ...(apiKey !== undefined && { apiKey }),
  }
  const shopperIp = headers['x-shopper-ip']
  if (shopperIp === undefined) return caller
  const network = toNetwork(String(shopperIp))
  if (network === undefined) {
    const detail = '`X-Shopper-IP` must be one IP address.'
    throwIfAny([{ parameter: 'X-Shopper-IP', code: 'invalid_parameter', detail }])
  }
  return network !== undefined && account !== undefined && assignment?.trustsShopperIp
    ? { ...caller, address: network, reportedBy: account }
    : caller
}

/** Returns the address by which failures of a caller are counted. Trusted proxies report it; some append the port. */
export function getClientAddress(request: Pick<FastifyRequest, 'ip'>): string {
  // Fastify's types don't show it: the address of a closed connection is undefined.
  const { ip = '' } = request as { ip?: string }
  return toNetwork(ip.replace(/^\[([^\]]*)\](:\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')) ?? ip
}

/** Returns an IPv4 address, or the /64 network of an IPv6 address, because its user can choose any address in it. Undefined if invalid. */
function toNetwork(text: string): string | undefined {
  if (isIP(text) === 4) return text
  if (isIP(text) !== 6 || text.includes('%')) return
  const address = new URL(`https://[${text}]`).hostname.slice(1, -1)
  // An IPv4 address that is written as an IPv6 address.
  const [, high, low] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(address) ?? []
  if (high !== undefined && low !== undefined)
    return [high, low].flatMap(group => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join('.')
  const [before = '', after = ''] = address.split('::')
  const [head, tail] = [before, after].map(part => part.split(':').filter(Boolean)) as [string[], string[]]
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail].slice(0, 4).join(':')
}
