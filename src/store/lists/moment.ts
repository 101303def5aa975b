import { type Db, raw, type Sql, sql } from '../../db.ts'
import type { Service } from '../../settings.ts'
import { type BackDatedList, beginning, listNumber } from './change.ts'

/** The table of a list, and the list's name where its records may carry times of their source. */
export interface Walked {
  table: Sql
  list?: BackDatedList | undefined
}

/** The moment up to which a walk is complete, as SQL: the one that its first page has fixed, or the newest that can be told now. */
export const momentOf = async (
  db: Db,
  service: Service,
  { table, list }: Walked,
  asOf: string | undefined,
): Promise<Sql> =>
  asOf === undefined
    ? newestWithin({ table, list }, service, await horizon(db, service, list))
    : sql`${asOf}::timestamptz`

/**
 * The newest change of a list within the horizon: nothing that commits later is stamped at or before it. It never runs ahead
 * of the changes themselves, so that a machine's clock that is set back cannot hide one (docs/decisions/0002). A list that is empty,
 * or whose first load is under way, is complete up to the beginning: what comes into it may be stamped long ago (docs/decisions/0011).
 */
const newestWithin = ({ table, list }: Walked, service: Service, within: string) => sql`
  (select coalesce(max(changed_at), ${raw(beginning)}) from ${table}
    where service_id = ${service.id} and changed_at <= ${within}::timestamptz
      ${list ? sql`and not exists (select from first_load f where f.service_id = ${service.id} and f.list = ${list})` : sql``})`

interface Questions {
  current?: Promise<string>
  next?: Promise<string>
}
const questions = new WeakMap<Db, Map<string, Questions>>()

/**
 * The moment before which nothing in progress can still commit (`list_horizon` in the migrations). Who asks while a question
 * is under way shares the next one: an answer is never older than the request, and the database is asked once for many.
 */
function horizon(db: Db, service: Service, list: BackDatedList | undefined): Promise<string> {
  const asked = questions.get(db) ?? new Map<string, Questions>()
  questions.set(db, asked)
  const name = `${service.id} ${list ?? ''}`
  const mine = asked.get(name) ?? {}
  asked.set(name, mine)
  return ask(db, service, list, mine)
}

function ask(db: Db, service: Service, list: BackDatedList | undefined, mine: Questions): Promise<string> {
  if (mine.current) {
    mine.next ??= mine.current
      .catch(() => {})
      .then(() => {
        delete mine.next
        return ask(db, service, list, mine)
      })
    return mine.next
  }
  mine.current = db
    .row<{ horizon: string }>(sql`select list_horizon(${service.id}, ${listNumber(list)}::integer)::text as horizon`)
    .then(row => row?.horizon ?? '-infinity')
    .finally(() => {
      delete mine.current
    })
  return mine.current
}
