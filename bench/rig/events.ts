import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { signPayload } from '../../simulator/shopify/webhooks.ts'
import type { RunningService } from './processes.ts'

export interface EventLoad {
  /** The path of the connection's events. */
  path: string
  /** The secret that signs the events. */
  secret: string
  ratePerSecond: number
  seconds: number
}

const readyTimeoutMs = 10_000

/**
 * Sends events of a Shopify shop at a fixed rate, each about another product, and waits until all have a response. Returns the milliseconds
 * from the time at which each was due to its response. Throws if one isn't accepted.
 */
export async function sendEvents(
  { port, ca }: Pick<RunningService, 'port' | 'ca'>,
  { path, secret, ratePerSecond, seconds }: EventLoad,
): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 32, ca })
  async function send(productId: number): Promise<number> {
    const body = JSON.stringify({ id: productId })
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-shopify-topic': 'products/update',
      'x-shopify-webhook-id': randomUUID(),
      'x-shopify-hmac-sha256': signPayload(secret, body),
    }
    const outgoing = request({ host: 'localhost', port, path, method: 'POST', headers, agent })
    outgoing.end(body)
    const [response]: IncomingMessage[] = await once(outgoing, 'response')
    if (!response) throw new Error('an event has no response')
    response.resume()
    await once(response, 'end')
    return response.statusCode ?? 0
  }
  async function sendDue(productId: number, due: number): Promise<number> {
    await delay(Math.max(0, due - performance.now()))
    const status = await send(productId)
    if (status !== 200) throw new Error(`An event was rejected with status ${status}.`)
    return performance.now() - due
  }
  try {
    // The service caches for a few seconds that a connection has no events.
    for (const began = performance.now(); (await send(1)) !== 200; await delay(100))
      if (performance.now() - began > readyTimeoutMs) throw new Error('The service does not accept events.')
    const began = performance.now()
    return await Promise.all(
      Array.from({ length: ratePerSecond * seconds }, (_, at) => sendDue(at + 1, began + (at * 1_000) / ratePerSecond)),
    )
  } finally {
    agent.destroy()
  }
}
