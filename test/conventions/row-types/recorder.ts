import pg from 'pg'
import { BatchingClient } from '../../../src/database/pg/batching.ts'

/** The result of a call of `row` or `rows`. */
export interface RecordedCall {
  /** The position of the call: `src/store/….ts:12:34`. */
  at: string
  /** OIDs of the columns' types, by the columns' names. */
  columns: Record<string, number>
  /** The columns that were null. */
  nulls: string[]
}

const root = new URL('../../../', import.meta.url).href

/** Returns the position in `src` of the current call. Skips frames that await the call (`at async`). */
function findCallSite(): string | undefined {
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
export function recordRows(): RecordedCall[] {
  Error.stackTraceLimit = 50
  const recorded: RecordedCall[] = []
  const callSites = new WeakMap<object, string | undefined>()
  const { connect } = pg.Pool.prototype
  const { query } = BatchingClient.prototype
  pg.Pool.prototype.connect = function (this: pg.Pool, ...input: unknown[]) {
    const [callback] = input
    const at = findCallSite()
    const recordConnection = (error: unknown, client: object | undefined, release: unknown) => {
      if (client) callSites.set(client, at)
      ;(callback as typeof recordConnection)(error, client, release)
    }
    return Reflect.apply(connect, this, callback ? [recordConnection] : [])
  } as typeof connect
  BatchingClient.prototype.query = function (this: pg.Client, ...input: unknown[]) {
    const [config, callback] = input
    const at = findCallSite() ?? callSites.get(this)
    const recordResult = (error: unknown, result: pg.QueryResult | undefined) => {
      // With a pooler, transactions begin with a setting, which isn't a row of a call.
      const isSetting = result?.fields[0]?.name === 'set_config'
      if (at && result?.fields.length && !isSetting) recorded.push({ at, ...describeColumns(result) })
      ;(callback as typeof recordResult)(error, result)
    }
    return Reflect.apply(query, this, typeof callback === 'function' ? [config, recordResult] : input)
  } as unknown as typeof query
  return recorded
}

/** Returns the columns of a result, and those that are null in at least one row. */
export const describeColumns = ({ fields, rows }: Pick<pg.QueryResult, 'fields' | 'rows'>) => ({
  columns: Object.fromEntries(fields.map(({ name, dataTypeID }) => [name, dataTypeID])),
  nulls: fields.map(({ name }) => name).filter(name => rows.some(row => row[name] === null)),
})
