import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A write that the proxy holds back. */
export interface HeldWrite {
  /** Resolves when the client has abandoned the write. */
  abandoned: Promise<void>
  /** Sends the write to Medusa and returns the status of the response, which the client never receives. */
  execute(): Promise<number>
}

/** A reverse proxy in front of Medusa that can delay a write beyond the timeout of its client. */
export interface DelayingProxy {
  /** The address of the proxy, such as `http://127.0.0.1:34567`. */
  readonly url: string
  /** Holds the next write back. Resolves once the proxy has received it. */
  holdNextWrite(): Promise<HeldWrite>
  close(): Promise<void>
}

export async function startDelayingProxy(target: string): Promise<DelayingProxy> {
  let hold: ((write: HeldWrite) => void) | undefined

  async function forward({ method, url, headers }: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    const outgoing = request(new URL(url ?? '/', target), { method, headers })
    outgoing.end(body)
    const [response] = await once(outgoing, 'response')
    return response
  }

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse) {
    const body = await buffer(incoming)
    const onHeld = incoming.method === 'POST' ? hold : undefined
    if (onHeld) {
      hold = undefined
      return onHeld({
        abandoned: once(outgoing, 'close').then(() => {}),
        async execute() {
          const response = await forward(incoming, body)
          response.resume()
          await once(response, 'end')
          return response.statusCode ?? 0
        },
      })
    }
    const response = await forward(incoming, body)
    outgoing.writeHead(response.statusCode ?? 502, response.headers)
    response.on('error', () => outgoing.destroy()).pipe(outgoing)
  }

  const server = createServer((incoming, outgoing) => {
    // If Medusa is down, reset the client's connection, as it would be without the proxy.
    handle(incoming, outgoing).catch(() => outgoing.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    holdNextWrite() {
      const { promise, resolve } = Promise.withResolvers<HeldWrite>()
      hold = resolve
      return promise
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
