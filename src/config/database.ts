import { nameOf, serversIn } from '../database/endpoints.ts'
import { oneOf, type Setting, Unfit, whole } from './parsers.ts'

/** The servers that a URL names, as people know them. A part of its password is none. */
function namesIn(given: string): string[] {
  if (!/^postgres(ql)?:\/\//.test(given)) throw new Unfit('begins with postgres://')
  return serversIn(given).map(server => {
    // Without a host, as of a socket, it is read as `pg` does.
    const text = server.connectionString?.replace('@/', '@localhost/') ?? ''
    const { pathname = '@', search = '', hash = '' } = URL.parse(text) ?? {}
    if (`${pathname}${search}${hash}`.includes('@'))
      throw new Unfit('is no URL: special characters of the password are written as %XX, as %23 for #')
    try {
      return nameOf(server)
    } catch (error) {
      throw new Unfit(`is not understood: ${(error as Error).message}`)
    }
  })
}

/** The database, and the way to it. */
export const databaseSettings = {
  DATABASE_URL: {
    why: 'A PostgreSQL of yours (15 or later); of several, separated by commas, the one that is the primary. Without it the bundled one runs under DATA_DIR.',
    example: 'postgres://tillbridge:password@db-1.example.com,db-2.example.com/tillbridge',
    read(given: string | undefined) {
      if (given !== undefined) namesIn(given)
      return given
    },
  } satisfies Setting<string | undefined>,
  DATABASE_READ_URL: {
    why: 'Replicas of that PostgreSQL, separated by commas: standbys, from which pages of lists, changes and whole lists are read where they have come so far.',
    example: 'postgres://tillbridge:password@db-2.example.com,db-3.example.com/tillbridge',
    read(given: string | undefined) {
      if (given === undefined) return
      const names = namesIn(given)
      if (new Set(names).size < names.length) throw new Unfit('names a replica twice')
      return given
    },
  } satisfies Setting<string | undefined>,
  DATABASE_POOL: whole(
    'Connections to the database per process, to the primary for reads and for writes, and to each replica; a few for each core of the machine are enough.',
    6,
    [2, 200],
  ),
  DATABASE_POOLER: oneOf(
    'Whether DATABASE_URL leads through a pooler that lends its connections for a transaction at a time: PgBouncer with `pool_mode = transaction`.',
    'off',
    ['off', 'transaction'],
  ),
} as const
