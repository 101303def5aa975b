import { type Database, raw, sql } from '../../db.ts'
import type { Service } from '../../settings.ts'
import type { BackDatedList } from './change.ts'

/** A list's first load. */
export interface FirstLoad {
  /** Shows what it has brought. Waits for a transaction of it that is under way; later ones are ordinary. */
  end(): Promise<unknown>
}

/**
 * Opens a load of a list. The first one that a list has is many transactions that appear as one: the list shows nothing until its end,
 * so that the records may have the times of their source, in whatever order they come (docs/decisions/0011). One that died is gone on
 * with by the next. Undefined: the list has had something, and the load is an ordinary one.
 */
export async function beginLoad(db: Database, service: Service, list: BackDatedList): Promise<FirstLoad | undefined> {
  const mine = sql`service_id = ${service.id} and list = ${list}`
  const had = sql`exists (select from ${raw(list)} where service_id = ${service.id})`
  await db.run(sql`
    insert into first_load (service_id, list, begun)
    select ${service.id}, ${list}, false where not ${had} on conflict do nothing`)
  // Asked again now: from here on a walk that finds a record finds the load as well.
  await db.run(sql`update first_load set begun = true where ${mine} and not begun and not ${had}`)
  await db.run(sql`delete from first_load where ${mine} and not begun`)
  const begun = await db.row(sql`select list from first_load where ${mine}`)
  if (begun) return { end: () => db.run(sql`delete from first_load where ${mine}`) }
}
