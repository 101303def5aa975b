import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy between us and PostgreSQL: it counts how often one side waits for the other, and can lose what PostgreSQL says. */
export interface PostgresProxy {
  /** What `pg` reaches the database by, through it. */
  connection: string
  /** How often something was asked, and then answered, so far: what goes out without waiting for the answer before is one. */
  roundTrips(): number
  /** Loses the reply to the next commit, which is carried out: its connection ends in its place. Resolves once that has happened. */
  loseCommit(): Promise<void>
  /** The same of the next statement that is asked with this text among its values, and answered with a tag that begins so (`INSERT`). */
  loseAnswer(value: string, tag: string): Promise<void>
  /** Breaks all connections and lets none through until the answer is called. */
  cutOff(): () => void
  close(): void
}

/** The name under which our connections have their `commit` prepared. */
const commit = createHash('sha1').update('commit').digest('hex')

export async function startPostgresProxy(connection: string): Promise<PostgresProxy> {
  const direct = new URL(connection)
  const host = direct.searchParams.get('host') ?? decodeURIComponent(direct.hostname)
  const port = Number(direct.port || 5432)
  const open = new Set<Socket>()
  let count = 0
  let losing: { asked: string; answered: string; done: () => void } | undefined
  const lose = (asked: string, answered: string) =>
    new Promise<void>(done => {
      losing = { asked, answered, done }
    })
  let isCut = false
  const server = createServer(inward => {
    if (isCut) return inward.destroy()
    const outward = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    let isAsked = false
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
          isAsked = true
          if (losing && data.includes(losing.asked)) lost = losing
        } else if (losing && lost === losing) {
          if (!data.includes(losing.answered)) return
          losing.done()
          losing = undefined
          inward.destroy()
          return
        } else if (isAsked) {
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
    loseCommit: () => lose(commit, 'COMMIT\0'),
    loseAnswer: lose,
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
