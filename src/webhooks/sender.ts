import { Agent as PlainAgent } from 'node:http'
import { Agent } from 'node:https'
import type { LookupFunction } from 'node:net'
import { isIP } from 'node:net'
import { type AddressGuard, AddressNotAllowed, createAddressGuard, getHost, type Resolve } from './addresses.ts'
import { type PostResult, postOver } from './post.ts'
import { type SignedContent, signHeaders } from './signature.ts'

/** Sends deliveries to the endpoints of webhooks. */
export interface Sender {
  /** Returns why a URL isn't allowed, as far as can be checked now, or undefined if it is. */
  findRejection(url: string): Promise<string | undefined>
  /** Opens a channel to a URL: one connection for consecutive deliveries. */
  openChannel(url: string): Channel
}

export interface Channel {
  url: string
  /** Delivers a body. Throws only if `signal` aborts. */
  post(body: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<PostResult>
  close(): void
}

/** Creates a sender that reaches public addresses, and those in allowed networks (`WEBHOOK_NETWORKS`). */
export function createSender(networks: readonly string[], resolve?: Resolve): Sender {
  const addresses = createAddressGuard(networks, resolve)
  return {
    async findRejection(text) {
      try {
        await addresses.resolve(addresses.checkUrl(text))
      } catch (error) {
        // A name without an address may have one by the first delivery.
        return error instanceof AddressNotAllowed ? error.message : undefined
      }
      return
    },
    openChannel: url => createChannel(addresses, url),
  }
}

/**
 * Addresses are looked up, checked and connected to in one step of each connection, so they can't change in between. Proxies of the
 * environment aren't used, and redirects aren't followed.
 */
function createChannel(addresses: AddressGuard, text: string): Channel {
  let agent: Agent | undefined
  return {
    url: text,
    async post(body, headers, signal) {
      try {
        const url = addresses.checkUrl(text)
        const options = { keepAlive: true, maxSockets: 1, lookup: createLookup(addresses, url) }
        agent ??= (url.protocol === 'https:' ? new Agent(options) : new PlainAgent(options)) as Agent
        return await postOver(agent, url, { body, headers }, signal)
      } catch (error) {
        if (!(error instanceof AddressNotAllowed)) throw error
        return { status: null, error: error.message, response: '', milliseconds: 0 }
      }
    },
    close: () => agent?.destroy(),
  }
}

/** If the host is an IP address, Node.js doesn't look it up: `checkUrl` has checked it. */
const createLookup =
  (addresses: AddressGuard, url: URL): LookupFunction =>
  (name, { all }, callback) => {
    if (name.replace(/\.$/, '') !== getHost(url))
      throw new Error(`the channel to ${getHost(url)} can't look up ${name}`)
    addresses.resolve(url).then(
      resolved => {
        const results = resolved.map(address => ({ address, family: isIP(address) }))
        const [first] = results
        if (all) callback(null, results)
        else callback(null, first?.address ?? '', first?.family)
      },
      error => callback(error, ''),
    )
  }

/** The result of an attempt, with the headers and the body that were sent. */
export interface SignedPostResult extends PostResult {
  body: string
  headers: Readonly<Record<string, string>> | null
}

/** Posts a body signed with these secrets. Without a secret it posts nothing, because the receiver would reject it. */
export async function postSigned(
  channel: Pick<Channel, 'post'>,
  secrets: readonly string[],
  content: SignedContent,
  signal: AbortSignal,
): Promise<SignedPostResult> {
  const { body } = content
  if (!secrets.length) return { status: null, error: secretLocked, response: '', milliseconds: 0, body, headers: null }
  const headers = signHeaders(secrets, content)
  return { ...(await channel.post(body, headers, signal)), body, headers }
}

const secretLocked =
  "The webhook's secret was encrypted with another SECRET_KEY, so nothing can be signed. Rotate the secret."
