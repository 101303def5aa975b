-- The request log: what was asked, by whom, and what became of it (contributing/decisions/0021).

create table request_block (
  service_id integer not null,
  second timestamptz not null,
  block_id text collate "C" not null,
  marks bytea not null,
  lines text not null,
  primary key (service_id, second, block_id)
) partition by range (second);
alter table request_block alter marks set storage plain, alter lines set storage external;
comment on table request_block is
  'Lines of the request log, for as long as a service''s setting requestLogRetentionDays says: those of one second that one process wrote '
  'together, as many as 500. A partition a day (UTC), which is dropped whole. Written after the answers, by as few rows as it takes: what a '
  'process had not written when it was killed is not there. Without a foreign key, which would be looked up for each row. The view '
  'request_log has them line by line.';
comment on column request_block.second is 'In which all of it was answered: blocks in the order of their seconds are lines in the order of time.';
comment on column request_block.block_id is 'Given by the process that answered: its own prefix, and a number that grows.';
comment on column request_block.marks is
  'A Bloom filter of all by which its lines can be searched: each value has set four bits. A block that lacks one of them has no such line, '
  'and is not read. Never out of line, nor compressed.';
comment on column request_block.lines is
  'A JSON array in each line of text, durations as tenths of a millisecond. Not compressed, which would take longer than all else: a day''s partition goes soon enough.';

create view request_log as
  select b.service_id, b.second, b.second + (l.fields ->> 0)::integer * interval '1 millisecond' as changed_at,
         (to_char((l.fields ->> 0)::integer, 'FM000') || '-' || b.block_id || '-' || to_char(t.place, 'FM000')) collate "C" as line_id,
         l.fields ->> 1 as request_id, l.fields ->> 2 as username, l.fields ->> 3 as operation, l.fields ->> 4 as path,
         coalesce(l.fields ->> 5, l.fields ->> 4) as subject, (l.fields ->> 6)::smallint as status, l.fields ->> 7 as code,
         l.fields ->> 8 as key_hash, round((l.fields ->> 9)::integer / 10.0, 1) as milliseconds, (l.fields ->> 10)::integer as statements,
         round((l.fields ->> 11)::integer / 10.0, 1) as database_ms,
         (select coalesce(json_agg(json_strip_nulls(json_build_object('what', s ->> 0, 'at', round((s ->> 1)::integer / 10.0, 1),
                   'milliseconds', round((s ->> 2)::integer / 10.0, 1), 'outcome', s ->> 3)) order by n), '[]')
            from jsonb_array_elements(l.fields -> 12) with ordinality as each(s, n)) as steps,
         b.marks, t.line
    from request_block b
   cross join lateral string_to_table(b.lines, E'\n') with ordinality as t(line, place)
   cross join lateral (select t.line::jsonb as fields offset 0) l;
comment on view request_log is
  'Each request that was answered. Along time it is ordered by second and line_id. Whoever looks for a value asks first whether a block has '
  'its marks, and whether the text of a line has it: only what is left is read as JSON.';
comment on column request_log.changed_at is 'When it was answered.';
comment on column request_log.line_id is 'Of this line alone; those of a second grow with time.';
comment on column request_log.request_id is 'X-Request-Id: the caller''s own where there was one, so that it may come twice.';
comment on column request_log.operation is 'Method and path, its parameters by their names: PUT /customers/:id.';
comment on column request_log.path is 'As it was asked for, without its query.';
comment on column request_log.subject is 'What it was about: the path of what was made, else its own.';
comment on column request_log.code is 'The error that was answered. Null: there was none.';
comment on column request_log.key_hash is 'A keyed hash of the Idempotency-Key, in hexadecimal.';
comment on column request_log.statements is 'How many statements were asked of the database, and in database_ms how long they took together.';
comment on column request_log.steps is 'What else it took time for.';

create table request_minute (
  service_id integer not null,
  minute timestamptz not null,
  answered integer not null,
  rejected integer not null,
  failed integer not null,
  primary key (service_id, minute)
);
comment on table request_minute is
  'Requests per minute, for GET /stats. Counted when entries are written, so that a chart does not read millions of entries.';
comment on column request_minute.answered is 'All requests of the minute.';
comment on column request_minute.rejected is 'Requests with a 4xx response; failed counts those with a 5xx.';

create function request_block_day(day date) returns void language plpgsql as $$
declare
  name text := 'request_block_' || to_char(day, 'YYYYMMDD');
begin
  if to_regclass(name) is not null then return; end if;
  perform pg_advisory_xact_lock(hashtext('request_block_day'));
  if to_regclass(name) is not null then return; end if;
  execute format('create table %I partition of request_block for values from (%L) to (%L) with (autovacuum_vacuum_insert_threshold = -1)',
    name, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
end $$;
comment on function request_block_day is
  'Makes the partition of a day, unless it is there. It is not vacuumed for its new rows: it is dropped long before that would gain anything.';

create function forget_request_days(days integer) returns integer language plpgsql as $$
declare
  part text;
  dropped integer := 0;
begin
  -- A reader that takes long keeps nobody waiting: it is tried again.
  set local lock_timeout = '2s';
  for part in
    select inhrelid::regclass::text from pg_inherits
     where inhparent = 'request_block'::regclass
       and inhrelid::regclass::text < 'request_block_' || to_char(now() at time zone 'UTC' - days * interval '1 day', 'YYYYMMDD')
  loop
    execute format('drop table %s', part);
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;
comment on function forget_request_days is 'Drops the partitions of all days that ended so many days ago, or longer. Returns how many there were.';
