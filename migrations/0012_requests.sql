-- The log of requests: what was asked, by whom, and what became of it (docs/decisions/0021).

create table request_log (
  service_id integer not null,
  changed_at timestamptz not null,
  line_id text collate "C" not null,
  request_id text collate "C" not null,
  username text collate "C" not null,
  operation text collate "C" not null,
  path text collate "C" not null,
  subject text collate "C" not null,
  status smallint not null,
  code text collate "C",
  key_hash bytea,
  milliseconds real not null,
  statements integer not null,
  database_ms real not null,
  steps text,
  primary key (service_id, changed_at, line_id)
) partition by range (changed_at);
create index request_log_request on request_log (service_id, request_id);
create index request_log_key on request_log (service_id, key_hash) where key_hash is not null;
create index request_log_subject on request_log (service_id, subject, changed_at);
create index request_log_failed on request_log (service_id, changed_at, line_id) where status >= 400;
comment on table request_log is
  'A line for each request that came to a service, for as long as its setting requestsKeptDays says; a partition a day (UTC), which is '
  'dropped whole. Written after the answer, many at once: what a process had not written when it was killed is not there. Without a '
  'foreign key, which would be looked up for each line.';
comment on column request_log.changed_at is 'When it was answered.';
comment on column request_log.line_id is 'Given by the process that answered: its own prefix, and a number that grows.';
comment on column request_log.request_id is 'X-Request-Id: the caller''s own where there was one, so that it may come twice.';
comment on column request_log.operation is 'Method and path, its parameters by their names: PUT /customers/:id.';
comment on column request_log.path is 'As it was asked for, without its query.';
comment on column request_log.subject is 'What it was about: the path of what was made, else its own.';
comment on column request_log.code is 'The error that was answered. Null: there was none.';
comment on column request_log.key_hash is 'A keyed hash of the Idempotency-Key.';
comment on column request_log.statements is 'How many statements were asked of the database, and in database_ms how long they took together.';
comment on column request_log.steps is 'What else it took time for, as JSON. Null: nothing.';

create table request_minute (
  service_id integer not null,
  minute timestamptz not null,
  answered integer not null,
  refused integer not null,
  failed integer not null,
  primary key (service_id, minute)
);
comment on table request_minute is
  'How many requests each minute had, for the day that GET /figures shows: counted as their lines are written, so that nobody reads '
  'millions of lines to draw a chart.';
comment on column request_minute.answered is 'All of them.';
comment on column request_minute.refused is 'Those that were answered 4xx, and in failed 5xx.';

create function request_log_day(day date) returns void language plpgsql as $$
declare
  name text := 'request_log_' || to_char(day, 'YYYYMMDD');
begin
  if to_regclass(name) is not null then return; end if;
  perform pg_advisory_xact_lock(hashtext('request_log_day'));
  execute format('create table if not exists %I partition of request_log for values from (%L) to (%L) with (autovacuum_vacuum_insert_threshold = -1)',
    name, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
end $$;
comment on function request_log_day is
  'Makes the partition of a day, unless it is there. It is not vacuumed for its new lines: it is dropped long before that would gain anything.';

create function forget_request_log(days integer) returns integer language plpgsql as $$
declare
  part text;
  dropped integer := 0;
begin
  -- A reader that takes long keeps nobody waiting: it is tried again.
  set local lock_timeout = '2s';
  for part in
    select inhrelid::regclass::text from pg_inherits
     where inhparent = 'request_log'::regclass and inhrelid::regclass::text < 'request_log_' || to_char(now() at time zone 'UTC' - days * interval '1 day', 'YYYYMMDD')
  loop
    execute format('drop table %s', part);
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;
comment on function forget_request_log is 'Drops the partitions of all days that ended so many days ago, or longer. Returns how many there were.';
