import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy in front of PostgreSQL. It counts round trips, and can lose responses. */
export interface PostgresProxy {
  /** Connection string of the database through the proxy. */
  connection: string
  /** Number of round trips so far. Pipelined statements are one. */
  roundTrips(): number
  /** Loses the response to the next commit, which PostgreSQL executes, and closes the connection. Resolves after that. */
  loseCommit(): Promise<void>
  /** Closes PostgreSQL's side of the connection instead of sending the next commit. Resolves with a function that closes the other side. */
  dropCommit(): Promise<() => void>
  /** Loses the response to the next statement with the parameter `value` whose command tag begins with `tag`, such as `INSERT`. */
  loseResponse(value: string, tag: string): Promise<void>
  /** Closes all connections and accepts none until the returned function is called. */
  cutOff(): () => void
  close(): void
}

/** The name of the prepared statement `commit` in our connections. */
const commitStatementName = createHash('sha1').update('commit').digest('hex')

export async function startPostgresProxy(connection: string): Promise<PostgresProxy> {
  const directUrl = new URL(connection)
  const host = directUrl.searchParams.get('host') ?? decodeURIComponent(directUrl.hostname)
  const port = Number(directUrl.port || 5432)
  const open = new Set<Socket>()
  let count = 0
  let pendingLoss: { request: string; response: string; done: () => void } | undefined
  const loseNextResponse = (request: string, response: string) =>
    new Promise<void>(done => {
      pendingLoss = { request, response, done }
    })
  let onDrop: ((disconnect: () => void) => void) | undefined
  let isCut = false
  const server = createServer(clientSocket => {
    if (isCut) return clientSocket.destroy()
    const serverSocket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    let isWaiting = false
    let activeLoss: typeof pendingLoss
    for (const [from, to] of [
      [clientSocket, serverSocket],
      [serverSocket, clientSocket],
    ] as const) {
      open.add(from)
      from.setNoDelay?.(true)
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
      from.on('data', data => {
        if (from === clientSocket) {
          isWaiting = true
          if (onDrop && data.includes(commitStatementName)) {
            serverSocket.removeAllListeners('close').destroy()
            onDrop(() => clientSocket.destroy())
            onDrop = undefined
            return
          }
          if (pendingLoss && data.includes(pendingLoss.request)) activeLoss = pendingLoss
        } else if (pendingLoss && activeLoss === pendingLoss) {
          if (!data.includes(pendingLoss.response)) return
          pendingLoss.done()
          pendingLoss = undefined
          clientSocket.destroy()
          return
        } else if (isWaiting) {
          isWaiting = false
          count++
        }
        to.write(data)
      })
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const proxyUrl = new URL(connection)
  proxyUrl.searchParams.delete('host')
  proxyUrl.hostname = '127.0.0.1'
  proxyUrl.port = String((server.address() as AddressInfo).port)
  return {
    connection: proxyUrl.href,
    roundTrips: () => count,
    loseCommit: () => loseNextResponse(commitStatementName, 'COMMIT\0'),
    dropCommit: () =>
      new Promise(resolve => {
        onDrop = resolve
      }),
    loseResponse: loseNextResponse,
    cutOff() {
      isCut = true
      for (const socket of open) socket.destroy()
      return () => {
        isCut = false
      }
    },
    close() {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}
