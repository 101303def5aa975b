import type pg from 'pg'
import { BatchingClient } from './connections/batches.ts'
import { streamOf } from './connections/statements.ts'
import { DatabaseAway, isOutage } from './outages.ts'

/** Where a database is: a URL, or what `pg` takes. */
export type Connection = string | pg.ClientConfig

/** How to reach each of the servers that a URL names: `postgres://user@one:5432,two:5432/shop` names two, of which one is the primary. */
export function serversIn(connection: Connection): pg.ClientConfig[] {
  if (typeof connection !== 'string') return [connection]
  const [, before = '', hosts = '', behind = ''] = /^(\w+:\/\/(?:[^/?]*@)?)([^/?]*)(.*)$/s.exec(connection) ?? []
  return hosts.split(',').map(host => ({ connectionString: `${before}${host}${behind}` }))
}

/** What connects to whichever of some servers is the primary. */
export interface Primary {
  /** As many find it, if it is there: one at each server. */
  tries: number
  /** A connection to the server that was the primary last. Where it is not, connecting fails, and the next one is of the next server. */
  Client: new (
    config?: pg.ClientConfig,
  ) => pg.Client
}

export function primaryAmong(connection: Connection): Primary {
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

/** Breaks off a connection to a standby, which says so of itself without being asked; tells of this, and of one that is refused. */
function onVain(client: pg.Client, isVain: () => void) {
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter }
  const tell = () => isConnected || isVain()
  let isConnected = false
  client.once('connect', () => {
    isConnected = true
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
