import { Agent as PlainAgent } from 'node:http'
import { Agent } from 'node:https'
import type { LookupFunction } from 'node:net'
import { isIP } from 'node:net'
import { type AddressGuard, AddressNotAllowed, createAddressGuard, getHost, type Resolve } from './addresses.ts'
import { type Outcome, postOver } from './post.ts'

/** The way out to the endpoints of webhooks. */
export interface Sender {
  /** Returns why a URL isn't allowed, as far as can be checked now, or undefined if it is. */
  findRejection(url: string): Promise<string | undefined>
  /** A way to a URL over one connection, for as many deliveries as there are, one after the other. */
  openChannel(url: string): Channel
}

export interface Channel {
  url: string
  /** Delivers a body. Throws only if `signal` aborts. */
  post(body: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Outcome>
  close(): void
}

/** A sender that reaches public addresses, and those in networks that are allowed (`WEBHOOK_NETWORKS`). */
export function createSender(networks: readonly string[], resolve?: Resolve): Sender {
  const addresses = createAddressGuard(networks, resolve)
  return {
    async findRejection(text) {
      try {
        await addresses.of(addresses.judge(text))
      } catch (error) {
        // A name that has no address yet may have one by the time that something is sent.
        return error instanceof AddressNotAllowed ? error.message : undefined
      }
      return
    },
    openChannel: url => channelTo(addresses, url),
  }
}

/**
 * Addresses are looked up, checked and connected to in one step of each connection, so they can't change in between. Proxies of the
 * environment aren't used, and redirects aren't followed.
 */
function channelTo(addresses: AddressGuard, text: string): Channel {
  let agent: Agent | undefined
  return {
    url: text,
    async post(body, headers, signal) {
      try {
        const url = addresses.judge(text)
        const options = { keepAlive: true, maxSockets: 1, lookup: lookupBy(addresses, url) }
        agent ??= (url.protocol === 'https:' ? new Agent(options) : new PlainAgent(options)) as Agent
        return await postOver(agent, url, { body, headers }, signal)
      } catch (error) {
        if (!(error instanceof AddressNotAllowed)) throw error
        return { status: null, fault: error.message, response: '', milliseconds: 0 }
      }
    },
    close: () => agent?.destroy(),
  }
}

/** If the host is an IP address, Node.js doesn't look it up: `judge` has checked it. */
const lookupBy =
  (addresses: AddressGuard, url: URL): LookupFunction =>
  (name, { all }, callback) => {
    if (name.replace(/\.$/, '') !== getHost(url)) throw new Error('one channel leads to one host')
    addresses.of(url).then(
      found => {
        const told = found.map(address => ({ address, family: isIP(address) }))
        const [first] = told
        if (all) callback(null, told)
        else callback(null, first?.address ?? '', first?.family)
      },
      error => callback(error, ''),
    )
  }
