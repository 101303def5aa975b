import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Thrown if a URL isn't allowed. The message explains why, for the person who chose the URL. */
export class AddressNotAllowed extends Error {}

/** Returns the current IP addresses of a name. Throws if it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>

/** Allows deliveries to public addresses, and to networks that the installation allows (`WEBHOOK_NETWORKS`). */
export interface AddressGuard {
  /** Checks the parts of a URL that need no DNS lookup. Throws `AddressNotAllowed`. */
  checkUrl(url: string): URL
  /** Returns the addresses of a URL's host. Throws `AddressNotAllowed` if one of them isn't allowed. */
  resolve(url: URL): Promise<readonly string[]>
}

const httpsRequired = '`url` must begin with `https://`, unless its host is in `WEBHOOK_NETWORKS`.'

/** Creates a guard. `networks`: allowed networks in CIDR notation, or single IP addresses. */
export function createAddressGuard(networks: readonly string[], resolve: Resolve = resolveByNameServers): AddressGuard {
  const allowed = networks.map(parseNetwork)
  const isAllowed = (address: Address) =>
    allowed.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))

  const checkAddress = (text: string, isPlainHttp: boolean) => {
    const address = unwrapIPv4(ipaddr.parse(text))
    if (isAllowed(address)) return
    if (isPlainHttp) throw new AddressNotAllowed(httpsRequired)
    if (!isPublic(address))
      throw new AddressNotAllowed('`url` must have a host with a public address, or one in `WEBHOOK_NETWORKS`.')
  }

  return {
    checkUrl(text) {
      const url = URL.canParse(text) ? new URL(text) : undefined
      const isPlainHttp = url?.protocol === 'http:'
      if (!url || (url.protocol !== 'https:' && !(isPlainHttp && allowed.length)))
        throw new AddressNotAllowed(httpsRequired)
      if (url.username || url.password) throw new AddressNotAllowed("`url` can't contain a username or a password.")
      if (url.hash) throw new AddressNotAllowed("`url` can't have a fragment, because it would not be sent.")
      if (!isAllowedPort(url)) throw new AddressNotAllowed('`url` must have the port 80, 443, or one from 1024.')
      const host = getHost(url)
      if (isIP(host)) checkAddress(host, isPlainHttp)
      return url
    },
    async resolve(url) {
      const host = getHost(url)
      const addresses = isIP(host) ? [host] : isLocal(host) ? loopbackAddresses : await resolve(host)
      for (const address of addresses) checkAddress(address, url.protocol === 'http:')
      return addresses
    },
  }
}

/** Returns the host: an IPv6 address without brackets, a name without a trailing dot. `new URL` has normalised addresses in other notations. */
export const getHost = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

/** RFC 6761, section 6.3. */
const isLocal = (host: string) => /(^|\.)localhost$/.test(host)
const loopbackAddresses = ['127.0.0.1', '::1']

/** Other ports below 1024 belong to mail, shell and file services, to which HTTP must not be sent. */
const isAllowedPort = ({ port }: URL) => port === '' || port === '80' || port === '443' || Number(port) >= 1_024

type Address = ReturnType<typeof ipaddr.parse>

function parseNetwork(text: string): [Address, number] {
  const [address = '', bits] = text.split('/')
  const network = ipaddr.parse(address)
  return [network, bits === undefined ? (network.kind() === 'ipv4' ? 32 : 128) : Number(bits)]
}

/** Returns the IPv4 address that receives the packets of a mapped (RFC 4291) or translated (RFC 6052) IPv6 address. */
function unwrapIPv4(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  return address.match(wellKnownPrefix) ? ipaddr.fromByteArray(address.toByteArray().slice(12)) : address
}
const wellKnownPrefix = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/** True for a global unicast address. An IPv6 address must be in the allocated block (RFC 4291, section 2.4) and not in a tunnel. */
const isPublic = (address: Address) =>
  address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(allocatedPrefix))
const allocatedPrefix = ipaddr.IPv6.parseCIDR('2000::/3')

/** Creates a look-up of both address families. */
export const createResolve =
  (resolver: Resolver): Resolve =>
  async name => {
    const results = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = results.flatMap(result => (result.status === 'fulfilled' ? result.value : []))
    if (!addresses.length) throw new Error(`The name ${name} has no address.`)
    return addresses
  }

/**
 * Queries the machine's name servers for both address families at once. Unlike `dns.lookup` it uses no thread, so unanswered names
 * don't delay others. The hosts file isn't read.
 */
const resolveByNameServers: Resolve = name => createResolve(new Resolver({ timeout: 2_000, tries: 2 }))(name)
