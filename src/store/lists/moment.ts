import { type Db, raw, Sql, sql } from '../../db.ts'
import type { Service } from '../../settings.ts'
import { kindOf, type List, numberOf } from './change.ts'

/** Where stamps are: a list, or another table whose stamps are all of our own clock. */
export type Stamps = List | Sql

/** The moment up to which a walk is complete, as SQL: the one that its first page has fixed, or the newest that can be told now. */
export const momentOf = async (db: Db, service: Service, stamps: Stamps, asOf: string | undefined): Promise<Sql> =>
  asOf === undefined ? newestWithin(stamps, service, await horizon(db, service, stamps)) : sql`${asOf}::timestamptz`

/**
 * The newest change of a list within the horizon: nothing that commits later is stamped at or before it. It never runs ahead
 * of the changes themselves, so that a machine's clock that is set back cannot hide one (docs/decisions/0002). A list that is empty,
 * or whose first load is under way, is complete up to the beginning: what comes into it may be stamped long ago (docs/decisions/0013).
 */
function newestWithin(stamps: Stamps, service: Service, within: string): Sql {
  const newest = sql`
    coalesce((select max(changed_at) from ${tableOf(stamps)} where service_id = ${service.id} and changed_at <= ${within}::timestamptz), timestamptz 'epoch')`
  if (stamps instanceof Sql) return newest
  return sql`
    case when exists (select from first_load f where f.service_id = ${service.id} and f.kind = ${kindOf[stamps]}) then timestamptz 'epoch' else ${newest} end`
}

export const tableOf = (stamps: Stamps): Sql => (stamps instanceof Sql ? stamps : raw(stamps))

interface Questions {
  current?: Promise<string>
  next?: Promise<string>
}
const questions = new WeakMap<Db, Map<string, Questions>>()

/**
 * The moment before which nothing in progress can still commit (`list_horizon` in the migrations). Who asks while a question
 * is under way shares the next one: an answer is never older than the request, and the database is asked once for many.
 */
function horizon(db: Db, { id }: Service, stamps: Stamps): Promise<string> {
  const number = stamps instanceof Sql ? 0 : numberOf(stamps)
  const asked = questions.get(db) ?? new Map<string, Questions>()
  questions.set(db, asked)
  const mine = asked.get(`${id} ${number}`) ?? {}
  asked.set(`${id} ${number}`, mine)
  return ask(db, sql`select list_horizon(${id}, ${number})::text as horizon`, mine)
}

function ask(db: Db, question: Sql, mine: Questions): Promise<string> {
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
    .row<{ horizon: string }>(question)
    .then(row => row?.horizon ?? '-infinity')
    .finally(() => {
      delete mine.current
    })
  return mine.current
}
