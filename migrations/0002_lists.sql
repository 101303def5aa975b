-- Lists: what lets a client that polls miss nothing (docs/decisions/0002), and what makes records (docs/decisions/0003).
--
-- What a list shows has two columns for it. `changed_at` is the stamp: when the record last changed. `record` is what the list answers
-- with, JSON text that is made by the statement that changes the row. Both stand near the row's beginning: a list reads no further.

create function require_here(tenant integer, elsewhere boolean) returns void
language plpgsql volatile as $$
begin
  perform from service s
    where s.service_id = tenant and s.ending is null
      and case when s.data_database is not null then elsewhere
               else coalesce(s.moving = 'draining' or s.moving = 'shut' and s.shut_until <= clock_timestamp(), true) end;
  if not found then
    raise exception 'The service % is being moved or removed, or is in another database.', tenant using errcode = '57M01';
  end if;
end $$;
comment on function require_here is
  'Fails where the service is not written in this database: it moves, or is elsewhere, and whoever asks does not know (docs/decisions/0030), '
  'or it is being removed (docs/decisions/0031). '
  '`elsewhere`: they do know, and write what the control database has of it. A statement of its own: it sees what was committed before it. '
  'Behind the lock that announces the change, so that who shuts a service, and then waits for the locks that there are, has waited for all.';

create function announce_change(tenant integer) returns timestamptz
language plpgsql volatile as $$
declare
  began timestamptz := clock_timestamp();
  announced bigint := (tenant % 32768)::bigint << 48 | floor(extract(epoch from began) * 1000)::bigint;
begin
  -- As a condition it is no query of its own. Nobody has such a lock to himself.
  if not pg_try_advisory_xact_lock_shared(announced) then
    perform pg_advisory_xact_lock_shared(announced);
  end if;
  return began;
end $$;
comment on function announce_change is
  'Announces that a transaction is about to change lists, by a lock whose key holds the service and the moment, in milliseconds, which it '
  'returns; the lock goes with the transaction, however that ends.';

create function begin_change(tenant integer, newest timestamptz, elsewhere boolean default false) returns timestamptz
language plpgsql volatile as $$
declare
  began timestamptz := announce_change(tenant);
begin
  perform require_here(tenant, elsewhere);
  return greatest(clock_timestamp(), began, newest + interval '1 microsecond');
end $$;
comment on function begin_change is
  'The stamp for what a transaction is about to change in lists. The transaction announces itself by a lock whose key holds the service '
  'and the moment it began, in milliseconds; the lock goes with the transaction, however that ends. A reader lists nothing from the '
  'oldest announced moment on (list_horizons), so that a change which commits late is never behind a moment up to which some client '
  'was told that its list is complete. The stamp is later than `newest`, the newest one in these lists, whatever the clock says.';

create table first_load (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null,
  begun boolean not null default false,
  alive_at timestamptz not null default clock_timestamp(),
  primary key (service_id, kind)
);
comment on table first_load is
  'Lists whose first load is under way (docs/decisions/0013). Until the row is gone the list shows nothing, so that its records may carry '
  'the times that their source tells, in whatever order they come. Deleting the row ends the load, whatever became of the loader.';
comment on column first_load.kind is 'Of the records, in the words of the API: customer.';
comment on column first_load.begun is 'The list was found never to have had anything, once this row was there to hide what comes.';
comment on column first_load.alive_at is 'When the load last brought something. A job ends those that have died.';

create table removal (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null,
  id text collate "C" not null,
  changed_at timestamptz not null,
  primary key (service_id, kind, id)
);
create index removal_changed on removal (service_id, kind, changed_at, id);
comment on table removal is
  'Records that have left their lists: written by the transaction that removes them, with its stamp. So the newest stamp that a list ever '
  'had stays known, and who follows changes can be told. A record that is there again is newer than its removal.';
comment on column removal.kind is 'In the words of the API: inventory.';
comment on column removal.id is 'What the record showed as its identifier.';
comment on column removal.changed_at is 'The stamp.';

create table forgotten_removals (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null,
  newest timestamptz not null,
  primary key (service_id, kind)
);
comment on table forgotten_removals is
  'That removals were forgotten, by a job, once they were as old as the setting `removalsKeptDays`. Who has not been told of changes '
  'since then may have missed one, and begins anew.';
comment on column forgotten_removals.newest is 'The stamp of the newest one that is forgotten; all before it are.';

create function back_date(tenant integer, kind text, number integer, list text) returns timestamptz
language plpgsql volatile as $$
declare
  question text := format(
    'select greatest((select max(changed_at) from %I where service_id = $1), (select max(changed_at) from removal where service_id = $1 and kind = $2))', list);
  newest timestamptz;
  announced timestamptz;
begin
  perform pg_advisory_xact_lock(tenant, hashtext('back_date ' || kind));
  perform require_here(tenant, false);
  update first_load f set alive_at = clock_timestamp() where f.service_id = tenant and f.kind = back_date.kind and f.begun;
  if found then
    return timestamptz 'epoch' + interval '1 microsecond';
  end if;
  execute question into newest using tenant, kind;
  if newest is null then
    return null;
  end if;
  announced := date_trunc('milliseconds', newest) + interval '1 millisecond';
  perform pg_advisory_xact_lock_shared(
    ((tenant % 32768)::bigint << 48) | (number::bigint << 44) | (extract(epoch from announced) * 1000)::bigint);
  execute question into newest using tenant, kind;
  return greatest(announced, newest + interval '1 microsecond');
end $$;
comment on function back_date is
  'Lets a transaction stamp records of one list (its table, and its number, 1 to 15) with times that are past (docs/decisions/0013), and '
  'answers from when on; null: it may not, for nobody knows what an empty list has told. One transaction at a time for each list. It '
  'announces itself as begin_change does, with the millisecond after the newest stamp of the list in the place of the clock, and then '
  'looks at the newest stamp once more: each question is a statement that sees what was committed before it. A load that is the first holds its row.';

create function list_horizons(tenant integer) returns timestamptz[]
language sql volatile as $$
  select array_agg(least(statement_timestamp(), moment) - interval '1 microsecond' order by list)
    from (select list, min(to_timestamp((key & ((1::bigint << 44) - 1)) / 1000.0)) as moment
            from generate_series(0, 15) list
            left join (select classid::bigint << 32 | objid::bigint as key
                         from pg_locks
                        where locktype = 'advisory' and objsubid = 1 and database = (select oid from pg_database where datname = current_database())) announced
              on key >> 48 = tenant % 32768 and (key >> 44) & 15 in (0, list)
           group by list) each
$$;
comment on function list_horizons is
  'The moments before which no transaction in progress can still commit a change of a list: first that of all lists that nobody '
  'back-dates, then, by their numbers, those of the others. statement_timestamp() is read before pg_locks is; a page has to be read by a '
  'later statement. Services whose numbers are the same modulo 32768 wait for each other: the horizon is then earlier than it need be, '
  'and never later.';

create table reference (
  service_id integer not null references service on delete cascade,
  type text collate "C" not null,
  reference_value_id text collate "C" not null,
  code text,
  name text not null,
  primary key (service_id, type, reference_value_id)
);
comment on table reference is
  'The reference cache: what the references of customers and products actually say. Records that show a value are rendered anew when '
  'it changes.';
comment on column reference.type is 'In camelCase: favouriteStore.';
comment on column reference.reference_value_id is 'What reference_values of a customer or a product hold.';

create function rendered_references(tenant integer, reference_values jsonb) returns json
language sql stable as $$
  select coalesce('{' || string_agg(to_json(v.key)::text || ':' || row_to_json(said)::text, ',' order by v.key) || '}', '{}')::json
    from jsonb_each_text(reference_values) v
    -- Each by its key: without the offset, all of the service's are read for every record.
    left join lateral (select code, name from reference where service_id = tenant and type = v.key and reference_value_id = v.value offset 0) r on true
    cross join lateral (select r.code, r.name, v.value as "referenceValueId") said
$$;
comment on function rendered_references is
  'What references say, as records show them: an object by type. A value that the cache does not know stands with its identifier alone.';
