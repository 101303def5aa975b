import pg from 'pg'
import { DatabaseAway, isOutage, told } from './errors.ts'
import { BatchingClient } from './pg/batching.ts'
import { streamOf } from './pg/statements.ts'

/** Where a database is: a URL, or what `pg` takes. */
export type Connection = string | pg.ClientConfig

/** How to reach each of the servers that a URL names: `postgres://user@one:5432,two:5432/shop` names two, of which one is the primary. */
export function serversIn(connection: Connection): pg.ClientConfig[] {
  if (typeof connection !== 'string') return [connection]
  const [, before = '', hosts = '', behind = ''] = /^(\w+:\/\/(?:[^/?]*@)?)([^/?]*)(.*)$/s.exec(connection) ?? []
  return hosts.split(',').map(host => ({ connectionString: `${before}${host}${behind}` }))
}

/** A server as people know it: host and port, without how to sign in there. */
export function nameOf(server: pg.ClientConfig): string {
  const { host, port } = new pg.Client(server)
  return `${host}:${port}`
}

/** What connects to a server. */
interface Way {
  /** As many find it, if it is there: to the primary of several, one at each. */
  tries: number
  Client: new (config?: pg.ClientConfig) => pg.Client
}

/** To whichever of some servers is the primary: the one that was so last. Where it is not, connecting fails, and the next one is of the next server. */
export function primaryAmong(connection: Connection): Way {
  const servers = serversIn(connection)
  let current = 0
  class Client extends BatchingClient {
    constructor(config?: pg.ClientConfig) {
      const server = current
      super({ ...config, ...servers[server] })
      onVain(this, () => {
        if (server === current) current = (current + 1) % servers.length
      })
    }
  }
  return { tries: servers.length, Client }
}

/** To this very server, whatever it is. */
export function straightTo(server: pg.ClientConfig): Way {
  class Client extends BatchingClient {
    constructor(config?: pg.ClientConfig) {
      super({ ...config, ...server })
    }
  }
  return { tries: 1, Client }
}

/** Breaks off a connection to a standby, which says so of itself without being asked; tells of this, and of one that is refused. */
function onVain(client: pg.Client, isVain: () => void) {
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter }
  let isSettled = false
  const tell = () => {
    if (!isSettled) isVain()
    isSettled = true
  }
  client.once('connect', () => {
    isSettled = true
  })
  for (const event of ['error', 'errorMessage', 'end']) connection.on(event, tell)
  connection.on('parameterStatus', ({ parameterName, parameterValue }: Record<string, string>) => {
    if (parameterName === 'in_hot_standby' && parameterValue === 'on') streamOf(client).destroy()
  })
}

/** What connects, as often as there are servers. Where all connections of the pool are busy, it is not for want of another server. */
export async function triedAt<T>(tries: number, connect: () => Promise<T>): Promise<T> {
  for (let left = tries; ; left--)
    try {
      return await connect()
    } catch (error) {
      const { cause } = error as { cause?: unknown }
      const isBusy = cause instanceof Error && /^timeout exceeded/.test(cause.message)
      if (left <= 1 || isBusy || !(error instanceof DatabaseAway || isOutage(error))) throw error
    }
}

/** Lends a connection of the pool, which gets it back unless it broke. */
export async function lend<T>(pool: pg.Pool, tries: number, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  let broken: Error | undefined
  // Without a listener from the very moment it is ours, a connection that breaks between two statements would end the process.
  const onBreak = (fault: Error) => {
    broken = fault
  }
  const lent = () =>
    new Promise<pg.PoolClient>((resolve, reject) =>
      pool.connect((error, client) => {
        if (!client) return reject(told(error))
        client.on('error', onBreak)
        resolve(client)
      }),
    )
  const client = await triedAt(tries, lent)
  try {
    return await work(client)
  } finally {
    client.release(broken)
    // A broken one may have more to complain of; it is not used again.
    if (!broken) client.off('error', onBreak)
  }
}
