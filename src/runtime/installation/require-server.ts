import type pg from 'pg'
import { type Connection, connectToPrimary, rememberTimelines, tryServers } from '../../database/endpoints.ts'
import { getServerPid } from '../../database/pg/internals.ts'
import { ignoreError } from '../../telemetry/ignored-errors.ts'

const minVersion = 150_000

/** A limit in milliseconds, set on the first session, that no server has by default. */
const probeTimeoutMs = 59_999

interface ServerFacts {
  number: number
  version: string
  limit: number
  pid: number
  foldsCase: boolean
}

const selectServerFacts = `
  select current_setting('server_version_num')::integer as number, current_setting('server_version') as version,
         (select setting::integer from pg_settings where name = 'idle_in_transaction_session_timeout') as limit, pg_backend_pid() as pid,
         lower('É') = 'é' and lower('I') = 'i' as "foldsCase"`

/**
 * Checks a server before its first use. Throws, with a remedy, in these cases: it is unreachable or too old. LC_CTYPE is C or Turkish, which breaks
 * the comparison of email addresses regardless of case. A pooler loses the session state, unless `pooled`. `named`: the setting that names the
 * server.
 */
export async function requireServer(connection: Connection, pooled: boolean, named = 'DATABASE_URL') {
  await rememberTimelines(connection)
  const { Client, tries } = connectToPrimary(connection)
  let client: pg.Client | undefined
  const connect = async () => {
    client = new Client({
      connectionTimeoutMillis: 5_000,
      ...(!pooled && { options: `-c idle_in_transaction_session_timeout=${probeTimeoutMs}` }),
    })
    await client.connect()
    return client
  }
  try {
    const connected = await tryServers(tries, connect)
    // A pooler that lends connections per statement rejects `begin`.
    if (pooled) await connected.query('begin')
    const { rows } = await connected.query<ServerFacts>(selectServerFacts)
    const { number, version, limit, pid, foldsCase } = rows[0] ?? {
      number: 0,
      version: '',
      limit: 0,
      pid: 0,
      foldsCase: false,
    }
    if (number < minVersion)
      throw new UnusableServer(`PostgreSQL ${version} is too old. Tillbridge requires 15 or later.`)
    if (!foldsCase) throw new UnusableServer(describeLocale(named))
    if (!pooled && (limit !== probeTimeoutMs || pid !== getServerPid(connected)))
      throw new UnusableServer(describePooler(named))
  } catch (error) {
    if (error instanceof UnusableServer) throw error
    const { code, message } = error as NodeJS.ErrnoException
    if (/unsupported startup parameter/.test(message)) throw new UnusableServer(describePooler(named))
    throw new Error(`The database is unreachable: ${message || code}. Check ${named}.`)
  } finally {
    if (client) await ignoreError(client.end(), 'connection was already closed')
  }
}

class UnusableServer extends Error {}

const describePooler = (named: string) =>
  `${named} names a connection pooler that doesn't keep the session settings of a client. Set DATABASE_POOLER=transaction, or let ${named} name PostgreSQL directly.`

const describeLocale = (named: string) =>
  `The database that ${named} names can't compare email addresses regardless of case: its LC_CTYPE is C or Turkish. Create it again: create database tillbridge owner tillbridge template template0 encoding 'UTF8' locale 'C.UTF-8'`
