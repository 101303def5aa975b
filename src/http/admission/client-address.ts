import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import type { Origin } from '../../writes/write.ts'

/** Where a request comes from: the shopper whom a trusted account names; else the caller. */
export function originOf(request: FastifyRequest): Origin {
  const { headers, assignment, username: account } = request
  const own = { address: callerOf(request), account }
  const named = headers['x-shopper-ip']
  if (named === undefined) return own
  const network = networkOf(String(named))
  if (network === undefined) {
    const detail = '`X-Shopper-IP` must be one IP address.'
    throwIfAny([{ parameter: 'X-Shopper-IP', code: 'invalid_parameter', detail }])
  }
  return network !== undefined && account !== undefined && assignment?.trustsShopperIp
    ? { address: network, account, namedBy: account }
    : own
}

/** What the failures of a caller are counted by, as told by a trusted proxy where there is one: some write the port behind the address. */
export function callerOf(request: Pick<FastifyRequest, 'ip'>): string {
  // Fastify's types do not say so: of a connection that has ended nobody knows where it came from.
  const { ip = '' } = request as { ip?: string }
  return networkOf(ip.replace(/^\[([^\]]*)\](:\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')) ?? ip
}

/** An address in one way of writing it; of IPv6 the network (/64), whose addresses a shopper may choose from. Undefined: it is none. */
function networkOf(text: string): string | undefined {
  if (isIP(text) === 4) return text
  if (isIP(text) !== 6 || text.includes('%')) return
  const address = new URL(`https://[${text}]`).hostname.slice(1, -1)
  const [, high, low] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(address) ?? []
  if (high !== undefined && low !== undefined)
    return [high, low].flatMap(group => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join('.')
  const [before = '', after = ''] = address.split('::')
  const [head, tail] = [before, after].map(part => part.split(':').filter(Boolean)) as [string[], string[]]
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail].slice(0, 4).join(':')
}
