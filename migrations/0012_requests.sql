-- The request log: each request, its account and its result (contributing/decisions/0021).

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
  'Entries of the request log, for as long as the setting requestLogRetentionDays says. A block has up to 500 entries that one process '
  'wrote for one second. Each day (UTC) is a partition, which is dropped completely. Blocks are written after the responses, so the entries '
  'of a killed process can be missing. No foreign key, because it would be checked for each row. The view request_log shows single entries.';
comment on column request_block.second is 'Second of the responses. Blocks in the order of their seconds have their entries in the order of time.';
comment on column request_block.block_id is 'Prefix of the process and an increasing number.';
comment on column request_block.marks is
  'Bloom filter of all searchable values: each value sets four bits. A block that lacks one of them does not contain the value and is not '
  'read. Stored inline and uncompressed.';
comment on column request_block.lines is
  'One JSON array per line, durations in tenths of a millisecond. Uncompressed, because compression would take longer than everything else '
  'and a partition is dropped soon.';

create view request_log as
  select b.service_id, b.second, b.second + (l.fields ->> 0)::integer * interval '1 millisecond' as changed_at,
         (to_char((l.fields ->> 0)::integer, 'FM000') || '-' || b.block_id || '-' || to_char(t.place, 'FM000')) collate "C" as line_id,
         l.fields ->> 1 as request_id, l.fields ->> 2 as username, l.fields ->> 3 as operation, l.fields ->> 4 as path,
         coalesce(l.fields ->> 5, l.fields ->> 4) as subject, (l.fields ->> 6)::smallint as status, l.fields ->> 7 as code,
         l.fields ->> 8 as key_hash, round((l.fields ->> 9)::integer / 10.0, 1) as milliseconds, (l.fields ->> 10)::integer as statements,
         round((l.fields ->> 11)::integer / 10.0, 1) as database_ms,
         (select coalesce(json_agg(json_strip_nulls(json_build_object('name', s ->> 0, 'at', round((s ->> 1)::integer / 10.0, 1),
                   'milliseconds', round((s ->> 2)::integer / 10.0, 1), 'outcome', s ->> 3)) order by n), '[]')
            from jsonb_array_elements(l.fields -> 12) with ordinality as step(s, n)) as steps,
         b.marks, t.line, coalesce((l.fields ->> 13)::boolean, false) as is_console, nullif(l.fields -> 14, 'null') as error_fields
    from request_block b
   cross join lateral string_to_table(b.lines, E'\n') with ordinality as t(line, place)
   cross join lateral (select t.line::jsonb as fields offset 0) l;
comment on view request_log is
  'Request log, one row per request, ordered by second and line_id. A search first filters blocks by their marks, then lines by their text, '
  'and parses only the remaining lines as JSON.';
comment on column request_log.changed_at is 'Time of the response.';
comment on column request_log.line_id is 'Unique. Increases within a second.';
comment on column request_log.request_id is 'X-Request-Id. Not unique, because clients can send their own.';
comment on column request_log.operation is 'Method and path with parameter names: PUT /customers/:id.';
comment on column request_log.path is 'Path of the request without its query.';
comment on column request_log.subject is 'Path of the created record, otherwise the path of the request.';
comment on column request_log.code is 'Error code of the response. Null: no error.';
comment on column request_log.key_hash is 'Keyed hash of the Idempotency-Key, in hexadecimal.';
comment on column request_log.statements is 'Number of SQL statements; `database_ms` is the time during which at least one ran.';
comment on column request_log.is_console is 'True for requests of the console.';
comment on column request_log.error_fields is 'Fields that the error names. Null: none.';
comment on column request_log.steps is 'Other steps with their durations.';

create table request_minute (
  service_id integer not null,
  minute timestamptz not null,
  answered integer not null,
  rejected integer not null,
  failed integer not null,
  durations integer[] not null default '{}',
  primary key (service_id, minute)
);
comment on table request_minute is
  'Requests per minute for 31 days, without those of the console. Counted when entries are written, so that a chart does not read millions of '
  'entries.';
comment on column request_minute.answered is 'All requests of the minute.';
comment on column request_minute.durations is 'Latency histogram: the number of requests in each class of domain/latencies.ts.';
comment on column request_minute.rejected is 'Requests with a 4xx response; failed counts those with a 5xx.';

create function request_block_day(day date) returns void language plpgsql as $$
declare
  name text := 'request_block_' || to_char(day, 'YYYYMMDD');
begin
  if to_regclass(name) is not null then return; end if;
  perform pg_advisory_xact_lock(hashtext('request_block_day'));
  -- to_regclass() remembers that there was no table before the wait.
  execute format('create table if not exists %I partition of request_block for values from (%L) to (%L) with (autovacuum_vacuum_insert_threshold = -1)',
    name, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
end $$;
comment on function request_block_day is
  'Creates the partition of a day unless it exists. Vacuum after inserts is off: the partition is dropped before it would help.';

create function drop_request_days(days integer) returns integer language plpgsql as $$
declare
  part text;
  dropped integer := 0;
begin
  -- A slow reader must not block writers: the job tries again.
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
comment on function drop_request_days is 'Drops the partitions of days that ended at least this many days ago. Returns their number.';
