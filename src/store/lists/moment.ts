import { type Db, raw, Sql, sql } from '../../db.ts'
import type { Service } from '../../settings.ts'
import { kindOf, type List, numberOf } from './change.ts'

/** Where stamps are: a list, or another table whose stamps are all of our own clock. */
export type Stamps = List | Sql

/** The moment up to which a walk is complete, as SQL: the one that its first page has fixed, or the newest that can be told now. */
export const momentOf = async (
  db: Db,
  service: Service,
  stamps: Stamps,
  asOf: string | undefined,
  withRemovals = false,
): Promise<Sql> =>
  asOf === undefined
    ? newestWithin(stamps, service, await horizon(db, service, stamps), withRemovals)
    : sql`${asOf}::timestamptz`

/**
 * The newest change of a list within the horizon: nothing that commits later is stamped at or before it. It never runs ahead
 * of the changes themselves, so that a machine's clock that is set back cannot hide one (docs/decisions/0002). A list that is empty,
 * or whose first load is under way, is complete up to the beginning: what comes into it may be stamped long ago (docs/decisions/0013).
 */
function newestWithin(stamps: Stamps, service: Service, within: string, withRemovals: boolean): Sql {
  const inTime = sql`service_id = ${service.id} and changed_at <= ${within}::timestamptz`
  const ofRecords = sql`(select max(changed_at) from ${tableOf(stamps)} where ${inTime})`
  if (stamps instanceof Sql) return sql`coalesce(${ofRecords}, timestamptz 'epoch')`
  const ofRemovals = sql`(select max(changed_at) from removal where ${inTime} and kind = ${kindOf[stamps]})`
  const newest = sql`coalesce(${withRemovals ? sql`greatest(${ofRecords}, ${ofRemovals})` : ofRecords}, timestamptz 'epoch')`
  return sql`
    case when exists (select from first_load f where f.service_id = ${service.id} and f.kind = ${kindOf[stamps]}) then timestamptz 'epoch' else ${newest} end`
}

export const tableOf = (stamps: Stamps): Sql => (stamps instanceof Sql ? stamps : raw(stamps))

/** The horizon of each list, by its number; that of all lists that nobody back-dates first. */
type Horizons = readonly string[]
interface Questions {
  current?: Promise<Horizons>
  next?: Promise<Horizons>
}
const questions = new WeakMap<Db, Map<number, Questions>>()

async function horizon(db: Db, service: Service, stamps: Stamps): Promise<string> {
  const all = await horizons(db, service)
  return all[stamps instanceof Sql ? 0 : numberOf(stamps)] ?? '-infinity'
}

/**
 * The moments before which nothing in progress can still commit (`list_horizons` in the migrations). Who asks while a question
 * is under way shares the next one: an answer is never older than the request, and the database is asked once for many.
 */
export function horizons(db: Db, { id }: Service): Promise<Horizons> {
  const asked = questions.get(db) ?? new Map<number, Questions>()
  questions.set(db, asked)
  const mine = asked.get(id) ?? {}
  asked.set(id, mine)
  return ask(db, sql`select list_horizons(${id})::text[] as horizons`, mine)
}

function ask(db: Db, question: Sql, mine: Questions): Promise<Horizons> {
  if (mine.current) {
    mine.next ??= mine.current
      .catch(() => {})
      .then(() => {
        delete mine.next
        return ask(db, question, mine)
      })
    return mine.next
  }
  mine.current = db
    .row<{ horizons: string[] }>(question)
    .then(row => row?.horizons ?? [])
    .finally(() => {
      delete mine.current
    })
  return mine.current
}
