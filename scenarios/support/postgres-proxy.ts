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
  /** Loses the response to the next statement that has this string among its values and whose command tag begins with `tag` (`INSERT`). */
  loseResponse(value: string, tag: string): Promise<void>
  /** Closes all connections and accepts none until the returned function is called. */
  cutOff(): () => void
  close(): void
}

/** The name of the prepared statement `commit` in our connections. */
const commit = createHash('sha1').update('commit').digest('hex')

export async function startPostgresProxy(connection: string): Promise<PostgresProxy> {
  const direct = new URL(connection)
  const host = direct.searchParams.get('host') ?? decodeURIComponent(direct.hostname)
  const port = Number(direct.port || 5432)
  const open = new Set<Socket>()
  let count = 0
  let losing: { request: string; response: string; done: () => void } | undefined
  const lose = (request: string, response: string) =>
    new Promise<void>(done => {
      losing = { request, response, done }
    })
  let dropping: ((disconnect: () => void) => void) | undefined
  let isCut = false
  const server = createServer(inward => {
    if (isCut) return inward.destroy()
    const outward = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    let isWaiting = false
    let lost: typeof losing
    for (const [from, to] of [
      [inward, outward],
      [outward, inward],
    ] as const) {
      open.add(from)
      from.setNoDelay?.(true)
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
      from.on('data', data => {
        if (from === inward) {
          isWaiting = true
          if (dropping && data.includes(commit)) {
            outward.removeAllListeners('close').destroy()
            dropping(() => inward.destroy())
            dropping = undefined
            return
          }
          if (losing && data.includes(losing.request)) lost = losing
        } else if (losing && lost === losing) {
          if (!data.includes(losing.response)) return
          losing.done()
          losing = undefined
          inward.destroy()
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
  const through = new URL(connection)
  through.searchParams.delete('host')
  through.hostname = '127.0.0.1'
  through.port = String((server.address() as AddressInfo).port)
  return {
    connection: through.href,
    roundTrips: () => count,
    loseCommit: () => lose(commit, 'COMMIT\0'),
    dropCommit: () =>
      new Promise(resolve => {
        dropping = resolve
      }),
    loseResponse: lose,
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
