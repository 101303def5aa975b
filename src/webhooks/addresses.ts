import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Thrown if a URL isn't allowed. The message explains why, for the person who chose the URL. */
export class AddressNotAllowed extends Error {}

/** All addresses that a name has now. Throws where it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>

/** Which addresses deliveries may go to: public ones, and those in networks that the installation allows (`WEBHOOK_NETWORKS`). */
export interface AddressGuard {
  /** Checks the parts of a URL that need no DNS lookup. Throws `AddressNotAllowed`. */
  judge(url: string): URL
  /** The addresses of a URL's host, each of which may be connected to. Throws `AddressNotAllowed` where one may not. */
  of(url: URL): Promise<readonly string[]>
}

export function createAddressGuard(networks: readonly string[], resolve: Resolve = ofMachine): AddressGuard {
  const allowed = networks.map(networkFrom)
  const isAllowed = (address: Address) =>
    allowed.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))

  const judgeAddress = (text: string, isPlain: boolean) => {
    const address = embedded(ipaddr.parse(text))
    if (isAllowed(address)) return
    if (isPlain) throw new AddressNotAllowed('`url` begins with `https://`.')
    if (!isPublic(address)) throw new AddressNotAllowed(`The host of \`url\` leads to an address that is not public.`)
  }

  return {
    judge(text) {
      const url = URL.canParse(text) ? new URL(text) : undefined
      const isPlain = url?.protocol === 'http:'
      if (!url || (url.protocol !== 'https:' && !(isPlain && allowed.length)))
        throw new AddressNotAllowed('`url` begins with `https://`.')
      if (url.username || url.password) throw new AddressNotAllowed('`url` holds no username and no password.')
      if (url.hash) throw new AddressNotAllowed('`url` has no fragment: it would not be sent.')
      if (!fitPort(url)) throw new AddressNotAllowed('The port of `url` is that of HTTPS, or 1024 and above.')
      const host = getHost(url)
      if (isIP(host)) judgeAddress(host, isPlain)
      return url
    },
    async of(url) {
      const host = getHost(url)
      const found = isIP(host) ? [host] : isLocal(host) ? thisMachine : await resolve(host)
      for (const address of found) judgeAddress(address, url.protocol === 'http:')
      return found
    },
  }
}

/**
 * An address without its brackets; a name without the dot that may end it. `new URL` has turned addresses in other notations into the usual
 * one.
 */
export const getHost = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

/** RFC 6761, section 6.3. */
const isLocal = (host: string) => /(^|\.)localhost$/.test(host)
const thisMachine = ['127.0.0.1', '::1']

/** Ports below 1024 are those of mail, shells and file services, which HTTP must not be spoken to. */
const fitPort = ({ port }: URL) => port === '' || port === '80' || port === '443' || Number(port) >= 1_024

type Address = ReturnType<typeof ipaddr.parse>

function networkFrom(text: string): [Address, number] {
  const [address = '', bits] = text.split('/')
  const network = ipaddr.parse(address)
  return [network, bits === undefined ? (network.kind() === 'ipv4' ? 32 : 128) : Number(bits)]
}

/** The IPv4 address that an IPv6 one stands for, where packets to it end up there: mapped (RFC 4291), or translated (RFC 6052). */
function embedded(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  return address.match(wellKnownPrefix) ? ipaddr.fromByteArray(address.toByteArray().slice(12)) : address
}
const wellKnownPrefix = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/** Global unicast: of IPv6 only what has been given out (RFC 4291, section 2.4), and no tunnel to somewhere else. */
const isPublic = (address: Address) =>
  address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(givenOut))
const givenOut = ipaddr.IPv6.parseCIDR('2000::/3')

/** The addresses that a resolver returns. */
export const createResolve =
  (resolver: Resolver): Resolve =>
  async name => {
    const asked = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const found = asked.flatMap(each => (each.status === 'fulfilled' ? each.value : []))
    if (!found.length) throw new Error(`The name ${name} has no address.`)
    return found
  }

/**
 * Queries the machine's name servers for both address families at once. Unlike `dns.lookup` it uses no thread, so unanswered names
 * don't delay others. The hosts file isn't read.
 */
const ofMachine: Resolve = name => createResolve(new Resolver({ timeout: 2_000, tries: 2 }))(name)
