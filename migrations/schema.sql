-- The tables, views and functions that all migrations create, for reading only. Written by `npm run docs`.


-- 0001_services.sql
-- Services, accounts and shards.
--
-- Rules for all tables:
-- * Each key begins with service_id, except in the few tables of the whole installation. No statement reads rows of another service, and
--   the tables can be distributed by service. Deleting a service deletes all its rows.
-- * Identifiers are text. Those of records of the back office are its own. They sort by code point (collate "C"), so that the order of a
--   page never depends on the locale of a machine.
-- * A timestamptz is an instant. A timestamp without time zone is the wall-clock time in the service's time zone.
-- * Amounts have four decimals in every currency.
-- * A hash is an HMAC-SHA-256; encryption is AES-256-GCM. The keys come from a secret outside the database, so that a stolen dump
--   reveals neither.

-- Other databases that services can be in (contributing/decisions/0030). They have the same tables; this one is empty there.
create table shard (
  name text collate "C" not null,
  url bytea not null,  -- Connection string, encrypted.
  added_at timestamptz not null default now(),
  primary key (name)
);

-- A retailer's tenancy.
create table service (
  service_id integer not null generated always as identity,
  name text not null,                    -- Value of X-Service-Name.
  settings jsonb not null default '{}',  -- Changed settings, by the names that GET /settings shows. Defaults are not in the database.
  created_at timestamptz not null default now(),
  restored_at timestamptz,               -- When the service was restored from a backup, or its times were corrected. Cursors from before
                                         -- carry an older value and are rejected.
  deletion_state text,                   -- Stage of a requested deletion. locked: no request and no job is admitted; the data is complete,
                                         -- and the service can be unlocked. purging: rows are deleted in batches, including ledgers. Null:
                                         -- not being deleted.
  shard_name text collate "C",           -- Shard of the service. A row with the same number and name there has its settings. Null: this
                                         -- database.
  move_state text,                       -- Stage of a move to or from another database, or of a restore in place. incoming: rows arrive
                                         -- here, and requests are not served. draining: no job starts here. paused: no writes until
                                         -- paused_until. moved_away: no more writes; rows that are already on the other database are
                                         -- deleted. read_only: reads are served here, writes not yet. Null: the service is not moving or
                                         -- being restored.
  paused_until timestamptz,              -- End of the write pause, even if the process that moves or restores the service dies.
  primary key (service_id),
  unique (name),
  foreign key (shard_name) references shard(name),
  check (deletion_state in ('locked', 'purging')),
  check (move_state in ('incoming', 'draining', 'paused', 'moved_away', 'read_only'))
);
create index service_shard_name_idx on service (shard_name) where shard_name is not null;

-- True if the rows of a service in this database, including its ledgers, can be deleted: it is being deleted, or is in another database.
create function is_purgeable(service) returns boolean language sql immutable as $$
  select coalesce($1.deletion_state = 'purging' or $1.move_state in ('incoming', 'moved_away') or $1.shard_name is not null, false)
$$;

-- Services that are moving from one database to another (contributing/decisions/0030), or are restored in place
-- (contributing/decisions/0047), only in the control database. A row is deleted when no rows are left at the source, or none of an
-- abandoned move at the target.
create table service_move (
  service_id integer not null,
  source text collate "C",                -- Shard that the service leaves, and in `target` the one it moves to. Null: the control database.
  target text collate "C",                -- Null: the service is restored in place, in the database `source`.
  state text not null default 'copying',  -- copying: served at the source. switched: served at the target.
  owner uuid not null,                    -- Process that executes the move. It changes if another process takes over.
  started_at timestamptz not null default clock_timestamp(),
  heartbeat_at timestamptz not null default clock_timestamp(),  -- Last heartbeat of the owner.
  switched_at timestamptz,
  copy_slots text,                        -- Regular expression of the replication slots by which the target copies tables: if the target
                                          -- dies, they remain at the source. Null: none was created.
  primary key (service_id),
  foreign key (service_id) references service(service_id) on delete cascade,
  foreign key (source) references shard(name),
  foreign key (target) references shard(name),
  check (state in ('copying', 'switched'))
);
create index service_move_source_idx on service_move (source);
create index service_move_target_idx on service_move (target);

-- API clients and people who sign in. An account belongs to the installation and can be assigned to several services.
create table account (
  username text collate "C" not null,
  skeleton text collate "C" not null,                -- The same for all usernames that look alike (Unicode Technical Standard 39), so that
                                                     -- only one of them can exist.
  created_at timestamptz not null default now(),
  trusts_shopper_ip boolean not null default false,  -- True if the header X-Shopper-IP of this account is trusted. All shoppers of a web
                                                     -- shop share one IP address, and wrong PINs are counted per address.
  identity_issuer text collate "C",                  -- Issuer URL of the identity provider with which a person signs in, and sets the roles
                                                     -- of the account. Null: the account has passwords.
  identity_subject text collate "C",                 -- The claim sub, which identifies the person at that issuer.
  primary key (username),
  unique (identity_issuer, identity_subject),
  unique (skeleton),
  check ((identity_issuer is null) = (identity_subject is null))
);

-- Active passwords of an account, at most two, so that a password can be replaced without an outage.
create table account_password (
  username text collate "C" not null,
  password_hash bytea not null,  -- A fast hash is sufficient, because a password has 256 random bits.
  created_at timestamptz not null default now(),
  primary key (username, password_hash),
  foreign key (username) references account(username) on delete cascade
);

-- Browsers that are signed in to the console, for at most 12 hours, and one hour without a request. A session ends with its account, and
-- with the password that it was opened with.
create table console_session (
  token_hash bytea not null,                   -- Hash of the session cookie, so that a stolen dump contains no usable cookie.
  username text collate "C" not null,
  password_hash bytea,                         -- Password that opened the session. Null: a sign-in link or the identity provider opened it.
  begun_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),  -- Last use, to the minute.
  primary key (token_hash),
  foreign key (username) references account(username) on delete cascade,
  foreign key (username, password_hash) references account_password(username, password_hash) on update cascade on delete cascade
);
create index console_session_begun_at_idx on console_session (begun_at);
create index console_session_username_password_hash_idx on console_session (username, password_hash);

-- Links that sign in to the console, once, within 60 seconds. The first use deletes them.
create table console_link (
  link_hash bytea not null,  -- Hash of the token in the link.
  username text collate "C" not null,
  made_at timestamptz not null default now(),
  primary key (link_hash),
  foreign key (username) references account(username) on delete cascade
);
create index console_link_made_at_idx on console_link (made_at);
create index console_link_username_idx on console_link (username);

-- Second factors of accounts: time-based one-time passwords (RFC 6238).
create table second_factor (
  username text collate "C" not null,
  secret bytea not null,             -- Encrypted.
  last_step bigint not null,         -- Time step of the last accepted code, so that no code is accepted twice.
  recovery_hashes bytea[] not null,  -- Hashes of the unused recovery codes. A fast hash is sufficient for 80 random bits.
  enrolled_at timestamptz not null default now(),
  primary key (username),
  foreign key (username) references account(username) on delete cascade
);

-- Completed sign-ins with an identity provider, so that no response of it opens two sessions. Deleted when their state has expired.
create table console_sign_in (
  state_hash bytea not null,  -- Hash of the parameter state.
  completed_at timestamptz not null default now(),
  primary key (state_hash)
);
create index console_sign_in_completed_at_idx on console_sign_in (completed_at);

-- The services that an account is assigned to.
create table account_service (
  service_id integer not null,
  username text collate "C" not null,
  role text not null,                         -- Each role includes the permissions of the previous ones.
  is_program boolean not null default false,  -- True for a program, such as a web shop. False for a person. The same in all services of the
                                              -- account: it is stored here because the list of a service is filtered by it.
  changed_at timestamptz not null default clock_timestamp(),  -- When the account received this role.
  primary key (service_id, username),
  foreign key (service_id) references service(service_id) on delete cascade,
  foreign key (username) references account(username) on delete cascade,
  check (role in ('visitor', 'maintainer', 'admin'))
);
create index account_service_changed on account_service (service_id, changed_at);
create index account_service_program on account_service (service_id, is_program, username);
create index account_service_username_idx on account_service (username);

-- Last request of an account to a service, to the minute. Separate from its assignment, whose row is locked by changes.
create table account_use (
  service_id integer not null,
  username text collate "C" not null,
  used_at timestamptz not null,
  primary key (service_id, username),
  foreign key (service_id, username) references account_service(service_id, username) on delete cascade
);

-- Credentials of an account for one service, with some of the permissions of its role (contributing/decisions/0043). A key never changes.
create table api_key (
  service_id integer not null,
  username text collate "C" not null,
  name text collate "C" not null,  -- Names the key in the audit log.
  key_hash bytea not null,         -- A fast hash is sufficient, because a key has 256 random bits.
  scopes text[],                   -- Groups of operations such as orders:read. Null: all that keys can call.
  stores text[],                   -- Numbers of the stores that the key is limited to. Null: all.
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  used_at timestamptz,             -- Last request, to the minute. Null: never used.
  primary key (service_id, username, name),
  foreign key (service_id, username) references account_service(service_id, username) on delete cascade
);
create index api_key_username_key_hash_idx on api_key (username, key_hash);

-- Requests of an account to a deprecated operation, counted since its deprecation.
create table deprecated_use (
  service_id integer not null,
  username text collate "C" not null,
  operation text collate "C" not null,  -- Method and path of the route: GET /stores/:id.
  requests bigint not null,
  used_at timestamptz not null,         -- Time of the last request, within a few seconds.
  primary key (service_id, username, operation),
  foreign key (service_id, username) references account_service(service_id, username) on delete cascade
);

-- Wrong passwords, PINs and validation IDs per minute, counted for all processes and deleted after an hour.
create table failure (
  subject bytea not null,             -- Hash of the account or IP address and of what failed, so that neither is stored.
  window_start timestamptz not null,  -- Start of the minute.
  failures integer not null,
  primary key (subject, window_start)
);
create index failure_window_start_idx on failure (window_start);

-- Applied migrations. The runner creates this table before it applies the first one.
create table migration (
  number integer not null,
  name text not null,
  sha256 text not null,                 -- Hexadecimal digest of the applied file. A file with the same number and another digest is
                                        -- rejected.
  requires integer not null default 0,  -- Newest migration that a process must know to use the database. 0 if the migration only adds
                                        -- something.
  applied_at timestamptz not null default now(),
  primary key (number)
);

-- One row, inserted by the first start.
create table installation (
  single boolean not null default true,
  secret_digest bytea not null,  -- Hash with a key derived from the secret. A process with another secret doesn't start: no password or PIN
                                 -- would match, and encrypted values could not be read.
  backed_up_at timestamptz,      -- Time of the data in the newest complete backup. Null before the first backup.
  shard_name text collate "C",   -- Name of this database as a shard of an installation. Null: this is a control database, which can be
                                 -- started.
  lookup_secret bytea,           -- Secret of hashes that must stay the same, encrypted. Null: it is derived from the secret itself.
  previous_digest bytea,         -- Digest of the previous secret during a rotation, while values still need it. Every process must have it.
  primary key (single),
  check (single)
);


-- 0002_lists.sql
-- Lists: change timestamps, tombstones and commit watermarks, which let a polling client miss nothing (contributing/decisions/0002, 0003).
--
-- The table of each list has two columns for this: `changed_at` is the change timestamp, the time of the record's last change. `record`
-- is the JSON text that the list sends, rendered by the statement that changes the row. Both columns stand near the row's beginning, so
-- that a list reads no further.

-- Raises 57M01 if the service can't be written in this database, because it is on another shard or moves there
-- (contributing/decisions/0030), or because it is being deleted (contributing/decisions/0031). `is_control_write`: the caller knows that
-- the service is on a shard, and writes only its rows in the control database. The check is a statement of its own, so that it sees
-- everything committed before it. Call it after take_writer_lock: whoever pauses a service and then waits for the existing locks has waited
-- for every writer.
create function require_writable(service integer, is_control_write boolean) returns void language plpgsql as $$
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

-- The clock of this PostgreSQL as Tillbridge has seen it, one row (contributing/decisions/0036). If the clock was ahead and is set back,
-- change timestamps continue from the latest one at half speed until the clock has caught up, so that no change is hidden.
create table database_clock (
  is_only boolean not null default true,
  high_water timestamptz not null,  -- The latest time of the clock at a heartbeat.
  expiry_at timestamptz not null,   -- Follows the clock at most twice as fast as time passes, so that a jump of the clock expires nothing.
  corrected_at timestamptz,         -- When the clock was found to be set back. Null: it was not, or has caught up.
  resumes_from timestamptz,         -- The latest change timestamp at that time. The clock of lists continues from it.
  primary key (is_only),
  check (is_only)
);

-- Returns the time that change timestamps and watermarks use instead of the time `at` of the clock: the same, unless the clock was set
-- back. It never goes back. It must be read by a statement that begins after the writer lock was taken.
create function list_clock(at timestamptz) returns timestamptz language plpgsql stable as $$
begin
  return coalesce(
    (select greatest(at, resumes_from + greatest(at - corrected_at, interval '0') / 2) from database_clock
      where at < resumes_from + (resumes_from - corrected_at)),
    at);
end $$;

-- Lets the clock of lists continue from `newest`, because the clock of PostgreSQL was set back.
create function correct_clock(newest timestamptz) returns void language plpgsql as $$
begin
  -- If another transaction is about to do the same, its correction is enough.
  if pg_try_advisory_xact_lock(hashtext('tillbridge'), hashtext('clock')) then
    insert into database_clock as c (high_water, expiry_at, corrected_at, resumes_from)
    values (newest, clock_timestamp(), clock_timestamp(), newest)
    on conflict (is_only) do update set (corrected_at, resumes_from) = (excluded.corrected_at, excluded.resumes_from)
      where list_clock(clock_timestamp()) < excluded.resumes_from;
  end if;
end $$;

-- Records a heartbeat of the clock, and corrects the clock of lists if it was set back. `elapsed`: the time since the last heartbeat, by a
-- clock that never jumps.
create function tick_clock(elapsed interval) returns setof database_clock language plpgsql as $$
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

-- Returns the time by which stored responses expire: the clock, unless it has jumped ahead.
create function expiry_clock() returns timestamptz language plpgsql stable as $$
begin
  return least(now(), (select expiry_at + interval '1 minute' from database_clock));
end $$;

-- Announces that a transaction is about to change lists: takes a shared advisory lock whose key contains the service and the current time
-- in milliseconds. Returns that time. The lock ends with the transaction, whether it commits, fails or its process dies.
create function take_writer_lock(service integer) returns timestamptz language plpgsql as $$
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

-- Returns the change timestamp for everything that a transaction changes in lists, after it has taken the writer lock. Readers list nothing
-- from the oldest writer lock on (commit_watermarks), so that a change that commits late is never earlier than a time up to which a client
-- has already read a complete list. The result is later than `newest`, the newest change timestamp of these lists, even if the clock was
-- set back.
create function next_change_timestamp(service integer, newest timestamptz, is_control_write boolean default false) returns timestamptz language plpgsql as $$
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

-- Running initial loads of empty lists (contributing/decisions/0013). A list shows nothing while it has a row here, so that its records can
-- carry the times of their source in any order. Deleting the row ends the load, even if the loader has died.
create table initial_load (
  service_id integer not null,
  kind text collate "C" not null,             -- Kind of record, as in the API: customer.
  is_started boolean not null default false,  -- True once the list was confirmed never to have had a record, after this row had hidden it.
  heartbeat_at timestamptz not null default clock_timestamp(),  -- When the load last wrote a batch. A job ends loads that have stopped.
  primary key (service_id, kind),
  foreign key (service_id) references service(service_id) on delete cascade
);

-- Records removed from their lists, written by the transaction that removes them, with its change timestamp. They keep the newest change
-- timestamp of a list known, and the change feed reports them. If a record is back, its change timestamp is later than its tombstone.
create table tombstone (
  service_id integer not null,
  kind text collate "C" not null,   -- Kind of record, as in the API: inventory.
  id text collate "C" not null,     -- Identifier that the record showed.
  changed_at timestamptz not null,  -- Change timestamp.
  primary key (service_id, kind, id),
  foreign key (service_id) references service(service_id) on delete cascade
);
create index tombstone_changed on tombstone (service_id, kind, changed_at, id);

-- Lists with purged tombstones: a job deletes those older than the setting `tombstoneRetentionDays`. A reader that has not read past
-- `purged_until` may have missed one, and must start again.
create table tombstone_purge (
  service_id integer not null,
  kind text collate "C" not null,
  purged_until timestamptz not null,  -- Change timestamp of the newest purged tombstone. All earlier ones are purged.
  primary key (service_id, kind),
  foreign key (service_id) references service(service_id) on delete cascade
);

-- Lets a transaction write records of one list with change timestamps in the past (contributing/decisions/0013). Returns the earliest
-- permitted change timestamp, or null if back-dating is not possible: of an empty list it is unknown what clients have already read.
-- `list_number` (1 to 15) is a part of the lock key. Only one transaction at a time can back-date a list. Takes a writer lock as
-- take_writer_lock does, but with the millisecond after the list's newest change instead of the clock, and then reads the newest change
-- again: each query is a statement that sees everything committed before it. An initial load only locks its row.
create function start_back_dating(service integer, record_kind text, list_number integer, list_table text) returns timestamptz language plpgsql as $$
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

-- Returns the commit watermarks of a service: no transaction in progress can still commit a change at or before them. The first element is
-- valid for all lists without back-dating, each further one for the list with that number. statement_timestamp() is read before pg_locks,
-- and a page must be read by a later statement. Services with the same number modulo 32768 share lock keys: their watermark can be earlier
-- than necessary, but never later.
create function commit_watermarks(service integer) returns timestamptz[] language plpgsql as $$
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

-- Reference cache: code and name of the values that customers and products refer to. If a value changes, the records that show it are
-- rendered again.
create table reference (
  service_id integer not null,
  type text collate "C" not null,                -- In camelCase: favouriteStore.
  reference_value_id text collate "C" not null,  -- Identifier that reference_values of a customer or product contains.
  code text,
  name text not null,
  primary key (service_id, type, reference_value_id),
  foreign key (service_id) references service(service_id) on delete cascade
);

-- Returns the references of a record as JSON, an object per type. A value that is not in the cache is shown with its identifier only.
create function render_references(service integer, reference_values jsonb) returns json language plpgsql stable as $$
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


-- 0003_catalog.sql
-- Catalog and inventory: stores, their staff, products and stock.

-- Returns a text for comparison: lowercase, without diacritics of Latin letters, with one kind of apostrophe.
create function fold_text(text text) returns text language sql immutable as $$$$;

-- Returns the entries of a search index: the words of a text, and the digits of phone numbers from the last to the first, so that a prefix
-- finds a number with or without its country code. Each entry begins with the service. The text is cut, because an entry has a size limit.
create function search_words(service_id integer, text text, phones text) returns tsvector language sql immutable as $$$$;

-- Returns the query for `search_words` that requires a word with each prefix. Null for a text without words.
create function search_prefixes(service_id integer, text text) returns tsquery language sql stable as $$$$;

-- Stores, as GET /stores shows them. If a store changes, the stock and customers that show it are rendered again.
create table store (
  service_id integer not null,
  store_id text collate "C" not null,
  changed_at timestamptz not null,         -- Change timestamp.
  source_changed_at timestamp,             -- When the content last changed in its source, or was written: local time of the service. Older
                                           -- lines of files are skipped.
  record text not null,
  store_number text collate "C" not null,  -- The retailer's number of the store. Text, because leading zeros are significant.
  kind text collate "C" not null default 'store',
  code text,
  name text not null,
  email text,
  address_line1 text,
  address_line2 text,
  city text,
  state text,
  postcode text,
  country text,
  inventory_buffer integer,                -- Units of each SKU that this store keeps from online sale. Null: the setting inventoryBuffer.
  ecommerce_location_id text,              -- Location of the store in the e-commerce platform. Several stores can share it.
  primary key (service_id, store_id),
  unique (service_id, store_number),
  foreign key (service_id) references service(service_id) on delete cascade,
  check (kind in ('store', 'warehouse', 'web'))
);
create index store_changed on store (service_id, changed_at, store_id);
create index store_mapped on store (service_id, store_id) where ecommerce_location_id is not null;
create index store_unmapped on store (service_id, store_id) where ecommerce_location_id is null;

-- Staff members, as GET /staff shows them.
create table staff (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamptz not null,       -- Change timestamp.
  source_changed_at timestamp,           -- When the content last changed in its source, or was written: local time of the service. Older
                                         -- lines of files are skipped.
  record text not null,
  code text collate "C" not null,        -- Code with which they sign in to the till.
  firstname text,
  surname text not null,
  email text,
  store_number text collate "C",
  active boolean not null default true,  -- False if they have left.
  primary key (service_id, id),
  unique (service_id, code),
  foreign key (service_id) references service(service_id) on delete cascade
);
create index staff_changed on staff (service_id, changed_at, id);
create index staff_email on staff (service_id, lower(email));

-- Products, as GET /products shows them: each with its colours, and each colour with its sizes.
create table product (
  service_id integer not null,
  product_id text collate "C" not null,
  changed_at timestamptz not null,               -- Change timestamp.
  record text not null,
  product_code text collate "C" not null,        -- The retailer's code of the product. Not unique.
  name text not null,
  description text,
  size_range text,                               -- As text: XS-XL.
  reference_values jsonb not null default '{}',  -- Reference value ID by type: {"brand": "1342"}. Code and name are in the table reference.
  primary key (service_id, product_id),
  foreign key (service_id) references service(service_id) on delete cascade
);
create index product_changed on product (service_id, changed_at, product_id);
create index product_code on product (service_id, product_code);
create index product_search on product using gin (search_words(service_id, name, ''));

-- Colours of products.
create table colour (
  service_id integer not null,
  product_id text collate "C" not null,
  colour_id text collate "C" not null,
  code text,
  name text,
  ecommerce_product_id text,                     -- Product of this colour in the e-commerce platform.
  markdown_status text not null default 'none',  -- none, markdown or clearance (reduced permanently).
  primary key (service_id, product_id, colour_id),
  foreign key (service_id, product_id) references product(service_id, product_id) on delete cascade
);

-- A size of a colour: the unit that is sold and stocked.
create table variant (
  service_id integer not null,
  sku_id text collate "C" not null,                -- The back office's identifier of the SKU.
  product_id text collate "C" not null,
  colour_id text collate "C" not null,
  source_changed_at timestamp,                     -- When the content last changed in its source, or was written: local time of the
                                                   -- service. Older lines of files are skipped.
  sku text collate "C" not null,                   -- The SKU in the e-commerce platform; `sku` in the API. Equal to sku_id until it is
                                                   -- mapped.
  size_code text not null,
  sequence integer,                                -- Position of the size among the sizes of its colour.
  original_price numeric(16,4) not null,           -- Before markdowns.
  price numeric(16,4) not null,
  barcode text,
  price_changes jsonb not null default '[]',       -- The coming prices as the API lists them, by date; of a back office that knows them.
  allow_backorder boolean not null default false,  -- Orders can exceed the units that can be sold.
  preorder_date date,                              -- First day of delivery. Only shown.
  primary key (service_id, sku_id),
  unique (service_id, sku),
  foreign key (service_id, product_id, colour_id) references colour(service_id, product_id, colour_id) on delete cascade
);
create index variant_barcode on variant (service_id, barcode) where barcode is not null;
create index variant_mapped on variant (service_id, sku_id) where sku <> sku_id;
create index variant_product on variant (service_id, product_id, colour_id);
create index variant_unmapped on variant (service_id, sku_id) where sku = sku_id;

-- Stock of each SKU in each store, as GET /inventory shows it.
create table stock (
  service_id integer not null,
  store_id text collate "C" not null,
  sku_id text collate "C" not null,
  changed_at timestamptz not null,       -- Change timestamp.
  source_changed_at timestamp,           -- When the content last changed in its source, or was written: local time of the service. Older
                                         -- lines of files are skipped.
  record text not null,                  -- Also shows the store, the SKU and the effective buffer.
  free_stock numeric(13,3) not null,     -- Units, or up to three decimals for weighed goods. Negative if more were sold than the store had.
  buffer integer,                        -- Units kept from online sale. Null: the store's inventory_buffer.
  allocated integer not null default 0,  -- Units of orders that are not shipped. `free_stock` still contains them, so that a stock file of
                                         -- a till can't make them sellable again.
  reserved integer not null default 0,   -- Units of reservations that have not expired.
  id text collate "C" not null generated always as ((store_id || ' ') || sku_id) stored,  -- Store and SKU as one value. Orders stock with
                                                                                          -- the same change timestamp in lists.
  sold_at timestamptz,                   -- When an order last took units off `free_stock`. Stock that was read from the back office before
                                         -- this time can only lower it.
  primary key (service_id, store_id, sku_id),
  foreign key (service_id, sku_id) references variant(service_id, sku_id) on delete cascade,
  foreign key (service_id, store_id) references store(service_id, store_id) on delete cascade,
  check (allocated >= 0),
  check (reserved >= 0)
);
create index stock_changed on stock (service_id, changed_at, id);
create index stock_sku on stock (service_id, sku_id, id);
create index stock_store on stock (service_id, store_id, changed_at, id);

-- Units that an account has reserved for a checkout. An order or a release deletes the row, and so does a job when it has expired. Readers
-- ignore expired rows.
create table stock_reservation (
  service_id integer not null,
  id text collate "C" not null,
  reference text,
  account text not null,  -- Account that made the reservation. Its reservations are limited.
  expires_at timestamptz not null,
  primary key (service_id, id),
  foreign key (service_id) references service(service_id) on delete cascade
);
create index stock_reservation_account on stock_reservation (service_id, account, expires_at);
-- For the job that ends reservations.
create index stock_reservation_expires on stock_reservation (expires_at);

-- Reserved units by stock. Their sum is stock.reserved, which the same transaction changes. Changed only while the stock is locked.
create table stock_reservation_line (
  service_id integer not null,
  reservation_id text collate "C" not null,
  store_id text collate "C" not null,
  sku_id text collate "C" not null,
  sequence integer not null,   -- Position in the request, from 1.
  quantity integer not null,
  requested integer not null,  -- Units that were requested. More than the reserved ones if the reservation is partial.
  primary key (service_id, reservation_id, store_id, sku_id),
  foreign key (service_id, reservation_id) references stock_reservation(service_id, id) on delete cascade,
  foreign key (service_id, store_id, sku_id) references stock(service_id, store_id, sku_id) on delete cascade,
  check (quantity > 0),
  check (requested > 0)
);
create index stock_reservation_line_stock on stock_reservation_line (service_id, store_id, sku_id);

-- Queue of stores and SKUs that have changed and are shown in much stock. The transaction of the change inserts a row; the job render-stock
-- renders the stock in batches.
create table stock_rerender (
  service_id integer not null,
  stock_column text collate "C" not null,               -- Column of stock that contains `id`.
  id text collate "C" not null,
  rendered_up_to text collate "C" not null default '',  -- Last SKU of the store whose stock is rendered.
  primary key (service_id, stock_column, id),
  foreign key (service_id) references service(service_id) on delete cascade,
  check (stock_column in ('store_id', 'sku_id'))
);


-- 0004_customers.sql
-- Customers and their consent.

-- Returns a name for comparison and sorting, surname first: lowercase, without diacritics of Latin letters, with one kind of apostrophe.
-- Cut to 200 characters, because an index entry has a size limit.
create function customer_name_key(surname text, firstname text) returns text language sql immutable as $$$$;

-- Customers, as GET /customers and /customers/search show them: from the back office, or created here.
create table customer (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamptz not null,               -- Change timestamp.
  source_changed_at timestamp,                   -- When the content last changed in its source, or was written: local time of the service.
                                                 -- Older lines of files are skipped.
  privacy_changed_at timestamp,                  -- The same time of this flag: an older line can't give consent that was withdrawn later.
  email_subscription_changed_at timestamp,       -- The same time of this flag: an older line can't give consent that was withdrawn later.
  sms_subscription_changed_at timestamp,         -- The same time of this flag: an older line can't give consent that was withdrawn later.
  record text not null,                          -- Without the e-commerce identifiers and the closing brace, because one of the lists
                                                 -- leaves them out.
  ecommerce_ids text not null,                   -- End of the record in lists that show the e-commerce identifiers, with the closing brace.
  code text,                                     -- The back office's code. Not necessarily unique.
  title text,
  firstname text,
  surname text,
  date_of_birth date,
  start_date timestamp,                          -- When they became a customer.
  email text,
  phone_home text,
  phone_mobile text,
  phone_work text,
  address_line1 text,
  address_line2 text,
  city text,
  state text,
  postcode text,
  country text,
  privacy boolean not null default true,         -- True: no marketing. True until the customer consents; a subscription is consent.
  email_subscription boolean not null default false,
  sms_subscription boolean not null default false,
  reference_values jsonb not null default '{}',  -- Reference value ID by type: {"favouriteStore": "4411"}. Code and name are in the table
                                                 -- reference.
  loyalty_code text,                             -- Code of the loyalty program, from the back office.
  loyalty_name text,
  joined_store_id text collate "C",              -- Store where they signed up. The record shows its code.
  ecommerce_admin_id text,                       -- In the format of the platform's API: gid://shop/Customer/6477890125896.
  ecommerce_legacy_id text,                      -- The same ID in the legacy format: 6477890125896.
  primary key (service_id, id)
);
create index customer_changed on customer (service_id, changed_at, id);
-- Finds a customer by the platform's legacy ID, which is also the end of the admin ID.
create index customer_ecommerce_id on customer (service_id, coalesce(ecommerce_legacy_id, "substring"(ecommerce_admin_id, '[^/]*$')) collate "C");
create index customer_joined_store on customer (service_id, joined_store_id) where joined_store_id is not null;
create index customer_mapped on customer (service_id, id) where ecommerce_admin_id is not null or ecommerce_legacy_id is not null;
-- Search by name, sorted by surname.
create index customer_name on customer (service_id, customer_name_key(surname, firstname) collate "C", id);
create index customer_search on customer using gin (search_words(service_id, (((coalesce(firstname, '') || ' ') || coalesce(surname, '')) || ' ') || coalesce(email, ''), (((coalesce(phone_home, '') || ',') || coalesce(phone_mobile, '')) || ',') || coalesce(phone_work, '')));
create index customer_unmapped on customer (service_id, id) where ecommerce_admin_id is null and ecommerce_legacy_id is null;
-- Two customers cannot share an email address. Addresses that differ only in case or in Unicode normalization (NFC, NFD) are equal.
create unique index customer_email on customer (service_id, lower(normalize(email, nfc)));
create trigger customer_erased after insert on customer referencing new table as added for each statement execute function reject_erased_customer();

-- Customers that the back office has deleted, removed from the list (contributing/decisions/0015): fields that only Tillbridge has, in case
-- the customer comes back. Their orders and sales stay.
create table former_customer (
  service_id integer not null,
  id text collate "C" not null,
  removed_at timestamptz not null default clock_timestamp(),
  ecommerce_admin_id text,
  ecommerce_legacy_id text,
  email_subscription boolean not null,
  sms_subscription boolean not null,
  joined_store_id text collate "C",
  primary key (service_id, id),
  foreign key (service_id) references service(service_id) on delete cascade
);

-- Erased customers (contributing/decisions/0015). The identifier is never used again: imports cannot create a customer with it, and later
-- sales with it have no customer.
create table erasure (
  service_id integer not null,
  customer_id text collate "C" not null,
  erased_at timestamptz not null default clock_timestamp(),  -- When the customer left the list. Later writes cannot refer to them.
  completed_at timestamptz,  -- When the last personal data was deleted. Null: a job is still working on it.
  primary key (service_id, customer_id),
  foreign key (service_id) references service(service_id) on delete cascade
);

-- Rejects customers that were erased. Checks after the insert: an erasure that deleted an earlier row is committed by then.
create function reject_erased_customer() returns trigger language plpgsql as $$
begin
  if exists (select from added join erasure e on e.service_id = added.service_id and e.customer_id = added.id) then
    raise exception 'the customer was erased' using errcode = 'integrity_constraint_violation', constraint = 'customer_erased';
  end if;
  return null;
end $$;

-- History of consent per customer: evidence of when it was given and withdrawn. Append-only. Written by API writes, imports and syncs. An
-- import that creates a customer writes nothing. It stays when a customer leaves, and is deleted when they are erased.
create table consent_change (
  service_id integer not null,
  customer_id text collate "C" not null,
  change_number bigint not null generated always as identity,
  channel text collate "C" not null,  -- `marketing` is the inverse of the customer's privacy.
  old_value boolean,                  -- Consent before the change. Null: the customer is new.
  new_value boolean not null,
  changed_at timestamptz not null default clock_timestamp(),
  username text not null,
  request_id text not null,
  primary key (service_id, customer_id, change_number),
  check (channel in ('marketing', 'email', 'sms')),
  check (new_value is distinct from old_value)
);
create trigger consent_change_append_only before delete or update on consent_change for each row execute function reject_consent_modification();

-- Rejects updates of the consent history, and deletions unless the customer was erased or the service is purgeable.
create function reject_consent_modification() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and (not exists (select from service where service_id = old.service_id and not is_purgeable(service))
     or exists (select from erasure where service_id = old.service_id and customer_id = old.customer_id)) then
    return old;
  end if;
  raise exception 'the consent record is append-only';
end $$;


-- 0005_sales.sql
-- Sales in stores and online, orders placed here, and their returns.
--
-- Orders and returns have no stored record: they are rendered when they are read, also in the change feed, which is ordered by `changed_at`.

-- Gateways with which orders and vouchers can be paid: the setting `gateways`.
create table payment_gateway (
  service_id integer not null,
  name text collate "C" not null,
  primary key (service_id, name),
  foreign key (service_id) references service(service_id) on delete cascade
);

-- Returns the number on the receipt of a transaction, in capitals.
create function receipt_number(record text) returns text language sql immutable as $$$$;

-- Sales and returns of stores and of the web, as a customer's history and GET /orders/transactions/search show them. They come from syncs
-- and imports; the embedded back office also adds them when an order is shipped or returned. They are documents: names are those of the day
-- of the sale.
create table retail_transaction (
  service_id integer not null,
  id text collate "C" not null,
  customer_id text collate "C",     -- Null: the customer is unknown or was erased.
  order_number text collate "C",
  sale_date timestamp not null,
  changed_at timestamptz not null,  -- Change timestamp.
  source_changed_at timestamp,      -- When the content last changed in its source, or was written: local time of the service. Older lines
                                    -- of files are skipped.
  record text not null,             -- The whole transaction. Its lines have no table; they are merged into this record.
  primary key (service_id, id)
);
create index retail_transaction_changed on retail_transaction (service_id, changed_at, id) include (sale_date);
create index retail_transaction_customer on retail_transaction (service_id, customer_id, sale_date, id);
create index retail_transaction_number on retail_transaction (service_id, receipt_number(record) collate "C");
create index retail_transaction_order on retail_transaction (service_id, lower(order_number)) where order_number is not null;
create index retail_transaction_sale_date on retail_transaction (service_id, sale_date, id) include (changed_at);

-- Last generated order numbers (W0000001) and return numbers (R0000001). Numbers that callers have used are skipped. Each of several
-- streams generates every 32nd number, so that an order does not wait for the commit of another one.
create table order_counter (
  service_id integer not null,
  kind text collate "C" not null,
  stream integer not null,
  last_number bigint not null,
  primary key (service_id, kind, stream),
  foreign key (service_id) references service(service_id) on delete cascade,
  check (kind in ('order', 'return'))
);

-- Orders, as GET /orders/:id shows them: placed here, imported from an earlier system, or orders of an external back office that have a
-- return.
create table sales_order (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamptz not null,                   -- Change timestamp.
  placed_at timestamptz not null,
  order_number text collate "C" not null,
  customer_id text collate "C",                      -- Customer when the order was placed. No foreign key, because they may have left the
                                                     -- list. Null: erased, and the addresses are emptied.
  pickup_store_number text collate "C",              -- Store where the shopper collects the order.
  billing_address json not null,                     -- Addresses are json, not jsonb, to keep the order of their fields.
  delivery_address json not null,
  currency text not null,                            -- Currency setting when the order was placed.
  decimals integer not null,                         -- Decimals of the currency in which amounts are shown.
  freight numeric(16,4) not null,
  tax_lines json not null default '[]'::json,        -- Sales taxes on top of the prices: [{"name", "percentage", "amount"}].
  total numeric(16,4) not null,                      -- Sum of the line values, plus freight and sales taxes.
  has_imported_sale boolean not null default false,  -- True if an import contained the sale of this order, which then replaces the sale
                                                     -- that shipping the order records.
  imported_at timestamptz,                           -- `changed_at` as set by the last import: if changed_at is later, the order has
                                                     -- changed here since. Null: not imported.
  import_digest bytea,                               -- Digest of the imported content. Importing the same content again changes nothing.
  ready_at timestamptz,                              -- When the store reported that the shopper can collect the order.
  collected_at timestamptz,                          -- When the shopper collected the order.
  cancellations json not null default '[]'::json,    -- Cancellations in Tillbridge, oldest first: [{"at", "username", "apiKey", "lines":
                                                     -- [{"sku", "quantity"}], "refund"}].
  ecommerce_order_id text collate "C",               -- The ID of the order on the e-commerce platform, whose committed units the stock push
                                                     -- accounts for.
  ecommerce_read_at timestamptz,                     -- When the platform order was last read. An older read never replaces a newer one.
  primary key (service_id, id),
  unique (service_id, order_number),
  check (freight >= 0),
  check (total >= freight),
  constraint sales_order_imported check ((imported_at is null) = (import_digest is null))
);
-- For the change feed, and for the orders whose shipment a sync checks.
create index sales_order_changed on sales_order (service_id, changed_at, id);
create index sales_order_customer on sales_order (service_id, customer_id, placed_at, id);
create index sales_order_ecommerce on sales_order (service_id, ecommerce_order_id) where ecommerce_order_id is not null;
create index sales_order_placed on sales_order (service_id, placed_at) include (currency, total);

-- Lines of an order. SKU, product, colour and size keep their names of that time.
create table order_line (
  service_id integer not null,
  order_id text collate "C" not null,
  sequence integer not null,                         -- From 1.
  status text collate "C" not null,                  -- A line leaves `processing` with its last open unit. It is `returned` if all its
                                                     -- shipped units are returned.
  sku_id text collate "C" not null,
  sku text collate "C" not null,
  product_code text not null,
  product_name text not null,
  colour_code text,
  colour_name text,
  size_code text not null,
  quantity integer not null,
  price numeric(16,4) not null,                      -- Per unit, before discounts.
  discounts json not null,                           -- Discounts on the line: [{"type", "reason", "amount", "percentage"}].
  value numeric(16,4) not null,                      -- Amount paid for the line: all units, less discounts.
  store_id text collate "C",                         -- Store whose stock was reduced. Null: no stock was reduced here.
  is_allocated boolean not null default false,       -- True if the open units count in stock.allocated, until they are shipped or
                                                     -- cancelled.
  shipped integer not null default 0,                -- Shipped units. `quantity` less these and the cancelled ones are open.
  cancelled integer not null default 0,              -- Cancelled units.
  cancelled_value numeric(16,4) not null default 0,  -- The cancelled units' share of `value`.
  returned integer not null default 0,               -- Returned or announced units: the sum of its return lines that are not cancelled,
                                                     -- plus units returned before an import.
  refunded numeric(16,4) not null default 0,         -- Refunded amount: the returned units' share of `value`.
  primary key (service_id, order_id, sequence),
  foreign key (service_id, order_id) references sales_order(service_id, id) on delete cascade,
  check (quantity > 0),
  check (status in ('processing', 'shipped', 'cancelled', 'returned')),
  check (value >= 0),
  -- No more is refunded than was paid.
  constraint order_line_refunded check (refunded >= 0 and cancelled_value >= 0 and (refunded + cancelled_value) <= value),
  -- No more units are returned than were shipped.
  constraint order_line_returned check (returned >= 0 and returned <= shipped),
  -- The status follows from the units. A line is `returned` if all its shipped units have come back; announced units leave it `shipped`.
  constraint order_line_sold check (case status when 'processing' then (shipped + cancelled) < quantity when 'cancelled' then cancelled = quantity else shipped > 0 and (shipped + cancelled) = quantity and (status = 'shipped' or returned = shipped) end),
  -- No more units are shipped and cancelled than were ordered.
  constraint order_line_units check (shipped >= 0 and cancelled >= 0 and (shipped + cancelled) <= quantity)
);

-- Payments of an order.
create table order_payment (
  service_id integer not null,
  order_id text collate "C" not null,
  sequence integer not null,
  gateway text not null,
  amount numeric(16,4) not null,
  reference text,                   -- The gateway's reference.
  voucher_number text collate "C",  -- Gift voucher that pays. Its validation ID is not stored.
  primary key (service_id, order_id, sequence),
  foreign key (service_id, order_id) references sales_order(service_id, id) on delete cascade,
  check (amount >= 0)
);

-- Parcels of orders, as GET /shipments/:id shows them.
create table shipment (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamptz not null,
  order_id text collate "C" not null,
  source_key text collate "C" not null,      -- Distinguishes the shipments of an order: the tracking number, if the source has one.
  shipped_at timestamptz,
  carrier text,
  tracking_number text,
  tracking_url text,
  store_id text collate "C",                 -- Store that the shipment left from. Null: not known, or the stores of its lines.
  lines json not null,                       -- The content, by order line: [{"orderSequence", "sku", "quantity"}]. orderSequence is null
                                             -- for an item that is not on the order.
  cartons json not null default '[]'::json,  -- The content by carton, if the back office knows it: [{"number", "lines": [{"sku",
                                             -- "quantity"}]}].
  primary key (service_id, id),
  unique (service_id, source_key, order_id),
  foreign key (service_id, order_id) references sales_order(service_id, id) on delete cascade
);
create index shipment_changed on shipment (service_id, changed_at, id);
create index shipment_order on shipment (service_id, order_id, id);

-- Returns, as GET /returns/:id shows them.
create table sales_return (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamptz not null,                   -- Change timestamp.
  created_at timestamptz not null,
  order_id text collate "C" not null,
  return_number text collate "C" not null,
  authorisation_number text collate "C" not null,    -- Number that the shopper writes on the parcel.
  status text collate "C" not null,
  restock boolean not null,                          -- True if the units can be sold again and go back into stock.
  exchange_order_id text collate "C",                -- Order that the shopper got in exchange. Null: the return is no exchange.
  exchange_credit numeric(16,4) not null default 0,  -- Part of the refund that pays for that order. The rest is refunded.
  back_office_id text collate "C",                   -- The back office's ID of the return, by which its status is requested. Null: unknown,
                                                     -- or there is no back office.
  back_office_status text,                           -- The back office's word for the status, as it was last read.
  polled_at timestamptz,                             -- When the back office was last asked for the status. Null: never.
  primary key (service_id, id),
  unique (service_id, return_number),
  foreign key (service_id, order_id) references sales_order(service_id, id) on delete cascade,
  check (exchange_credit >= 0),
  check (status in ('requested', 'received', 'refunded', 'cancelled'))
);
create index sales_return_changed on sales_return (service_id, changed_at, id);
create index sales_return_exchange on sales_return (service_id, exchange_order_id) where exchange_order_id is not null;
create index sales_return_open on sales_return (service_id, order_id, id) where (status in ('requested', 'received')) and back_office_id is not null;
create index sales_return_order on sales_return (service_id, order_id, created_at, id);

-- Units that a return takes back from one order line.
create table return_line (
  service_id integer not null,
  return_id text collate "C" not null,
  sequence integer not null,                    -- From 1.
  order_id text collate "C" not null,
  order_sequence integer not null,
  quantity integer not null,
  value numeric(16,4) not null,                 -- Refund: the share of the amount paid for the order line.
  reason_code text not null,                    -- A code of the setting `returnReasons`.
  notes text,                                   -- The shopper's comment.
  is_cancelled boolean not null default false,  -- True if the back office has cancelled this line, but not the return: its units can be
                                                -- returned again.
  received integer not null default 0,          -- Units that have arrived.
  restocked integer not null default 0,         -- Received units that went back into stock. Cancelling the return takes them off again.
  primary key (service_id, return_id, sequence),
  foreign key (service_id, order_id, order_sequence) references order_line(service_id, order_id, sequence) on delete cascade,
  foreign key (service_id, return_id) references sales_return(service_id, id) on delete cascade,
  check (quantity > 0),
  check (received >= 0 and received <= quantity),
  check (restocked >= 0 and restocked <= received),
  check (value >= 0)
);
create index return_line_order on return_line (service_id, order_id, order_sequence);


-- 0006_vouchers.sql
-- Gift vouchers: those of the embedded back office, each with a ledger, and the state of vouchers in external back offices.

-- Gift vouchers of the embedded back office. Only the ledger (voucher_entry) changes balance, state and lock. The passage of time changes
-- no row: readers treat an expired lock as none and a voucher after its last day as expired, until the next entry or the daily job records
-- it.
create table voucher (
  service_id integer not null,
  number text collate "C" not null,
  pin_hash bytea,                                   -- Null: no PIN opens the voucher.
  state text collate "C" not null,                  -- The permitted transitions are a table in src/domain/vouchers.
  currency text not null,
  original_amount numeric(16,4) not null,           -- Issued amount and later loads.
  balance numeric(16,4) not null,                   -- Remaining amount: the sum of the ledger, never negative.
  expiry_date date,                                 -- Last day of use. Null: it does not expire.
  locked_until timestamptz,                         -- End of the lock, which prevents other sales from using the voucher.
  locked_by text,                                   -- Account that locked the voucher.
  validation_hash bytea,                            -- Newest validation. Only this one opens the voucher for a lock or an order. Null: it
                                                    -- has been used.
  validated_until timestamptz,                      -- End of the validation, 24 hours after it was created. A lock extends the validation
                                                    -- that it was made with.
  superseded_hashes bytea[] not null default '{}',  -- Previous validations, newest first. Their use is reported as superseded instead of
                                                    -- unknown.
  created_at timestamptz not null default now(),
  imported_entry integer,                           -- Last entry that an import wrote. A later entry means that the voucher has changed
                                                    -- here. Null: the voucher was issued here.
  import_digest bytea,                              -- Digest of the imported content, with the PIN as a hash. Importing the same content
                                                    -- again changes nothing.
  primary key (service_id, number),
  check (balance >= 0),
  check (original_amount > 0),
  check (state in ('pending', 'active', 'locked', 'redeemed', 'expired', 'suspended')),
  constraint voucher_imported check ((imported_entry is null) = (import_digest is null)),
  constraint voucher_validation check ((validation_hash is null) = (validated_until is null)),
  constraint voucher_within_original check (balance <= original_amount)
);
-- For the daily job.
create index voucher_expiring on voucher (service_id, expiry_date) where state in ('active', 'locked');
-- Counts the locks of an account, which are limited.
create index voucher_locked_by on voucher (service_id, locked_by, locked_until) where state = 'locked';
create index voucher_owed on voucher (service_id, currency) include (balance, expiry_date) where balance > 0 and (state in ('active', 'locked', 'suspended'));

-- Ledger of vouchers: each action and the resulting state. Append-only.
create table voucher_entry (
  service_id integer not null,
  number text collate "C" not null,
  entry integer not null,           -- From 1.
  kind text collate "C" not null,
  amount numeric(16,4) not null,    -- Negative if money was redeemed. Zero if the action moved no money.
  state text collate "C" not null,  -- State after the action. So are the lock and its owner.
  locked_until timestamptz,
  locked_by text,
  order_number text,                -- Order that the voucher paid, was refunded from, or was sold with.
  username text,                    -- Account of the write. Null: an import, or the passage of time.
  api_key text,                     -- Name of the API key of the write.
  created_at timestamptz not null default clock_timestamp(),
  primary key (service_id, number, entry),
  foreign key (service_id, number) references voucher(service_id, number) on delete cascade,
  check (kind in ('issue', 'activate', 'lock', 'unlock', 'redeem', 'load', 'refund', 'expire', 'suspend', 'resume')),
  check (state in ('pending', 'active', 'locked', 'redeemed', 'expired', 'suspended')),
  constraint voucher_entry_amount check (case when kind in ('issue', 'load', 'refund') then amount > 0 when kind = 'redeem' then amount < 0 else amount = 0 end),
  constraint voucher_entry_locked check ((state = 'locked') = (locked_until is not null))
);
create trigger voucher_entry_append_only before update on voucher_entry for each row execute function reject_voucher_entry_update();
create trigger voucher_entry_applied after insert on voucher_entry for each row execute function apply_voucher_entry();
create trigger voucher_entry_kept before delete on voucher_entry for each row execute function reject_voucher_entry_delete();

-- Updates the voucher in the statement that adds the ledger entry.
create function apply_voucher_entry() returns trigger language plpgsql as $$
begin
  update voucher
     set balance = balance + new.amount,
         original_amount = original_amount + case when new.kind = 'load' then new.amount else 0 end,
         state = new.state, locked_until = new.locked_until, locked_by = new.locked_by
   where service_id = new.service_id and number = new.number;
  return null;
end $$;

-- Rejects updates of ledger entries.
create function reject_voucher_entry_update() returns trigger language plpgsql as $$
begin
  raise exception 'the voucher ledger is append-only';
end $$;

-- Rejects deletions of ledger entries unless the voucher or the service is deleted.
create function reject_voucher_entry_delete() returns trigger language plpgsql as $$
begin
  if exists (select from voucher where service_id = old.service_id and number = old.number)
     and not exists (select from service where service_id = old.service_id and is_purgeable(service)) then
    raise exception 'the voucher ledger is append-only';
  end if;
  return old;
end $$;

-- Details of a voucher that was sold through the API. The message to the receiver is only in the email, encrypted.
create table voucher_sale (
  service_id integer not null,
  number text collate "C" not null,
  gateway text,
  order_number text collate "C",  -- Unique, so that a repeated request without an Idempotency-Key is rejected.
  sender_name text,
  receiver_name text,
  receiver_email text,            -- Null, like the other personal fields, if the person was erased.
  mobile text,                    -- Mobile number of the receiver.
  delivery_date date,             -- The email is not sent before this day.
  billing_address jsonb,
  created_at timestamptz not null default now(),
  primary key (service_id, number),
  unique (service_id, order_number),
  foreign key (service_id, number) references voucher(service_id, number) on delete cascade
);
create index voucher_sale_receiver on voucher_sale (service_id, lower(normalize(receiver_email, nfc)));
create index voucher_sale_sender on voucher_sale (service_id, lower(sender_name));

-- Wrong PINs per voucher number, also of numbers that do not exist, so that callers cannot distinguish the two. A row is deleted with the
-- right PIN, or after a day without attempts.
create table pin_guard (
  service_id integer not null,
  subject bytea not null,              -- Hash of the number.
  failures integer not null,           -- Consecutive wrong PINs.
  blocked_until timestamptz not null,  -- Until then every PIN is rejected. The block grows with each wrong PIN, up to a day.
  primary key (service_id, subject),
  foreign key (service_id) references service(service_id) on delete cascade
);
create index pin_guard_blocked_until on pin_guard (service_id, blocked_until);

-- Gift vouchers of an external back office: newest validation and lock. Such a back office ends the previous validation whenever a new one
-- is requested, so it is only called for vouchers that no account has locked here. A row is deleted when it is no longer needed.
create table upstream_voucher (
  service_id integer not null,
  number text collate "C" not null,
  currency text not null,
  original_amount numeric(16,4) not null,           -- Amounts that the back office returned at the newest validation, minus what was
                                                    -- redeemed here since.
  used_amount numeric(16,4) not null,
  available_amount numeric(16,4) not null,
  expiry_date date,
  validation_hash bytea,                            -- Newest validation, by the ID that Tillbridge issued. Null: it has been used.
  upstream_validation bytea,                        -- ID of the validation in the back office, encrypted.
  validated_until timestamptz,
  superseded_hashes bytea[] not null default '{}',  -- Previous validations, newest first.
  locked_until timestamptz,                         -- End of the lock. The back office has been informed of it, or is about to be.
  locked_by text,                                   -- Account that locked the voucher.
  primary key (service_id, number),
  foreign key (service_id) references service(service_id) on delete cascade,
  constraint upstream_voucher_locked check ((locked_until is null) = (locked_by is null)),
  constraint upstream_voucher_validation check ((validation_hash is null) = (validated_until is null) and (validation_hash is null) = (upstream_validation is null))
);
-- Counts the locks of an account, which are limited.
create index upstream_voucher_locked_by on upstream_voucher (service_id, locked_by, locked_until) where locked_by is not null;

-- Vouchers that were sold as orders of an external back office, which creates number and PIN later and sends them only to the receiver.
create table upstream_voucher_sale (
  service_id integer not null,
  order_number text collate "C" not null,
  order_id text collate "C",     -- ID of the order in the back office. Null: the back office does not return it, or another order had the
                                 -- number.
  customer_id text collate "C",  -- Receiver, as a customer of the back office.
  gateway text,
  amount numeric(16,4) not null,
  currency text not null,
  created_at timestamptz not null default now(),
  primary key (service_id, order_number),
  foreign key (service_id) references service(service_id) on delete cascade
);


-- 0007_rewards.sql
-- Rewards: programs with tiers and gifts, and each customer's points, rewards and gifts.
--
-- Programs, accounts and lots come from syncs and imports. The embedded back office records earned and reversed points in a separate ledger
-- (reward_entry). Therefore importing the same file again neither restores consumed points nor consumes them twice.

-- Rewards programs, as GET /rewards/programs shows them.
create table reward_program (
  service_id integer not null,
  program_id text collate "C" not null,
  name text not null,
  description text,
  primary key (service_id, program_id),
  foreign key (service_id) references service(service_id) on delete cascade
);

-- Tiers of a program: earning rate and qualification. A period of months and days counts the months first. A period of null or zero is
-- unlimited.
create table reward_tier (
  service_id integer not null,
  program_id text collate "C" not null,
  tier_id text collate "C" not null,
  name text not null,
  sequence integer not null,            -- Order of the tiers, lowest first.
  accrual_spend numeric(16,4),          -- Amount that earns accrual_points.
  accrual_points integer,               -- Points earned per accrual_spend.
  auto_reward_point_threshold integer,  -- Points that are converted into a reward.
  auto_reward_value numeric(16,4),      -- Value of that reward.
  qualify_spend numeric(16,4),          -- Spend that reaches the tier. Null: spend neither reaches nor keeps it.
  qualify_months integer,               -- Period for which the tier is kept, whatever is spent.
  qualify_days integer,
  points_expiry_months integer,         -- Period in which earned points can be used.
  points_expiry_days integer,
  reward_expiry_months integer,         -- Period in which a reward can be used.
  reward_expiry_days integer,
  primary key (service_id, program_id, tier_id),
  foreign key (service_id, program_id) references reward_program(service_id, program_id) on delete cascade
);

-- Gifts that a gift lot of an account can refer to.
create table reward_gift (
  service_id integer not null,
  program_id text collate "C" not null,
  gift_id text collate "C" not null,
  name text not null,
  styles text[] not null default '{}',  -- Product codes that the shopper can choose from.
  primary key (service_id, program_id, gift_id),
  foreign key (service_id, program_id) references reward_program(service_id, program_id) on delete cascade
);

-- A customer's account in a program, as GET /customers/:id/rewards shows it. Balances are the sums of its open lots. Transactions that move
-- points lock this row first, so that they run one after another.
create table reward_account (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamptz not null,                    -- Change timestamp, also of its lots and of everything else in the record. The expiry
                                                      -- of a lot is not a change.
  customer_id text collate "C" not null,              -- Customer when the account was loaded. No foreign key, because they may have left
                                                      -- the list.
  program_id text collate "C" not null,
  tier_id text collate "C",
  tier_locked_until_date date,                        -- The tier is kept until this day, whatever is spent.
  join_date date,
  qualifying_spend numeric(16,4) not null default 0,  -- Spend in the qualifying period, which decides the tier.
  points_owed bigint not null default 0,              -- Points of returned orders that were used before they could be taken back. Points
                                                      -- earned next are offset against them.
  primary key (service_id, id),
  unique (service_id, customer_id),
  foreign key (service_id, program_id) references reward_program(service_id, program_id) on delete cascade,
  foreign key (service_id, program_id, tier_id) references reward_tier(service_id, program_id, tier_id),
  check (points_owed >= 0)
);
create index reward_account_changed on reward_account (service_id, changed_at, id);

-- Points, a reward or a gift that an account received at one time, with its own expiry. Available: total less redeemed, consumed and
-- pending. Open lots are used in the order of their expiry.
create table reward_lot (
  service_id integer not null,
  account_id text collate "C" not null,
  kind text collate "C" not null,
  lot_id text collate "C" not null,
  created_at timestamp not null,
  description text,                           -- Why it was granted, as text.
  total numeric(16,4) not null,               -- Points, or the value of a reward; 1 for a gift.
  redeemed numeric(16,4) not null default 0,  -- Used elsewhere, according to the back office.
  consumed numeric(16,4) not null default 0,  -- Used or taken back here: the sum of the ledger. No sync changes it.
  pending numeric(16,4) not null default 0,   -- Reserved for use, according to the back office.
  gift_id text collate "C",
  expiry_date date,                           -- Last day of use. Null: it does not expire.
  primary key (service_id, account_id, kind, lot_id),
  foreign key (service_id, account_id) references reward_account(service_id, id) on delete cascade,
  check ((redeemed + consumed + pending) <= total),
  check (consumed >= 0),
  check (kind in ('points', 'reward', 'gift')),
  check (pending >= 0),
  check (redeemed >= 0),
  check (total >= 0)
);

-- Ledger of reward accounts: effects of orders and returns on lots. Append-only; a trigger updates the lots.
create table reward_entry (
  service_id integer not null,
  account_id text collate "C" not null,
  entry bigint not null generated always as identity,
  kind text collate "C" not null,                      -- `earn`: an order earned points. `settle`: owed points were taken from a lot.
                                                       -- `convert`: points became a reward. `reward`: that reward. `return`: part of an
                                                       -- order was returned. `reverse`: points or an unused reward are taken back for it.
                                                       -- `restore`: the points of that reward are granted again. `owe`: points that could
                                                       -- not be taken back. `cancel`: the return was cancelled, and its points are granted
                                                       -- again. `redeem`: a redemption was confirmed.
  lot_kind text collate "C",
  lot_id text collate "C",                             -- Lot that is credited or debited. Null: the entry changes no lot.
  into_lot_id text collate "C",                        -- Reward that the points were converted into.
  amount numeric(16,4) not null,                       -- Points or value credited to the lot; negative if debited, or owed.
  spend numeric(16,4) not null default 0,              -- Amount of an order that counts towards the next tier; negative for a return.
  unrecovered_spend numeric(16,4) not null default 0,  -- Part of the returned spend that the account no longer had, because a sync had
                                                       -- reset it. Negative if the return is cancelled.
  order_number text collate "C",                       -- Null for a redemption, which has a request_id.
  return_number text collate "C",
  request_id uuid,                                     -- Redemption that debits the lot. `settle`: the redemption that has ended without
                                                       -- using its points, so that they pay what is owed.
  created_at timestamptz not null default now(),
  primary key (service_id, account_id, entry),
  foreign key (service_id, account_id) references reward_account(service_id, id) on delete cascade,
  foreign key (service_id, account_id, lot_kind, lot_id) references reward_lot(service_id, account_id, kind, lot_id) on delete cascade,
  check ((kind in ('redeem', 'settle')) or request_id is null),
  check ((lot_kind is null) = (lot_id is null)),
  check ((order_number is null) = (request_id is not null)),
  check (kind <> 'redeem' or request_id is not null),
  check (kind in ('earn', 'settle', 'convert', 'reward', 'return', 'reverse', 'restore', 'owe', 'cancel', 'redeem'))
);
create index reward_entry_into on reward_entry (service_id, account_id, into_lot_id) where into_lot_id is not null;
create index reward_entry_lot on reward_entry (service_id, account_id, lot_kind, lot_id);
create index reward_entry_order on reward_entry (service_id, account_id, order_number);
create trigger reward_entry_append_only before update on reward_entry for each row execute function reject_reward_entry_update();
create trigger reward_entry_applied after insert on reward_entry for each row execute function apply_reward_entry();

-- Updates lots and owed points in the statement that adds the ledger entry.
create function apply_reward_entry() returns trigger language plpgsql as $$
begin
  if new.lot_id is not null then
    update reward_lot set total = total + greatest(new.amount, 0), consumed = consumed - least(new.amount, 0)
     where service_id = new.service_id and account_id = new.account_id and kind = new.lot_kind and lot_id = new.lot_id;
  end if;
  if new.kind in ('owe', 'settle') then
    update reward_account set points_owed = points_owed + case new.kind when 'owe' then -new.amount else new.amount end
     where service_id = new.service_id and id = new.account_id;
  end if;
  return null;
end $$;

-- Rejects updates of ledger entries. Deletion is permitted: an entry is deleted with its lot or account.
create function reject_reward_entry_update() returns trigger language plpgsql as $$
begin
  raise exception 'the reward ledger is append-only';
end $$;

-- Points or rewards that a client has reserved, by the request ID of the client. Changed only while the reward account is locked, or under
-- the write lock of the request ID if another back office keeps the account. Therefore account_id has no foreign key.
create table reward_redemption (
  service_id integer not null,
  request_id uuid not null,
  account_id text collate "C" not null,
  lot_kind text collate "C" not null,
  amount numeric(16,4) not null,
  status text collate "C" not null,  -- `submitting`, `confirming` and `cancelling`: the request to the back office is in flight or its
                                     -- outcome is unknown. A pending redemption past expires_at reserves nothing, even before the job marks
                                     -- it as expired.
  username text not null,            -- Account that made the redemption. Its pending redemptions are limited.
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  primary key (service_id, request_id),
  foreign key (service_id) references service(service_id) on delete cascade,
  check (amount > 0),
  check (lot_kind in ('points', 'reward')),
  check (status in ('submitting', 'pending', 'confirming', 'cancelling', 'confirmed', 'cancelled', 'expired'))
);
-- For the erasure of a customer.
create index reward_redemption_account on reward_redemption (service_id, account_id);
-- For the job that ends redemptions.
create index reward_redemption_expires on reward_redemption (expires_at) where status <> all (array['confirmed', 'cancelled', 'expired']);
create index reward_redemption_username on reward_redemption (service_id, username, expires_at) where status <> all (array['confirmed', 'cancelled', 'expired']);

-- Amounts that pending redemptions have reserved from lots. Deleted when the redemption ends: confirmed amounts are entries of the ledger.
create table reward_redemption_part (
  service_id integer not null,
  account_id text collate "C" not null,
  lot_kind text collate "C" not null,
  lot_id text collate "C" not null,
  request_id uuid not null,
  amount numeric(16,4) not null,
  primary key (service_id, account_id, lot_kind, lot_id, request_id),
  foreign key (service_id, account_id, lot_kind, lot_id) references reward_lot(service_id, account_id, kind, lot_id) on delete cascade,
  foreign key (service_id, request_id) references reward_redemption(service_id, request_id) on delete cascade,
  check (amount > 0)
);
create index reward_redemption_part_request on reward_redemption_part (service_id, request_id);


-- 0008_writes.sql
-- Writes: idempotency, audit, intents and reservations (contributing/decisions/0008, 0012).

-- First response to each write with an Idempotency-Key, replayed for 24 hours. Until the commit, an advisory lock reserves the key. It ends
-- with the transaction, so that a process that dies leaves nothing behind.
create table idempotent_response (
  service_id integer not null,
  operation text collate "C" not null,  -- Method and path with parameter names: POST /orders/:id/returns.
  key_hash bytea not null,
  request_hash bytea not null,          -- Hash of the request. Another request with the same key is rejected.
  response bytea,                       -- Status, headers and body, encrypted because it can contain a PIN. Null: it was about a customer
                                        -- who has been erased.
  subject bytea,                        -- Keyed hash of the written path, to find responses about a customer who is erased.
  created_at timestamptz not null default now(),
  primary key (service_id, operation, key_hash)
);
create index idempotent_response_created on idempotent_response (service_id, created_at);

-- Locks an Idempotency-Key until the transaction ends. Raises an error if another transaction has the lock, or if there is a response for
-- the key, so that statements can be pipelined behind it. Looks for a response after locking: the response of a previous owner is committed
-- by then. `high` and `low`: two parts of the hash, used as the lock key.
create function lock_idempotency_key(service integer, write_operation text, hash bytea, high integer, low integer) returns void language plpgsql as $$
begin
  if pg_try_advisory_xact_lock(high, low) then
    -- A separate statement with its own snapshot, which includes the response of a transaction that just released the key.
    if not exists (select from idempotent_response r
                    where r.service_id = service and r.operation = write_operation and r.key_hash = hash and r.created_at > expiry_clock() - interval '24 hours') then
      return;
    end if;
  end if;
  raise exception 'the idempotency key is in use or already has a response' using errcode = 'integrity_constraint_violation', constraint = 'idempotency_key_available';
end $$;

-- Audit log: an entry for each completed write, as GET /audit shows it.
create table audit (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamptz not null,                  -- Change timestamp. First in the key because the list is read in this order, and every
                                                    -- further index slows each write down.
  record text not null,                             -- Contains the names of written fields. Values, which may be personal or secret, only
                                                    -- of settings, roles and mappings.
  is_administrative boolean not null default true,  -- False for writes of customers, orders and other data, which are most entries.
  primary key (service_id, changed_at, id)
);
-- Entries of the administration.
create index audit_admin on audit (service_id, changed_at, id) where is_administrative;
-- Entries of the administration by one account.
create index audit_admin_username on audit (service_id, (record::json ->> 'username'), changed_at, id) where is_administrative;
-- Entries about one record.
create index audit_subject on audit (service_id, (record::json ->> 'subject'), changed_at, id);
-- Entries of one account.
create index audit_username on audit (service_id, (record::json ->> 'username'), changed_at, id);

-- Write-ahead intents of writes that call a back office (contributing/decisions/0012): inserted before the call, deleted by the transaction
-- that stores effect, audit entry and response. If a process dies, a retry with the same Idempotency-Key or a job finds out the outcome.
create table intent (
  service_id integer not null,
  id uuid not null,                     -- Derived from the Idempotency-Key, if there is one. Reference numbers in the back office are
                                        -- derived from it.
  operation text collate "C" not null,  -- Method and path with parameter names: POST /orders.
  key_hash bytea,
  request_hash bytea not null,
  request bytea not null,               -- The request, encrypted.
  token uuid not null,                  -- Fencing token of the newest attempt. Earlier attempts can no longer store anything.
  claimed_until timestamptz not null,   -- End of the lease of the running attempt.
  checks integer not null default 0,    -- How often the back office did not know the write.
  next_check_at timestamptz not null,   -- When to find out the outcome, unless an attempt is running then.
  started_at timestamptz not null default now(),
  primary key (service_id, id)
);
-- Without the service: a worker takes what is due from all services.
create index intent_due on intent (next_check_at);

-- Reservations of one write or read during its calls to a back office: a voucher, an order, an order number, a customer. Released at the
-- end. If the outcome of a write is unknown, its reservations last until it is resolved.
create table reservation (
  service_id integer not null,
  subject bytea not null,               -- Keyed hash of the name, because voucher numbers and email addresses are among them.
  owner uuid not null,                  -- Write (intent.id), or read.
  until_resolved boolean not null,      -- True if the outcome of the write may be unknown: reserved as long as its intent exists.
  reserved_until timestamptz not null,  -- End of the reservation otherwise.
  primary key (service_id, subject)
);
create index reservation_owner on reservation (service_id, owner);


-- 0009_jobs.sql
-- Job queue, outgoing emails and alerts (contributing/decisions/0007).

-- Job queue: work that follows a commit, or runs on a schedule. One worker at a time leases a job; if it dies, the lease ends and another
-- worker takes over. A finished job is deleted, or rescheduled.
create table job (
  service_id integer,                            -- Null: a job of the installation.
  name text collate "C" not null,                -- Name of the job, which is its file in src/jobs.
  subject text collate "C" not null default '',  -- The email or sync of the job, if several jobs have the same name.
  due_at timestamptz not null default now(),
  rerun_at timestamptz,                          -- Set if the job was requested again while it was running: it runs again at that time at
                                                 -- the latest.
  attempts integer not null default 0,           -- Failed attempts since the last success.
  unfinished_starts integer not null default 0,  -- Starts since then that neither succeeded nor failed: the worker died, or the database
                                                 -- was unavailable.
  lease uuid,                                    -- Token of the current lease, new each time. Only its owner can finish the job.
  leased_until timestamptz,                      -- No other worker takes the job before. A living worker renews the lease.
  traceparent text collate "C",                  -- W3C Trace Context of the request that added the job, so that the job continues its
                                                 -- trace. Null if the request has no trace.
  unique nulls not distinct (service_id, name, subject),
  foreign key (service_id) references service(service_id) on delete cascade
);
-- Without the service: a worker takes what is due from all services.
create index job_due on job (name, due_at);
create index job_lease on job (lease);

-- Emails to the receivers of vouchers. The transaction of the voucher adds the email and the job that sends it.
create table email (
  service_id integer not null,
  email_id text collate "C" not null,
  voucher_number text collate "C" not null,
  status text collate "C" not null default 'queued',
  message_id text collate "C" not null,  -- The same for all attempts, so that a mail client can recognize a duplicate.
  encrypted_content bytea,               -- Content, encrypted because it contains the PIN. Deleted when the email is sent, or a month after
                                         -- it failed.
  attempts integer not null default 0,
  last_error text,                       -- Why the last attempt failed.
  not_before timestamptz not null,       -- Start of the delivery date, or when the email was queued. Also its Date header, whenever it is
                                         -- sent.
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  primary key (service_id, email_id),
  foreign key (service_id) references service(service_id) on delete cascade,
  check (status <> 'sent' or encrypted_content is null and sent_at is not null),
  check (status in ('queued', 'sent', 'failed'))
);
create index email_status on email (service_id, status, created_at);
create index email_unsent on email (service_id, status) where status <> 'sent';
create index email_voucher on email (service_id, voucher_number, created_at);

-- Problems that need attention, until they are resolved, or for 90 days. Each is logged, too.
create table alert (
  service_id integer not null,
  kind text collate "C" not null,                 -- The stable name of the problem: email_failed.
  subject text collate "C" not null,              -- The ID of the affected record. Not a secret.
  detail text not null,
  alert_id text collate "C" not null default gen_random_uuid()::text,
  times integer not null default 1,
  begun_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),  -- The last occurrence.
  primary key (service_id, kind, subject),
  unique (service_id, alert_id),
  foreign key (service_id) references service(service_id) on delete cascade
);
create index alert_begun on alert (service_id, begun_at, alert_id);
create index alert_changed on alert (service_id, changed_at);


-- 0010_back_offices.sql
-- Back offices: the connection settings of each service, and the state of its syncs.

-- Connection settings of a service's back office (`tillbridge back-office set`). Services without a row use the settings of the
-- environment.
create table back_office (
  service_id integer not null,
  driver text collate "C" not null,
  url text,
  country text,                                     -- Country or web store, as the back office names it.
  username text,
  password bytea,                                   -- Encrypted for this service.
  ca text,                                          -- Certificates (PEM) to trust.
  time_zone text,                                   -- Time zone of the back office. Null: the time zone of the service.
  back_office_version text,                         -- Version of the back office, if its API doesn't report it.
  concurrency text,                                 -- Maximum concurrent calls of one process.
  sync_share text,                                  -- Percentage of these calls that syncs can use.
  export_folder text,                               -- Folder of the scheduled exports: a path, or the URL of a folder on an SFTP server.
  sftp_host_key text,                               -- Fingerprints of the SFTP server's keys, separated by commas.
  sftp_key_file text,                               -- Path of the private key for the SFTP server.
  sftp_password bytea,                              -- Password of the SFTP user or of the private key. Encrypted for this service.
  sync_intervals jsonb not null default '{}',       -- Seconds between two runs of a sync, if not the default: {"stock": 60}.
  gateways jsonb not null default '{}',             -- Names of payment gateways in the back office: {"paypal": {"merchantId": "LUMA-PP",
                                                    -- "cardType": "PP"}}.
  version uuid not null default gen_random_uuid(),  -- Changes with each update, so that processes notice it and open the back office again.
  primary key (service_id),
  foreign key (service_id) references service(service_id) on delete cascade,
  check ((username is null) = (password is null))
);

-- Calls to the back office per minute, of requests and of jobs, for the charts of one day. Counted in each process and added up here every
-- few seconds.
create table call_minute (
  service_id integer not null,
  minute timestamptz not null,
  calls integer not null,
  failed integer not null,     -- Calls without a response or with a 5xx response.
  milliseconds real not null,  -- Total duration of the calls; `slowest` is the longest one.
  slowest real not null,
  primary key (service_id, minute),
  foreign key (service_id) references service(service_id) on delete cascade
);

-- The back office that a service is synced from. If it changes, the checkpoints and refreshes of the previous one are deleted, and
-- everything is read again.
create table sync_source (
  service_id integer not null,
  source text collate "C" not null,  -- Driver, address and country.
  time_zone text not null,           -- Time zone in which the times of the back office were read.
  primary key (service_id),
  foreign key (service_id) references service(service_id) on delete cascade
);

-- The checkpoint of each sync, and the state of its last run.
create table sync_state (
  service_id integer not null,
  sync text collate "C" not null,
  since text,                                     -- The checkpoint, in the driver's own form: changes up to it are stored. A completed run
                                                  -- moves it. Null: the next run is a full sync.
  run uuid,                                       -- The run that has the lease.
  heartbeat_at timestamptz,                       -- The last heartbeat of the run. A minute without one ends the lease.
  started_at timestamptz,
  finished_at timestamptz,                        -- The end of the last completed run that read from the back office.
  full_at timestamptz,                            -- The end of the last completed full sync.
  full_only_interval integer,                     -- Seconds between two full syncs, if the last run found that the back office can't list
                                                  -- changes. Null: it can.
  read bigint not null default 0,                 -- Records of the last run, also while it is running. So are the next five.
  inserted bigint not null default 0,
  changed bigint not null default 0,
  removed bigint not null default 0,
  skipped bigint not null default 0,              -- Records that were neither stored nor rejected. notes has the reasons.
  rejected bigint not null default 0,
  notes jsonb not null default '{}',              -- Remarks about the run, and how often: {"remark": count}.
  error text,                                     -- The cause if the last run failed, otherwise null.
  failed_at timestamptz,
  full_failed_at timestamptz,                     -- The last failed full sync since the last completed one. Until it is retried, changes
                                                  -- are synced.
  full_failures integer not null default 0,       -- Failed full syncs in a row, not counting the incremental runs between them.
  requested_at timestamptz,                       -- When a run was requested. A completed run that began later fulfils the request.
  full_requested boolean not null default false,  -- True if the requested run must be a full sync.
  primary key (service_id, sync),
  foreign key (service_id) references service(service_id) on delete cascade
);

-- The runs of each sync, and the imports of each import type, for 30 days.
create table sync_run (
  service_id integer not null,
  sync text collate "C" not null,             -- The sync, or the import type of a file.
  run_id text collate "C" not null default gen_random_uuid()::text,
  changed_at timestamptz not null default clock_timestamp(),  -- When the run started.
  ended_at timestamptz,                       -- Null: the run is in progress, or its process has ended and no later run has noticed it.
  origin text collate "C" not null default 'backOffice',
  is_full boolean not null,                   -- True for a full sync.
  read bigint not null default 0,
  inserted bigint not null default 0,
  changed bigint not null default 0,
  removed bigint not null default 0,
  outdated bigint not null default 0,
  skipped bigint not null default 0,          -- Records that were neither stored nor rejected. notes has the reasons.
  rejected bigint not null default 0,
  notes jsonb not null default '{}',          -- Remarks about the run, and how often: {"remark": count}.
  error text,                                 -- The cause of the failure. Null: the run has not failed.
  is_dry_run boolean not null default false,  -- True for the dry run of an import: nothing is written, and the data is no fresher.
  heartbeat_at timestamptz,                   -- The last heartbeat of an import. Those of a sync are in sync_state.
  cancelled_at timestamptz,                   -- When a client requested the end of an import.
  rejections json,                            -- Reasons for rejected lines of a file, with the numbers of the first lines, but never their
                                              -- content.
  file_name text,                             -- The name of an imported file, if the client sent it.
  username text,                              -- The account that uploaded the file. Null: the command line, or a sync.
  primary key (service_id, sync, run_id),
  foreign key (service_id) references service(service_id) on delete cascade,
  check (origin in ('backOffice', 'ecommerce', 'file'))
);
create index sync_run_changed on sync_run (service_id, changed_at);
create index sync_run_id on sync_run (service_id, run_id);
create index sync_run_started on sync_run (service_id, sync, changed_at, run_id);

-- How the console imported a file. It offers the same for the next file with these columns.
create table import_profile (
  service_id integer not null,
  header_hash text collate "C" not null,  -- SHA-256 of the column names of the file.
  import_type text collate "C" not null,
  profile text not null,                  -- The profile of `tillbridge import --profile`, as JSON.
  username text not null,
  saved_at timestamptz not null default now(),
  primary key (service_id, header_hash),
  foreign key (service_id) references service(service_id) on delete cascade
);

-- The records that a run has seen, to count them and to find removed ones. Deleted when the run completes or the next one starts.
create table sync_seen (
  service_id integer not null,
  sync text collate "C" not null,
  run uuid not null,               -- A run that has lost its lease, but does not know it yet, writes no rows that the new run would read.
  list text collate "C" not null,  -- The list: product, variant, stock, customer.
  id text collate "C" not null,
  primary key (service_id, sync, run, list, id),
  foreign key (service_id, sync) references sync_state(service_id, sync) on delete cascade
);

-- Records that a sync must request one by one, because the back office has no list of them: the transactions and the reward account of a
-- customer.
create table sync_refresh (
  service_id integer not null,
  sync text collate "C" not null,
  id text collate "C" not null,  -- The customer.
  version text not null,         -- The back office's version of the last known change. A new version makes the refresh due.
  due boolean not null default true,
  refreshed_at timestamptz,      -- The last refresh. Old records are refreshed again even if no change is known.
  read_at timestamptz,           -- When the back office was last asked for data that Tillbridge could read.
  primary key (service_id, sync, id),
  foreign key (service_id) references service(service_id) on delete cascade
);
create index sync_refresh_done on sync_refresh (service_id, sync, refreshed_at, id) where not due;
create index sync_refresh_due on sync_refresh (service_id, sync, id) where due;

-- Checkpoints of running and interrupted imports. `tillbridge import --resume` continues from them.
create table import_progress (
  service_id integer not null,
  import_type text collate "C" not null,  -- The import type, such as customers.
  digest bytea not null,                  -- SHA-256 of the file. A changed file has no checkpoint.
  line bigint not null,                   -- The last processed line. Later lines can be stored too, because the checkpoint follows their
                                          -- commit. Importing a line again changes nothing.
  reached_at timestamptz not null,
  primary key (service_id, import_type, digest),
  foreign key (service_id) references service(service_id) on delete cascade
);


-- 0011_webhooks.sql
-- Webhooks: endpoints that receive changes. Each reads the change feed from its own cursor (contributing/decisions/0017).

-- Endpoints that receive changes. A delivery is stored together with the cursor after it before it is sent, so a retry sends the same
-- delivery. The statement that records its success moves the cursor.
create table webhook (
  service_id integer not null,
  webhook_id text collate "C" not null,
  changed_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  url text not null,
  kinds json not null,
  description text,
  state text collate "C" not null default 'active',  -- failing: every delivery of an hour has failed; attempts continue. paused: nothing is
                                                     -- sent until the webhook is resumed.
  state_reason text,
  secret bytea not null,                             -- Signing secret, encrypted.
  previous_secret bytea,                             -- Secret before the last rotation. It also signs, until `previous_until`.
  previous_until timestamptz,
  cursor text not null,                              -- Position in the change feed: an `after_cursor` of GET /changes with the same kinds.
  pending_since timestamptz,                         -- Since when changes are undelivered. Null: all changes have been delivered.
  delivery_id text collate "C",                      -- Pending delivery. Success and failure are recorded by this ID, so a late record of
                                                     -- an earlier attempt changes nothing.
  delivery_body text,
  delivery_cursor text,                              -- Cursor of the endpoint after the delivery succeeds.
  delivery_is_last boolean,                          -- True if no further changes were available when the delivery was created.
  not_before timestamptz not null default now(),     -- When the next attempt is due.
  failures integer not null default 0,               -- Failed attempts since the last success.
  failing_since timestamptz,
  is_catching_up boolean not null default false,     -- True if a delivery has failed and not all changes since have been delivered.
                                                     -- Deliveries are then slower.
  last_success_at timestamptz,
  last_failure json,
  primary key (service_id, webhook_id),
  foreign key (service_id) references service(service_id) on delete cascade,
  check (num_nulls(delivery_id, delivery_body, delivery_cursor, delivery_is_last) in (0, 4)),
  check (state in ('active', 'failing', 'paused'))
);
create index webhook_changed on webhook (service_id, changed_at);

-- Attempts at deliveries, for 30 days.
create table webhook_attempt (
  service_id integer not null,
  webhook_id text collate "C" not null,
  attempt_id text collate "C" not null default gen_random_uuid()::text,
  changed_at timestamptz not null default clock_timestamp(),  -- When the attempt ended.
  delivery_id text collate "C" not null,
  changes integer not null,  -- Number of changes in the delivery. Zero for a test.
  status integer,
  fault text,                -- Cause of the failure. Null: the delivery succeeded.
  response text,             -- Beginning of the endpoint's response, at most 1 KiB.
  milliseconds integer not null,
  headers json,              -- Sent headers of Standard Webhooks. Null: nothing was sent.
  primary key (service_id, webhook_id, attempt_id),
  foreign key (service_id, webhook_id) references webhook(service_id, webhook_id) on delete cascade
);
create index webhook_attempt_changed on webhook_attempt (service_id, changed_at);
create index webhook_attempt_of on webhook_attempt (service_id, webhook_id, changed_at, attempt_id);

-- Bodies of deliveries, for 3 days, so that an operator can read one and send it again. They name changed records without their content.
create table webhook_payload (
  service_id integer not null,
  webhook_id text collate "C" not null,
  delivery_id text collate "C" not null,
  created_at timestamptz not null default now(),
  body text not null,
  primary key (service_id, webhook_id, delivery_id),
  foreign key (service_id, webhook_id) references webhook(service_id, webhook_id) on delete cascade
);
create index webhook_payload_created on webhook_payload (service_id, created_at);


-- 0012_requests.sql
-- The request log: each request, its account and its result (contributing/decisions/0021).

-- Entries of the request log, for as long as the setting requestLogRetentionDays says. A block has up to 500 entries that one process wrote
-- for one second. Each day (UTC) is a partition, which is dropped completely. Blocks are written after the responses, so the entries of a
-- killed process can be missing. No foreign key, because it would be checked for each row. The view request_log shows single entries.
create table request_block (
  service_id integer not null,
  second timestamptz not null,         -- Second of the responses. Blocks in the order of their seconds have their entries in the order of
                                       -- time.
  block_id text collate "C" not null,  -- Prefix of the process and an increasing number.
  marks bytea not null,                -- Bloom filter of all searchable values: each value sets four bits. A block that lacks one of them
                                       -- does not contain the value and is not read. Stored inline and uncompressed.
  lines text not null,                 -- One JSON array per line, durations in tenths of a millisecond. Uncompressed, because compression
                                       -- would take longer than everything else and a partition is dropped soon.
  primary key (service_id, second, block_id)
);

-- Request log, one row per request, ordered by second and line_id. A search first filters blocks by their marks, then lines by their text,
-- and parses only the remaining lines as JSON.
create view request_log as
 SELECT b.service_id,
    b.second,
    b.second + ((l.fields ->> 0)::integer)::double precision * '00:00:00.001'::interval AS changed_at,
    ((((to_char((l.fields ->> 0)::integer, 'FM000'::text) || '-'::text) || b.block_id) || '-'::text) || to_char(t.place, 'FM000'::text)) COLLATE "C" AS line_id,
    l.fields ->> 1 AS request_id,
    l.fields ->> 2 AS username,
    l.fields ->> 3 AS operation,
    l.fields ->> 4 AS path,
    COALESCE(l.fields ->> 5, l.fields ->> 4) AS subject,
    (l.fields ->> 6)::smallint AS status,
    l.fields ->> 7 AS code,
    l.fields ->> 8 AS key_hash,
    round(((l.fields ->> 9)::integer)::numeric / 10.0, 1) AS milliseconds,
    (l.fields ->> 10)::integer AS statements,
    round(((l.fields ->> 11)::integer)::numeric / 10.0, 1) AS database_ms,
    ( SELECT COALESCE(json_agg(json_strip_nulls(json_build_object('name', step.s ->> 0, 'at', round(((step.s ->> 1)::integer)::numeric / 10.0, 1), 'milliseconds', round(((step.s ->> 2)::integer)::numeric / 10.0, 1), 'outcome', step.s ->> 3)) ORDER BY step.n), '[]'::json) AS "coalesce"
           FROM jsonb_array_elements(l.fields -> 12) WITH ORDINALITY step(s, n)) AS steps,
    b.marks,
    t.line,
    COALESCE((l.fields ->> 13)::boolean, false) AS is_console,
    NULLIF(l.fields -> 14, 'null'::jsonb) AS error_fields
   FROM request_block b
     CROSS JOIN LATERAL string_to_table(b.lines, '
'::text) WITH ORDINALITY t(line, place)
     CROSS JOIN LATERAL ( SELECT t.line::jsonb AS fields
         OFFSET 0) l;

-- Requests per minute for 31 days, without those of the console. Counted when entries are written, so that a chart does not read millions
-- of entries.
create table request_minute (
  service_id integer not null,
  minute timestamptz not null,
  answered integer not null,                             -- All requests of the minute.
  rejected integer not null,                             -- Requests with a 4xx response; failed counts those with a 5xx.
  failed integer not null,
  durations integer[] not null default '{}'::integer[],  -- Latency histogram: the number of requests in each class of domain/latencies.ts.
  primary key (service_id, minute)
);

-- Creates the partition of a day unless it exists. Vacuum after inserts is off: the partition is dropped before it would help.
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

-- Drops the partitions of days that ended at least this many days ago. Returns their number.
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


-- 0013_mappings.sql
-- Mappings: the items of the e-commerce platform, and the results of the mapping check (contributing/decisions/0026).

-- Returns an identifier, a name or an address without case, whitespace, leading zeros and the prefix of global identifiers. Values with the
-- same form are near matches.
create function near_form(value text) returns text language sql immutable as $$$$;

-- An email address in the form that is compared. Leading zeros count: 7@ and 007@ are two people.
create function address_form(email text) returns text language sql immutable as $$$$;

-- How one of several identifiers differs from a similar one. Null: none is similar.
create function likeness(own text[], platform text) returns text language sql immutable as $$$$;

-- Items of the e-commerce platform: locations (stores), variants (skus) and customers. They come from a connection or from files. The next
-- full sync or complete file replaces them. The data of a customer is deleted when they are erased.
create table ecommerce_item (
  service_id integer not null,
  kind text collate "C" not null,
  item_key text collate "C" not null,                       -- Identifies the item among its kind: the platform's number, or for files the
                                                            -- names of a variant. Variants can share a SKU.
  ecommerce_id text collate "C" not null,                   -- The value of a mapping: the location, SKU or customer identifier.
  name text,                                                -- The name on the platform.
  other text,                                               -- Another identifying value: the name of a location, the barcode of a variant,
                                                            -- the email address of a customer.
  seen_at timestamptz not null,                             -- When a file last contained the item.
  near_id text collate "C" not null generated always as (near_form(ecommerce_id)) stored,
  near_other text collate "C" generated always as (case kind when 'customers' then address_form(other) else near_form(other) end) stored,
  connection_id text collate "C" not null default 'files',  -- The connection that the item was synced from, or files.
  platform_id text collate "C",                             -- The platform's global ID. Null for files, like the next columns.
  inventory_item_id text collate "C",                       -- The global ID of the stock of a variant.
  product_id text collate "C",
  is_tracked boolean,
  is_bundle boolean,                                        -- True if the stock of a variant follows from its components.
  is_gift_card boolean,
  is_active boolean,                                        -- False for a deactivated location, and for a variant whose product is not
                                                            -- active.
  platform_updated_at timestamptz,                          -- When the platform changed the item. An older state never replaces a newer
                                                            -- one.
  primary key (service_id, connection_id, kind, item_key),
  foreign key (service_id) references service(service_id) on delete cascade,
  check (kind in ('stores', 'skus', 'customers'))
);
create index ecommerce_item_id on ecommerce_item (service_id, kind, ecommerce_id, item_key);
create index ecommerce_item_inventory on ecommerce_item (service_id, connection_id, inventory_item_id) where inventory_item_id is not null;
create index ecommerce_item_near_id on ecommerce_item (service_id, kind, near_id);
create index ecommerce_item_near_other on ecommerce_item (service_id, kind, near_other);
create index ecommerce_item_platform on ecommerce_item (service_id, connection_id, platform_id) where platform_id is not null;

-- The last mapping check of each kind, and the progress of a running one.
create table mapping_check (
  service_id integer not null,
  kind text collate "C" not null,
  changed_at timestamptz,              -- When the last complete check ended. Null: never.
  listed_at timestamptz,               -- When a platform file was last imported. Null: never, so that mappings are unverified.
  listed integer not null default 0,   -- The number of platform items in that file.
  checked integer not null default 0,  -- Records and platform items that the running check has processed, of `to_check`.
  to_check integer not null default 0,
  primary key (service_id, kind),
  foreign key (service_id) references service(service_id) on delete cascade,
  check (kind in ('stores', 'skus', 'customers'))
);

-- Units sold in 90 days, minus returns, by store number, SKU and customer. Counted by each mapping check.
create table recent_sale (
  service_id integer not null,
  kind text collate "C" not null,
  name text collate "C" not null,
  units numeric not null,
  counted_at timestamptz not null,  -- When the count started.
  primary key (service_id, kind, name),
  foreign key (service_id) references service(service_id) on delete cascade,
  check (kind in ('stores', 'skus', 'customers'))
);

-- The state of each store, SKU and customer, and of each platform item that no record is mapped to, after the last mapping check.
create table mapping_issue (
  service_id integer not null,
  kind text collate "C" not null,
  side text collate "C" not null,        -- Owner of `id`: the back office (`here`) or the platform (`there`).
  id text collate "C" not null,
  state text collate "C" not null,
  ecommerce_id text collate "C",         -- The platform item that the record is mapped to.
  suggestion text collate "C",           -- The nearest platform item that no record is mapped to.
  evidence jsonb not null default '[]',  -- The reasons for the state: [{"reason", "ecommerceId", "id"}]. No names and no addresses.
  units_in_stock bigint,                 -- Units in all stores, or of all SKUs. Null for customers and platform items.
  units_sold numeric,
  place text collate "C" not null generated always as ((((case state when 'matched' then '9' when 'unverified' then '8' else '1' end || lpad(('999999999999'::bigint - least(greatest(coalesce(units_sold, 0), 0), '999999999999'::bigint::numeric)::bigint)::text, 12, '0')) || lpad(('999999999999'::bigint - least(greatest(coalesce(units_in_stock, 0::bigint), 0::bigint), '999999999999'::bigint))::text, 12, '0')) || case state when 'platformOnly' then 'b' else 'a' end) || id) stored,  -- The
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   -- position
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   -- in
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   -- lists:
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   -- problems
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   -- first,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   -- then
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   -- by
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   -- units
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   -- sold,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   -- then
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   -- by
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   -- units
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   -- in
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   -- stock.
  primary key (service_id, kind, side, id),
  foreign key (service_id) references service(service_id) on delete cascade,
  check (kind in ('stores', 'skus', 'customers')),
  check (side in ('here', 'there')),
  check (state in ('matched', 'unmapped', 'platformOnly', 'duplicate', 'orphaned', 'nearMatch', 'unverified'))
);
create index mapping_issue_place on mapping_issue (service_id, kind, place);
create index mapping_issue_state on mapping_issue (service_id, kind, state, place);
create index mapping_issue_suggestion on mapping_issue (service_id, kind, suggestion) where suggestion is not null;
create trigger mapping_issue_deleted after delete on mapping_issue referencing old table as went for each statement execute function count_mapping_issues();
create trigger mapping_issue_inserted after insert on mapping_issue referencing new table as came for each statement execute function count_mapping_issues();
create trigger mapping_issue_updated after update on mapping_issue referencing old table as went new table as came for each statement execute function count_mapping_issues();

-- The number of issues per kind and state, maintained by a trigger on mapping_issue, so that no request counts a million rows.
create table mapping_count (
  service_id integer not null,
  kind text collate "C" not null,
  state text collate "C" not null,
  issues integer not null,
  primary key (service_id, kind, state),
  foreign key (service_id) references service(service_id) on delete cascade
);

-- Maintains mapping_count, once per statement.
create function count_mapping_issues() returns trigger language plpgsql as $$
begin
  if tg_op <> 'DELETE' then
    insert into mapping_count as c (service_id, kind, state, issues)
    select service_id, kind, state, count(*) from came group by 1, 2, 3 order by 1, 2, 3
    on conflict (service_id, kind, state) do update set issues = c.issues + excluded.issues;
  end if;
  if tg_op <> 'INSERT' then
    update mapping_count c set issues = c.issues - w.count
      from (select service_id, kind, state, count(*) from went group by 1, 2, 3) w
     where (c.service_id, c.kind, c.state) = (w.service_id, w.kind, w.state);
  end if;
  return null;
end $$;

-- Mappings that a fix changed. A fix can be undone for 90 days, unless the mapping has changed since.
create table mapping_fix (
  service_id integer not null,
  fix_id text collate "C" not null default gen_random_uuid()::text,
  changed_at timestamptz not null default clock_timestamp(),
  kind text collate "C" not null,
  record_id text collate "C" not null,
  before jsonb not null,      -- The mapped fields before the fix; `after` has those after it.
  after jsonb not null,
  username text not null,
  request_id text not null,
  undone_at timestamptz,
  batch_id text collate "C",  -- The batch of suggestions that were accepted together, so that one undo restores them. Null: a single fix.
  primary key (service_id, fix_id),
  foreign key (service_id) references service(service_id) on delete cascade,
  check (kind in ('stores', 'skus', 'customers'))
);
create index mapping_fix_batch on mapping_fix (service_id, batch_id, fix_id) where batch_id is not null;
create index mapping_fix_changed on mapping_fix (service_id, changed_at, fix_id);
create index mapping_fix_record on mapping_fix (service_id, kind, record_id);


-- 0014_ecommerce.sql
-- E-commerce connections: the live platform of a service, with its rate-limit budget, and the platform's own fields of its items.

-- The connection of a service to its live e-commerce platform (`tillbridge ecommerce set`). A service without one uses imported files.
create table ecommerce_connection (
  service_id integer not null,
  connection_id text collate "C" not null,  -- One connection for each service at present: main.
  driver text collate "C" not null,
  url text not null,
  client_id text,
  encrypted_secret bytea not null,          -- The client secret of an app on Shopify, or the secret API key of a Medusa, encrypted for this
                                            -- service.
  encrypted_previous_secret bytea,          -- The secret before a rotation. Events that it has signed are accepted until
                                            -- previous_secret_until.
  previous_secret_until timestamptz,
  encrypted_token bytea,                    -- The access token, encrypted for this service. Null: none was requested yet.
  token_expires_at timestamptz,             -- When a new token is requested, a little before the token expires.
  token_lease_until timestamptz,            -- A lease: until then, one process requests a new token and the others wait for it. No lock is
                                            -- held during the request.
  api_version text collate "C",
  settings jsonb not null default '{}',     -- Optional settings: {"autoMapping": "exact", "intervals": {"ecommerce-variants": 300}}.
  subscriptions jsonb,                      -- The event subscriptions at the last check: {"wanted": 18, "missing": [], "checkedAt":
                                            -- "2026-07-01T10:00:00Z"}. Null: not checked yet.
  push_cursor text,                         -- The stock push has read the change feed up to this cursor. Null: it compares every level
                                            -- first.
  push_stopped_at timestamptz,              -- When the safety stop ended the stock push: more than half of the stocked levels would fall to
                                            -- zero.
  push_approved_at timestamptz,             -- When a person approved the push. Levels that were due by then don't count for the safety
                                            -- stop.
  primary key (service_id, connection_id),
  foreign key (service_id) references service(service_id) on delete cascade,
  check ((driver = 'shopify') = (api_version is not null)),
  check ((driver = 'shopify') = (client_id is not null)),
  check ((encrypted_previous_secret is null) = (previous_secret_until is null)),
  check ((encrypted_token is null) = (token_expires_at is null)),
  check (driver in ('shopify', 'medusa'))
);

-- The points of the platform's rate limit, shared by all processes: a token bucket with three priority classes. Orders have 40 %, stock has
-- 45 % and background work has 15 % of the capacity and of the restored points. Points that a full class can't take flow to the others.
create table ecommerce_budget (
  service_id integer not null,
  connection_id text collate "C" not null,
  capacity double precision not null,
  restore_per_second double precision not null,
  orders_points double precision not null,
  stock_points double precision not null,
  background_points double precision not null,
  measured_at timestamptz not null,     -- When the points were last restored.
  throttled bigint not null default 0,  -- Calls that the platform throttled.
  primary key (service_id, connection_id),
  foreign key (service_id, connection_id) references ecommerce_connection(service_id, connection_id) on delete cascade
);

-- Items that the platform has deleted, for tombstoneRetentionDays. A read that began before the removal can't restore them. No personal
-- data.
create table ecommerce_tombstone (
  service_id integer not null,
  connection_id text collate "C" not null,
  kind text collate "C" not null,
  item_key text collate "C" not null,
  platform_id text collate "C" not null,
  ecommerce_id text collate "C" not null,
  is_verified boolean not null,  -- True if a read by ID has shown that the item doesn't exist: it never returns. False if a full sync
                                 -- didn't contain it.
  removed_at timestamptz not null default clock_timestamp(),
  primary key (service_id, connection_id, kind, item_key),
  foreign key (service_id, connection_id) references ecommerce_connection(service_id, connection_id) on delete cascade,
  check (kind in ('stores', 'skus', 'customers'))
);

-- Notifications of the platform, for 7 days: which record must be read. The record itself, and anything else of the payload, is not stored.
create table ecommerce_event (
  service_id integer not null,
  connection_id text collate "C" not null,
  event_id text collate "C" not null,    -- The platform's ID of the delivery: the same for each attempt.
  target text collate "C" not null,      -- The sync that reads the record, or stock.
  subject_id text collate "C" not null,  -- The global ID of the record: a location, product, inventory item or customer.
  successor_id text collate "C",         -- The customer with whom the subject was merged.
  received_at timestamptz not null default clock_timestamp(),
  handled_at timestamptz,
  primary key (service_id, connection_id, event_id),
  foreign key (service_id, connection_id) references ecommerce_connection(service_id, connection_id) on delete cascade
);
create index ecommerce_event_merge on ecommerce_event (service_id, connection_id) where successor_id is not null;
create index ecommerce_event_open on ecommerce_event (service_id, connection_id, target, received_at) where handled_at is null;
create index ecommerce_event_time on ecommerce_event (received_at);

-- The stock of one item at one location of the platform, as Tillbridge knows it, with its outbox.
create table ecommerce_level (
  service_id integer not null,
  connection_id text collate "C" not null,
  location_id text collate "C" not null,
  item_id text collate "C" not null,
  known_on_hand integer,                     -- The on-hand quantity of the platform by our own record. A push compares it with the
                                             -- platform's. Null: the item is not stocked there.
  known_at timestamptz,
  desired_on_hand integer,                   -- The outbox, with the next two columns: stored before a call and cleared by its result.
  idempotency_key text collate "C",          -- The key of the call in flight. While it is set, nothing else changes known_on_hand.
  sent_at timestamptz,
  due_at timestamptz,                        -- Since when the level may differ. Null: it is in step, or held.
  due_rank smallint,                         -- 0: falls to zero. 1: falls. 2: rises. Lower ranks are sent first.
  version bigint not null default 0,         -- Increases with each change of known_on_hand, the commitments or the observed quantities.
  must_read boolean not null default false,  -- True: known_on_hand is unreliable, so the level is read before the next push.
  observed_on_hand integer,
  observed_committed integer,
  observed_held_back integer,                -- Reserved, damaged, quality control and safety stock, as last read.
  observed_at timestamptz,
  hold_reason text collate "C",              -- Why the level is not pushed, or the platform's code. Null: it is pushed.
  primary key (service_id, connection_id, item_id, location_id),
  foreign key (service_id, connection_id) references ecommerce_connection(service_id, connection_id) on delete cascade,
  check ((due_at is null) = (due_rank is null)),
  constraint ecommerce_level_outbox check (num_nulls(desired_on_hand, idempotency_key, sent_at) in (0, 3))
);
create index ecommerce_level_due on ecommerce_level (service_id, connection_id, due_rank, due_at) where due_at is not null;
create index ecommerce_level_held on ecommerce_level (service_id, connection_id, item_id, location_id) where hold_reason is not null;
create index ecommerce_level_in_flight on ecommerce_level (service_id, connection_id, idempotency_key) where idempotency_key is not null;

-- Units of platform orders that are sold at a location and not yet fulfilled, for orders with an ecommerceOrderId. No personal data.
create table ecommerce_commitment (
  service_id integer not null,
  connection_id text collate "C" not null,
  order_id text collate "C" not null,  -- sales_order.ecommerce_order_id.
  line_id text collate "C" not null,
  location_id text collate "C" not null,
  item_id text collate "C" not null,
  units integer not null,
  confirmed_at timestamptz not null,   -- When the order was last read by its ID.
  primary key (service_id, connection_id, order_id, line_id),
  foreign key (service_id, connection_id) references ecommerce_connection(service_id, connection_id) on delete cascade,
  check (units > 0)
);
create index ecommerce_commitment_level on ecommerce_commitment (service_id, connection_id, item_id, location_id);

-- The levels of the platform that the running reconciliation has read. Empty otherwise.
create table ecommerce_observed_level (
  service_id integer not null,
  connection_id text collate "C" not null,
  item_id text collate "C" not null,
  location_id text collate "C" not null,
  on_hand integer not null,
  committed integer not null,
  held_back integer not null,
  primary key (service_id, connection_id, item_id, location_id),
  foreign key (service_id, connection_id) references ecommerce_connection(service_id, connection_id) on delete cascade
);

-- Comparisons of our record of the platform's stock with the platform, for 90 days.
create table ecommerce_reconciliation (
  service_id integer not null,
  connection_id text collate "C" not null,
  reconciliation_id text collate "C" not null,
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  state text collate "C" not null default 'running',
  is_dry_run boolean not null,                -- True while stockPush isn't on: nothing is corrected on the platform.
  is_partial boolean not null default false,  -- True if only levels that events named were compared.
  counts jsonb not null default '{}',         -- Levels by result: {"compared", "drifted", "skipped", "added", "rising", "falling",
                                              -- "fallingToZero", "inStep", "held"}.
  digests jsonb not null default '[]',        -- Digests of both sides by location, before the correction: [{"locationId", "known",
                                              -- "observed"}]. Equal digests mean equal quantities.
  differences jsonb not null default '[]',    -- The hundred largest differences to the desired quantity.
  error text,
  primary key (service_id, connection_id, reconciliation_id),
  foreign key (service_id, connection_id) references ecommerce_connection(service_id, connection_id) on delete cascade,
  check (state in ('queued', 'running', 'completed', 'failed'))
);
create index ecommerce_reconciliation_time on ecommerce_reconciliation (service_id, started_at, reconciliation_id);

-- Levels whose quantity on the platform was not the one that Tillbridge had set or read.
create table ecommerce_drift (
  service_id integer not null,
  connection_id text collate "C" not null,
  reconciliation_id text collate "C" not null,
  item_id text collate "C" not null,
  location_id text collate "C" not null,
  known_on_hand integer,
  observed_on_hand integer,
  changed_by text,  -- The app or the staff member that made the change, as the platform names it. Null: not known.
  primary key (service_id, connection_id, reconciliation_id, item_id, location_id),
  foreign key (service_id, connection_id, reconciliation_id) references ecommerce_reconciliation(service_id, connection_id, reconciliation_id) on delete cascade
);
