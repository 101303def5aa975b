import { getServerName, parseServers } from '../database/endpoints.ts'
import { InvalidSetting, integer, oneOf, type Setting } from './parsers.ts'

/** The modes of libpq that never fall back to an unencrypted connection, and `disable`. */
const sslModes = ['disable', 'require', 'verify-ca', 'verify-full']

/** Returns the display names (host and port) of the servers in a connection URL. Never returns a part of its password. */
function listServerNames(url: string): string[] {
  if (!/^postgres(ql)?:\/\//.test(url)) throw new InvalidSetting('must begin with postgres://')
  return parseServers(url).map(server => {
    // `pg` reads a URL without a host, such as one for a Unix socket, as localhost.
    const connectionString = server.connectionString?.replace('@/', '@localhost/') ?? ''
    const { pathname = '@', search = '', hash = '' } = URL.parse(connectionString) ?? {}
    if (`${pathname}${search}${hash}`.includes('@'))
      throw new InvalidSetting('must be a URL: write special characters in the password as %XX, for example %23 for #')
    const mode = new URLSearchParams(search).get('sslmode')
    if (mode !== null && !sslModes.includes(mode))
      throw new InvalidSetting(`must have one of these values as sslmode: ${sslModes.join(', ')}`)
    try {
      return getServerName(server)
    } catch (error) {
      const { path, code, message } = error as NodeJS.ErrnoException
      throw new InvalidSetting(
        path === undefined
          ? `can't be parsed: ${message}`
          : `names ${path}, which can't be read (${code}). The user that runs Tillbridge must be able to read this file`,
      )
    }
  })
}

export const databaseSettings = {
  DATABASE_URL: {
    description:
      'Your own PostgreSQL (15 or later). Separate several servers with commas: Tillbridge uses the primary. Without `sslmode`, connections are not encrypted. If unset, PostgreSQL runs under DATA_DIR (POSTGRES_BIN_DIR).',
    example:
      'postgres://tillbridge:password@db-1.example.com,db-2.example.com/tillbridge?sslmode=verify-full&sslrootcert=/etc/tillbridge/db-ca.pem',
    read(value: string | undefined) {
      if (value !== undefined) listServerNames(value)
      return value
    },
  } satisfies Setting<string | undefined>,
  DATABASE_READ_URL: {
    description:
      'Replicas (standbys) of that PostgreSQL, separated by commas. Lists, the change feed and bulk exports are read from a replica that has replayed far enough.',
    example: 'postgres://tillbridge:password@db-2.example.com,db-3.example.com/tillbridge',
    read(value: string | undefined) {
      if (value === undefined) return
      const names = listServerNames(value)
      if (new Set(names).size < names.length) throw new InvalidSetting("can't name a replica twice")
      return value
    },
  } satisfies Setting<string | undefined>,
  DATABASE_POOL: integer(
    'Maximum database connections per process, separately for reads, for writes and for each replica. A few per CPU core are enough.',
    6,
    [2, 200],
  ),
  DATABASE_POOLER: oneOf(
    'Set to `transaction` if DATABASE_URL points to a transaction pooler (PgBouncer with `pool_mode = transaction`).',
    'off',
    ['off', 'transaction'],
  ),
} as const
