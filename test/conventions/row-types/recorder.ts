import pg from 'pg'
import { BatchingClient } from '../../../src/database/pg/batching.ts'

/** The result of a call of `row` or `rows`. */
export interface Recorded {
  /** The position of the call: `src/store/….ts:12:34`. */
  at: string
  /** OIDs of the columns' types, by the columns' names. */
  columns: Record<string, number>
  /** The columns that were null. */
  nulls: string[]
}

const root = new URL('../../../', import.meta.url).href

/** Returns the place in `src` of the current call. A frame that awaits it (`at async`) is not the caller. */
function callSite(): string | undefined {
  for (const line of new Error().stack?.split('\n') ?? []) {
    const [, place] = line.split(root)
    if (
      place?.startsWith('src/') &&
      !/^src\/(database\/(pg\/|(db|endpoints|dedicated-connection)\.ts)|telemetry\/)/.test(place) &&
      !line.includes('at async')
    )
      return place.replace(/\)$/, '')
  }
}

/**
 * Records everything that `pg` sends in this process. A statement of the pool belongs to the call that requested the
 * connection.
 */
export function recordRows(): Recorded[] {
  Error.stackTraceLimit = 50
  const recorded: Recorded[] = []
  const callSites = new WeakMap<object, string | undefined>()
  const { connect } = pg.Pool.prototype
  const { query } = BatchingClient.prototype
  pg.Pool.prototype.connect = function (this: pg.Pool, ...input: unknown[]) {
    const [done] = input
    const at = callSite()
    const heard = (error: unknown, client: object | undefined, release: unknown) => {
      if (client) callSites.set(client, at)
      ;(done as typeof heard)(error, client, release)
    }
    return Reflect.apply(connect, this, done ? [heard] : [])
  } as typeof connect
  BatchingClient.prototype.query = function (this: pg.Client, ...input: unknown[]) {
    const [config, done] = input
    const at = callSite() ?? callSites.get(this)
    const heard = (error: unknown, result: pg.QueryResult | undefined) => {
      // With a pooler, transactions begin with a setting, which isn't a row of a call.
      const isSetting = result?.fields[0]?.name === 'set_config'
      if (at && result?.fields.length && !isSetting) recorded.push({ at, ...columnsOf(result) })
      ;(done as typeof heard)(error, result)
    }
    return Reflect.apply(query, this, typeof done === 'function' ? [config, heard] : input)
  } as unknown as typeof query
  return recorded
}

/** The columns of a result, and which of them are null in some row. */
export const columnsOf = ({ fields, rows }: Pick<pg.QueryResult, 'fields' | 'rows'>) => ({
  columns: Object.fromEntries(fields.map(({ name, dataTypeID }) => [name, dataTypeID])),
  nulls: fields.map(({ name }) => name).filter(name => rows.some(row => row[name] === null)),
})
