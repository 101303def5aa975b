import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** A received delivery. */
export interface ReceivedDelivery {
  headers: IncomingHttpHeaders
  body: string
  /** The time of receipt, in milliseconds since 1970. */
  at: number
  path: string
}

/** Responds to a delivery with a status and headers, or not at all. */
export type RespondTo = (received: ReceivedDelivery, response: ServerResponse) => void

export interface Receiver {
  url: string
  port: number
  /** All received deliveries, in order. */
  received: ReceivedDelivery[]
  /** Responds to the next deliveries, at first with 204. */
  respond: RespondTo
  close(): Promise<void>
}

export const respondWith =
  (status: number, headers: Record<string, string> = {}, body = ''): RespondTo =>
  (_, response) =>
    void response.writeHead(status, headers).end(body)

/** Receives a delivery, but never responds. */
export const neverRespond: RespondTo = () => {}

/** Starts a webhook endpoint over plain HTTP on an address of this machine. */
export async function startReceiver(address = '127.0.0.1', port = 0): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const { headers, url: path = '' } = request
      const received = { headers, body: Buffer.concat(chunks).toString(), at: Date.now(), path }
      receiver.received.push(received)
      receiver.respond(received, response)
    })
  })
  await new Promise<void>(resolve => server.listen(port, address, resolve))
  const boundPort = (server.address() as AddressInfo).port
  const receiver: Receiver = {
    url: `http://${address}:${boundPort}/hooks`,
    port: boundPort,
    received: [],
    respond: respondWith(204),
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
      await delay(0)
    },
  }
  return receiver
}

/** Returns the changes of deliveries, in order. */
export const parseChanges = (received: readonly ReceivedDelivery[]) =>
  received.flatMap(({ body }) => (JSON.parse(body).data.changes ?? []) as Change[])

interface Change {
  kind: string
  id: string
  action: string
  changedAt: string
}

/** Returns the headers that Standard Webhooks verifies. */
export const getSignatureHeaders = ({ headers }: ReceivedDelivery) => ({
  'webhook-id': String(headers['webhook-id']),
  'webhook-timestamp': String(headers['webhook-timestamp']),
  'webhook-signature': String(headers['webhook-signature']),
})
