import pg from 'pg'
import { singleFlight } from '../concurrency/single-flight.ts'
import { perObject } from '../concurrency/ttl-cache.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import type { Attributes } from '../telemetry/spans.ts'
import { DatabaseUnavailable, isOutage, toDatabaseError } from './errors.ts'
import { BatchingClient } from './pg/batching.ts'
import { getConnection, getSocket, rejectConnection } from './pg/internals.ts'
import { detectPreparedStatements } from './pg/pooler.ts'
import { findReplacement, requireCurrentTimeline, timelineTimeoutMs } from './timelines.ts'

/** A database: a URL, or a configuration of `pg`. */
export type Connection = string | pg.ClientConfig

/** Returns a configuration for each server of a URL: `postgres://user@one:5432,two:5432/shop` names two, one of which is the primary. */
export function parseServers(connection: Connection): pg.ClientConfig[] {
  if (typeof connection !== 'string') return [connection]
  const [, prefix = '', hosts = '', suffix = ''] = /^(\w+:\/\/(?:[^/?]*@)?)([^/?]*)(.*)$/s.exec(connection) ?? []
  // `sslmode` has the meaning of libpq, which also reads the URL when a service moves.
  const compatibility = /[?&]sslmode=/.test(suffix) ? '&uselibpqcompat=true' : ''
  return hosts.split(',').map(host => ({ connectionString: `${prefix}${host}${suffix}${compatibility}` }))
}

/** Returns host and port of a server, without credentials. */
export function getServerName(server: pg.ClientConfig): string {
  const { host, port } = new pg.Client(server)
  return `${host}:${port}`
}

/** Returns the attributes of a client's database and server, by OpenTelemetry's conventions for database spans. Has no credentials. */
export const getServerAttributes = perObject(
  ({ host, port, database }: pg.Client): Attributes => ({
    'server.address': host,
    'server.port': port,
    'db.namespace': database,
  }),
)
const getConfiguredServer = perObject((server: pg.ClientConfig) => getServerAttributes(new pg.Client(server)))

/** A client class that connects to certain servers. */
interface Connector {
  /** Returns the attributes of the server that the next connection uses. */
  getNextServer: () => Attributes
  /** Attempts that reach the primary if it is available: one for each server. */
  tries: number
  Client: new (config?: pg.ClientConfig) => pg.Client
}

/** A client that checks its server before its first use. Connecting fails if the check throws. */
abstract class CheckedClient extends BatchingClient {
  protected abstract checkServer(): Promise<void>

  // `pg` declares several overloads.
  override connect(...[callback]: never[]): never {
    const connected = this.#connectAndCheck()
    if (typeof callback !== 'function') return connected as never
    const respond = callback as (error: unknown, client?: pg.Client) => void
    connected.then(
      client => respond(undefined, client),
      error => respond(error),
    )
    return undefined as never
  }

  async #connectAndCheck() {
    await super.connect()
    try {
      await this.checkServer()
      return this
    } catch (error) {
      getSocket(this).destroy()
      throw error
    }
  }
}

/** `pooled`: a transaction pooler answers instead of PostgreSQL. */
interface ConnectorOptions {
  pooled?: boolean
}

/** Milliseconds after which a connection attempt counts as hanging, and between two probes of the other servers. */
const hangProbeIntervalMs = 500

/**
 * Connects to the last known primary. If the server turns out not to be the primary, or to be a former one, connecting fails, and the next
 * attempt uses the next server. While an attempt hangs, probes the other servers, and ends the attempt if one of them is the primary.
 */
export function connectToPrimary(connection: Connection, { pooled = false }: ConnectorOptions = {}): Connector {
  const servers = parseServers(connection)
  let current = 0
  /** Attempts in flight, with the index of their server. */
  const attempts = new Map<pg.Client, number>()
  const share = singleFlight()
  const leaveHangingServer = (hanging: number) =>
    share(String(hanging), async () => {
      const arePrimaries = await Promise.all(servers.map((server, i) => i !== hanging && isPrimary(server)))
      if (!arePrimaries.includes(true)) return
      current = arePrimaries.indexOf(true)
      for (const [client, server] of attempts)
        if (server === hanging) rejectConnection(client, new HangingServer(client))
    })
  class Client extends CheckedClient {
    readonly #leave: () => void
    constructor(config?: pg.ClientConfig) {
      const server = current
      super({ ...config, ...servers[server] })
      if (servers.length > 1) {
        attempts.set(this, server)
        const probing = setInterval(() => leaveHangingServer(server), hangProbeIntervalMs).unref()
        onDecided(this, () => {
          clearInterval(probing)
          attempts.delete(this)
        })
      }
      this.#leave = () => {
        if (server === current) current = (current + 1) % servers.length
      }
      onUnusable(this, this.#leave)
    }

    protected override async checkServer() {
      try {
        if (servers.length > 1) await requireCurrentTimeline(this)
        if (pooled) await detectPreparedStatements(this)
      } catch (error) {
        this.#leave()
        throw error
      }
    }
  }
  return { tries: servers.length, Client, getNextServer: () => getConfiguredServer(servers[current] ?? {}) }
}

/** True if a server is a primary of the newest known timeline. */
async function isPrimary(server: pg.ClientConfig): Promise<boolean> {
  const client = new pg.Client({ ...server, connectionTimeoutMillis: timelineTimeoutMs })
  client.on('error', () => {})
  try {
    await client.connect()
    await requireCurrentTimeline(client)
    const { rows } = await client.query<{ isStandby: boolean }>('select pg_is_in_recovery() as "isStandby"')
    return rows[0]?.isStandby === false
  } catch {
    return false
  } finally {
    getSocket(client).destroy()
  }
}

/** Connects to each server and remembers its timeline, so that this process does not follow a former primary that is named first. */
export async function rememberTimelines(connection: Connection) {
  const servers = parseServers(connection)
  if (servers.length === 1) return
  await Promise.all(
    servers.map(async server => {
      const client = new pg.Client({ ...server, connectionTimeoutMillis: timelineTimeoutMs })
      client.on('error', () => {})
      const remembered = client.connect().then(() => requireCurrentTimeline(client))
      await ignoreError(remembered, 'timeline of an unusable server')
      getSocket(client).destroy()
    }),
  )
}

/** Connects to this server, whether it is a primary or a standby. */
export function connectToServer(server: pg.ClientConfig, { pooled = false }: ConnectorOptions = {}): Connector {
  class Client extends CheckedClient {
    constructor(config?: pg.ClientConfig) {
      super({ ...config, ...server })
    }

    protected override async checkServer() {
      if (pooled) await detectPreparedStatements(this)
    }
  }
  return { tries: 1, Client, getNextServer: () => getConfiguredServer(server) }
}

/** Calls `callback` when a client has connected or failed. */
function onDecided(client: pg.Client, callback: () => void) {
  client.once('connect', callback)
  for (const event of ['error', 'end']) getConnection(client).once(event, callback)
}

/** Calls `callback` once if a client can't connect, or connects to a standby. Connecting to a standby fails: PostgreSQL reports its role on connecting. */
function onUnusable(client: pg.Client, callback: () => void) {
  const connection = getConnection(client)
  let isDecided = false
  const report = () => {
    if (!isDecided) callback()
    isDecided = true
  }
  client.once('connect', () => {
    isDecided = true
  })
  for (const event of ['error', 'errorMessage', 'end']) connection.on(event, report)
  connection.on('parameterStatus', ({ parameterName, parameterValue }: Record<string, string>) => {
    if (parameterName !== 'in_hot_standby' || parameterValue !== 'on' || isDecided) return
    rejectConnection(client, new StandbyReached(client))
  })
}

/** A server that accepts no writes answered instead of the primary. SQLSTATE 08001: the session can't be established. */
class StandbyReached extends Error {
  readonly code = '08001'
  constructor({ host, port }: pg.Client) {
    super(`${host}:${port} is a standby, not the primary`)
  }
}

/** Another server is the primary while this one doesn't answer. */
class HangingServer extends Error {
  readonly code = '08001'
  constructor({ host, port }: pg.Client) {
    super(`${host}:${port} does not answer, and another server is the primary`)
  }
}

/** Tries to connect once per server. Doesn't retry if the pool is exhausted: another server would not help. */
export async function tryServers<T>(tries: number, connect: () => Promise<T>): Promise<T> {
  for (let remaining = tries; ; remaining--)
    try {
      return await connect()
    } catch (error) {
      const { cause } = error as { cause?: unknown }
      const isPoolExhausted = cause instanceof Error && /^timeout exceeded/.test(cause.message)
      if (remaining <= 1 || isPoolExhausted || !(error instanceof DatabaseUnavailable || isOutage(error))) throw error
    }
}

/** Runs `work` with a connection of the pool, and releases it. A broken connection is discarded. */
export async function withPooledClient<T>(
  pool: pg.Pool,
  tries: number,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  let broken: Error | undefined
  const onBreak = (error: Error) => {
    broken = error
  }
  const borrowClient = () =>
    new Promise<pg.PoolClient>((resolve, reject) =>
      pool.connect((error, connected) => {
        if (!connected) return reject(toDatabaseError(error))
        connected.on('error', onBreak)
        resolve(connected)
      }),
    )
  /** Connections that were idle during a failover still lead to the former primary. */
  const borrowCurrentClient = async () => {
    for (;;) {
      const connected = await borrowClient()
      const replacement = findReplacement(connected)
      if (!replacement) return connected
      connected.release(replacement)
    }
  }
  const client = await tryServers(tries, borrowCurrentClient)
  try {
    return await work(client)
  } finally {
    client.release(broken)
    client.off('error', onBreak)
  }
}
