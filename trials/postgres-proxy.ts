import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy between us and PostgreSQL that counts how often one side waits for the other. */
export interface PostgresProxy {
  /** What `pg` reaches the database by, through it. */
  connection: string
  /** How often something was asked, and then answered, so far: what goes out without waiting for the answer before is one. */
  roundTrips(): number
  close(): void
}

export async function startPostgresProxy(connection: string): Promise<PostgresProxy> {
  const direct = new URL(connection)
  const host = direct.searchParams.get('host') ?? decodeURIComponent(direct.hostname)
  const port = Number(direct.port || 5432)
  const open = new Set<Socket>()
  let count = 0
  const server = createServer(inward => {
    const outward = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    let isAsked = false
    for (const [from, to] of [
      [inward, outward],
      [outward, inward],
    ] as const) {
      open.add(from)
      from.setNoDelay?.(true)
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
      from.on('data', data => {
        if (from === inward) isAsked = true
        else if (isAsked) {
          isAsked = false
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
    close() {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}
