-- Lists: change timestamps, tombstones and commit watermarks, which let a polling client miss nothing (contributing/decisions/0002, 0003).
--
-- The table of each list has two columns for this: `changed_at` is the change timestamp, the time of the record's last change. `record`
-- is the JSON text that the list sends, rendered by the statement that changes the row. Both columns stand near the row's beginning, so
-- that a list reads no further.

create function require_writable(service integer, is_control_write boolean) returns void
language plpgsql volatile as $$
begin
  perform from service s
    where s.service_id = service and s.deletion_state is null
      and case when s.shard_name is not null then is_control_write
               else coalesce(s.move_state = 'draining' or s.move_state = 'paused' and s.paused_until <= clock_timestamp(), true) end;
  if not found then
    raise exception 'service % can''t be written in this database: it is being moved or deleted, or is on another shard', service
      using errcode = '57M01';
  end if;
end $$;
comment on function require_writable is
  'Raises 57M01 if the service can''t be written in this database, because it is on another shard or moves there (contributing/decisions/0030), or '
  'because it is being deleted (contributing/decisions/0031). `is_control_write`: the caller knows that the service is on a shard, and writes only '
  'its rows in the control database. The check is a statement of its own, so that it sees everything committed before it. Call it after '
  'take_writer_lock: whoever pauses a service and then waits for the existing locks has waited for every writer.';

create table database_clock (
  is_only boolean primary key default true check (is_only),
  high_water timestamptz not null,
  expiry_at timestamptz not null,
  corrected_at timestamptz,
  resumes_from timestamptz
);
comment on table database_clock is
  'The clock of this PostgreSQL as Tillbridge has seen it, one row (contributing/decisions/0036). If the clock was ahead and is set back, change '
  'timestamps continue from the latest one at half speed until the clock has caught up, so that no change is hidden.';
comment on column database_clock.high_water is 'The latest time of the clock at a heartbeat.';
comment on column database_clock.expiry_at is 'Follows the clock at most twice as fast as time passes, so that a jump of the clock expires nothing.';
comment on column database_clock.corrected_at is 'When the clock was found to be set back. Null: it was not, or has caught up.';
comment on column database_clock.resumes_from is 'The latest change timestamp at that time. The clock of lists continues from it.';

-- Functions that requests call are in PL/pgSQL, which keeps their plans. PostgreSQL 15 to 17 plan functions in SQL at each call.
create function list_clock(at timestamptz) returns timestamptz
language plpgsql stable as $$
begin
  return coalesce(
    (select greatest(at, resumes_from + greatest(at - corrected_at, interval '0') / 2) from database_clock
      where at < resumes_from + (resumes_from - corrected_at)),
    at);
end $$;
comment on function list_clock is
  'Returns the time that change timestamps and watermarks use instead of the time `at` of the clock: the same, unless the clock was set back. '
  'It never goes back. It must be read by a statement that begins after the writer lock was taken.';

create function correct_clock(newest timestamptz) returns void
language plpgsql volatile as $$
begin
  -- If another transaction is about to do the same, its correction is enough.
  if pg_try_advisory_xact_lock(hashtext('tillbridge'), hashtext('clock')) then
    insert into database_clock as c (high_water, expiry_at, corrected_at, resumes_from)
    values (newest, clock_timestamp(), clock_timestamp(), newest)
    on conflict (is_only) do update set (corrected_at, resumes_from) = (excluded.corrected_at, excluded.resumes_from)
      where list_clock(clock_timestamp()) < excluded.resumes_from;
  end if;
end $$;
comment on function correct_clock is 'Lets the clock of lists continue from `newest`, because the clock of PostgreSQL was set back.';

create function tick_clock(elapsed interval) returns setof database_clock
language plpgsql volatile as $$
declare
  at timestamptz := clock_timestamp();
begin
  insert into database_clock (high_water, expiry_at) values (at, at) on conflict (is_only) do nothing;
  perform correct_clock(high_water + elapsed) from database_clock where high_water > list_clock(at) + interval '1 second';
  if found then
    -- Jobs were scheduled by the clock that was ahead.
    update job set due_at = due_at - (high_water - at), leased_until = leased_until - (high_water - at)
      from database_clock where due_at > at or leased_until > at;
  end if;
  return query
    update database_clock set
      high_water = greatest(high_water, at),
      expiry_at = least(at, expiry_at + 2 * elapsed),
      corrected_at = case when at < resumes_from + (resumes_from - corrected_at) then corrected_at end,
      resumes_from = case when at < resumes_from + (resumes_from - corrected_at) then resumes_from end
    returning *;
end $$;
comment on function tick_clock is
  'Records a heartbeat of the clock, and corrects the clock of lists if it was set back. `elapsed`: the time since the last heartbeat, by a '
  'clock that never jumps.';

create function expiry_clock() returns timestamptz
language plpgsql stable as $$
begin
  return least(now(), (select expiry_at + interval '1 minute' from database_clock));
end $$;
comment on function expiry_clock is 'Returns the time by which stored responses expire: the clock, unless it has jumped ahead.';

create function take_writer_lock(service integer) returns timestamptz
language plpgsql volatile as $$
declare
  started timestamptz := list_clock(clock_timestamp());
  lock_key bigint := (service % 32768)::bigint << 48 | floor(extract(epoch from started) * 1000)::bigint;
begin
  -- As a condition it is no query of its own. No transaction takes such a lock exclusively.
  if not pg_try_advisory_xact_lock_shared(lock_key) then
    perform pg_advisory_xact_lock_shared(lock_key);
  end if;
  return started;
end $$;
comment on function take_writer_lock is
  'Announces that a transaction is about to change lists: takes a shared advisory lock whose key contains the service and the current time '
  'in milliseconds. Returns that time. The lock ends with the transaction, whether it commits, fails or its process dies.';

create function next_change_timestamp(service integer, newest timestamptz, is_control_write boolean default false) returns timestamptz
language plpgsql volatile as $$
declare
  started timestamptz := take_writer_lock(service);
  issued timestamptz;
begin
  perform require_writable(service, is_control_write);
  issued := greatest(list_clock(clock_timestamp()), started);
  if newest > issued + interval '1 second' then
    perform correct_clock(newest);
    issued := greatest(list_clock(clock_timestamp()), issued);
  end if;
  return greatest(issued, newest + interval '1 microsecond');
end $$;
comment on function next_change_timestamp is
  'Returns the change timestamp for everything that a transaction changes in lists, after it has taken the writer lock. Readers list '
  'nothing from the oldest writer lock on (commit_watermarks), so that a change that commits late is never earlier than a time up to which '
  'a client has already read a complete list. The result is later than `newest`, the newest change timestamp of these lists, even if the '
  'clock was set back.';

create table initial_load (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null,
  is_started boolean not null default false,
  heartbeat_at timestamptz not null default clock_timestamp(),
  primary key (service_id, kind)
);
comment on table initial_load is
  'Running initial loads of empty lists (contributing/decisions/0013). A list shows nothing while it has a row here, so that its records can carry '
  'the times of their source in any order. Deleting the row ends the load, even if the loader has died.';
comment on column initial_load.kind is 'Kind of record, as in the API: customer.';
comment on column initial_load.is_started is 'True once the list was confirmed never to have had a record, after this row had hidden it.';
comment on column initial_load.heartbeat_at is 'When the load last wrote a batch. A job ends loads that have stopped.';

create table tombstone (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null,
  id text collate "C" not null,
  changed_at timestamptz not null,
  primary key (service_id, kind, id)
);
create index tombstone_changed on tombstone (service_id, kind, changed_at, id);
comment on table tombstone is
  'Records removed from their lists, written by the transaction that removes them, with its change timestamp. They keep the newest change '
  'timestamp of a list known, and the change feed reports them. If a record is back, its change timestamp is later than its tombstone.';
comment on column tombstone.kind is 'Kind of record, as in the API: inventory.';
comment on column tombstone.id is 'Identifier that the record showed.';
comment on column tombstone.changed_at is 'Change timestamp.';

create table tombstone_purge (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null,
  purged_until timestamptz not null,
  primary key (service_id, kind)
);
comment on table tombstone_purge is
  'Lists with purged tombstones: a job deletes those older than the setting `tombstoneRetentionDays`. A reader that has not read past '
  '`purged_until` may have missed one, and must start again.';
comment on column tombstone_purge.purged_until is 'Change timestamp of the newest purged tombstone. All earlier ones are purged.';

create function start_back_dating(service integer, record_kind text, list_number integer, list_table text) returns timestamptz
language plpgsql volatile as $$
declare
  query text := format(
    'select greatest((select max(changed_at) from %I where service_id = $1), (select max(changed_at) from tombstone where service_id = $1 and kind = $2))', list_table);
  newest timestamptz;
  earliest timestamptz;
begin
  perform pg_advisory_xact_lock(service, hashtext('start_back_dating ' || record_kind));
  perform require_writable(service, false);
  update initial_load l set heartbeat_at = clock_timestamp() where l.service_id = service and l.kind = record_kind and l.is_started;
  if found then
    return timestamptz 'epoch' + interval '1 microsecond';
  end if;
  execute query into newest using service, record_kind;
  if newest is null then
    return null;
  end if;
  earliest := date_trunc('milliseconds', newest) + interval '1 millisecond';
  perform pg_advisory_xact_lock_shared(
    ((service % 32768)::bigint << 48) | (list_number::bigint << 44) | (extract(epoch from earliest) * 1000)::bigint);
  execute query into newest using service, record_kind;
  return greatest(earliest, newest + interval '1 microsecond');
end $$;
comment on function start_back_dating is
  'Lets a transaction write records of one list with change timestamps in the past (contributing/decisions/0013). Returns the earliest permitted '
  'change timestamp, or null if back-dating is not possible: of an empty list it is unknown what clients have already read. `list_number` '
  '(1 to 15) is a part of the lock key. Only one transaction at a time can back-date a list. Takes a writer lock as take_writer_lock does, '
  'but with the millisecond after the list''s newest change instead of the clock, and then reads the newest change again: each query is a '
  'statement that sees everything committed before it. An initial load only locks its row.';

create function commit_watermarks(service integer) returns timestamptz[]
language plpgsql volatile as $$
declare
  watermarks timestamptz[] := array_fill(list_clock(statement_timestamp()) - interval '1 microsecond', array[16]);
  writers record;
begin
  for writers in
    select (key >> 44)::integer & 15 as list_number,
           min(to_timestamp((key & ((1::bigint << 44) - 1)) / 1000.0)) - interval '1 microsecond' as watermark
      from (select classid::bigint << 32 | objid::bigint as key
              from pg_locks
             where locktype = 'advisory' and objsubid = 1 and database = (select oid from pg_database where datname = current_database())) writer_lock
     where key >> 48 = service % 32768
     group by 1
  loop
    -- Writers without back-dating (0) count for every list.
    for i in writers.list_number + 1 .. case writers.list_number when 0 then 16 else writers.list_number + 1 end loop
      watermarks[i] := least(watermarks[i], writers.watermark);
    end loop;
  end loop;
  return watermarks;
end $$;
comment on function commit_watermarks is
  'Returns the commit watermarks of a service: no transaction in progress can still commit a change at or before them. The first element is '
  'valid for all lists without back-dating, each further one for the list with that number. statement_timestamp() is read before pg_locks, '
  'and a page must be read by a later statement. Services with the same number modulo 32768 share lock keys: their watermark can be earlier '
  'than necessary, but never later.';

create table reference (
  service_id integer not null references service on delete cascade,
  type text collate "C" not null,
  reference_value_id text collate "C" not null,
  code text,
  name text not null,
  primary key (service_id, type, reference_value_id)
);
comment on table reference is
  'Reference cache: code and name of the values that customers and products refer to. If a value changes, the records that show it are '
  'rendered again.';
comment on column reference.type is 'In camelCase: favouriteStore.';
comment on column reference.reference_value_id is 'Identifier that reference_values of a customer or product contains.';

create function render_references(service integer, reference_values jsonb) returns json
language plpgsql stable as $$
begin
  if reference_values = '{}' then
    return '{}';
  end if;
  return (
    select coalesce('{' || string_agg(to_json(v.key)::text || ':' || row_to_json(shown)::text, ',' order by v.key) || '}', '{}')::json
      from jsonb_each_text(reference_values) v
      -- One index look-up per value: without the offset, all references of the service are read for every record.
      left join lateral (select code, name from reference where service_id = service and type = v.key and reference_value_id = v.value offset 0) r on true
      cross join lateral (select r.code, r.name, v.value as "referenceValueId") shown);
end $$;
comment on function render_references is
  'Returns the references of a record as JSON, an object per type. A value that is not in the cache is shown with its identifier only.';
