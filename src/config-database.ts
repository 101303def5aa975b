import { oneOf, type Setting, Unfit, whole } from './config-values.ts'
import { nameOf, serversIn } from './servers.ts'

/** The database, and the way to it. */
export const databaseSettings = {
  DATABASE_URL: {
    why: 'A PostgreSQL of yours (15 or later); of several, separated by commas, the one that is the primary. Without it the bundled one runs under DATA_DIR.',
    example: 'postgres://tillbridge:password@db-1.example.com,db-2.example.com/tillbridge',
    read(given: string | undefined) {
      if (given !== undefined && !/^postgres(ql)?:\/\//.test(given)) throw new Unfit('begins with postgres://')
      return given
    },
  } satisfies Setting<string | undefined>,
  DATABASE_READ_URL: {
    why: 'Replicas of that PostgreSQL, separated by commas: standbys, from which pages of lists, changes and whole lists are read where they have come so far.',
    example: 'postgres://tillbridge:password@db-2.example.com,db-3.example.com/tillbridge',
    read(given: string | undefined) {
      if (given === undefined) return
      if (!/^postgres(ql)?:\/\//.test(given)) throw new Unfit('begins with postgres://')
      const servers = serversIn(given)
      // A `#` in a password would make a name of what stands before it.
      if (!servers.every(isWhole))
        throw new Unfit('is a URL in which special characters of the password are written as %XX')
      if (new Set(servers.map(nameOf)).size < servers.length) throw new Unfit('names a replica twice')
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

/** Whether all of an address is where a URL has it. */
function isWhole({ connectionString = '' }: { connectionString?: string | undefined }) {
  if (!URL.canParse(connectionString)) return false
  const { pathname, search, hash } = new URL(connectionString)
  return !(pathname + search + hash).includes('@')
}
