import { type Database, type Db, sql } from '../../src/database/db.ts'

/** What a process has for a while, and how another one comes by it where it has died: by time. */
const lasting = [
  ['intent', 'id', 'token'],
  ['reservation', 'owner', 'owner'],
  ['job', 'lease', 'lease'],
  ['sync_state', 'run', 'run'],
] as const

/** Has the database note which life of which process took what, by the name of its connection: only of the dead the time may be ended early. */
export async function noteLives({ pool }: Database): Promise<void> {
  await pool.query(`
    create table taken_by (what uuid primary key, life text not null);
    create function note_life() returns trigger language plpgsql as $$
    begin
      insert into taken_by values ((to_jsonb(new)->>tg_argv[0])::uuid, current_setting('application_name'))
        on conflict (what) do update set life = excluded.life;
      return null;
    end $$;
    ${lasting
      .map(
        ([table, what, changes]) =>
          `create trigger note_life after insert or update of ${changes} on ${table} for each row when (new.${what} is not null) execute function note_life('${what}');`,
      )
      .join('\n')}`)
}

/** As when the time of all that a life had taken is over: nobody has to wait for that. */
export async function endTimeOf(db: Db, life: string): Promise<void> {
  const its = sql`(select what from taken_by where life = ${life})`
  await db.run(
    sql`update intent set claimed_until = now() - interval '1 s', next_check_at = least(next_check_at, now()) where id in ${its}`,
  )
  await db.run(sql`update reservation set reserved_until = now() - interval '1 s' where owner in ${its}`)
  await db.run(sql`update job set leased_until = now() - interval '1 s' where lease in ${its}`)
  await db.run(sql`update sync_state set beat_at = null where run in ${its}`)
}
