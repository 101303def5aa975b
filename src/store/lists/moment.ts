import { type Db, type Sql, sql } from '../../db.ts'
import type { Service } from '../../settings.ts'

/** The moment up to which a walk is complete, as SQL: the one that its first page has fixed, or the newest that can be told now. */
export const momentOf = async (db: Db, service: Service, table: Sql, asOf: string | undefined): Promise<Sql> =>
  asOf === undefined ? newestWithin(table, service, await horizon(db, service)) : sql`${asOf}::timestamptz`

/**
 * The newest change of a list within the horizon: nothing that commits later is stamped at or before it. It never runs ahead
 * of the changes themselves, so that a machine's clock that is set back cannot hide one (docs/decisions/0002).
 */
const newestWithin = (table: Sql, service: Service, within: string) => sql`
  coalesce((select max(changed_at) from ${table} where service_id = ${service.id} and changed_at <= ${within}::timestamptz), ${within}::timestamptz)`

interface Questions {
  current?: Promise<string>
  next?: Promise<string>
}
const questions = new WeakMap<Db, Map<number, Questions>>()

/**
 * The moment before which nothing in progress can still commit (`list_horizon` in the migrations). Who asks while a question
 * is under way shares the next one: an answer is never older than the request, and the database is asked once for many.
 */
function horizon(db: Db, service: Service): Promise<string> {
  const services = questions.get(db) ?? new Map<number, Questions>()
  questions.set(db, services)
  const mine = services.get(service.id) ?? {}
  services.set(service.id, mine)
  return ask(db, service, mine)
}

function ask(db: Db, service: Service, mine: Questions): Promise<string> {
  if (mine.current) {
    mine.next ??= mine.current
      .catch(() => {})
      .then(() => {
        delete mine.next
        return ask(db, service, mine)
      })
    return mine.next
  }
  mine.current = db
    .row<{ horizon: string }>(sql`select list_horizon(${service.id})::text as horizon`)
    .then(row => row?.horizon ?? '-infinity')
    .finally(() => {
      delete mine.current
    })
  return mine.current
}
