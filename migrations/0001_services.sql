-- Services and accounts: whose data it is, and who may ask for it.
--
-- What holds in all tables:
-- * Each key begins with service_id, except in the few tables that belong to the whole installation: no statement meets a row of
--   another service, and the tables can be distributed by it as they are. All that a service has goes with it.
-- * Identifiers are text; those of things that the back office knows are its own. They sort by code point (collate "C"), so that a
--   page's order never depends on a machine's locale.
-- * A timestamptz is a moment. A timestamp without a zone is what the clocks showed in the time zone of the service.
-- * Amounts have four decimals, whatever the currency has.
-- * A hash is an HMAC-SHA-256, and what is encrypted is so by AES-256-GCM. The keys come from a secret outside the database: a stolen
--   dump opens nothing.

create table data_database (
  name text collate "C" primary key,
  url bytea not null,
  added_at timestamptz not null default now()
);
comment on table data_database is
  'Other databases that services can be in (docs/decisions/0030). They have these same tables, and this one is empty there.';
comment on column data_database.url is 'How it is reached, encrypted.';

create table service (
  service_id integer generated always as identity primary key,
  name text not null unique,
  settings jsonb not null default '{}',
  created_at timestamptz not null default now(),
  restored_at timestamptz,
  ending text check (ending in ('shut', 'emptying')),
  data_database text collate "C" references data_database,
  moving text check (moving in ('arriving', 'draining', 'shut', 'gone', 'opening')),
  shut_until timestamptz
);
create index on service (data_database) where data_database is not null;
comment on table service is 'A retailer''s tenancy.';
comment on column service.data_database is
  'Where it is, and where a row of the same number and name says what it is set to. Null: here.';
comment on column service.moving is
  'How far its move to another database has come, or from one to here. arriving: its rows come, and nobody is served. draining: no job is '
  'begun here. shut: nothing is written, until shut_until. gone: nothing is written any more, and rows that are elsewhere go. opening: it '
  'is read here, and not yet written. Null: it does not move.';
comment on column service.shut_until is 'Until when it is shut, whatever becomes of who moves it: then it is written here as before.';
comment on column service.name is 'What X-Service-Name names.';
comment on column service.restored_at is
  'When it was restored from a backup; what was written between the two is lost. Cursors of before say so, and are refused: they may have told of it.';
comment on column service.ending is
  'How far its end has come, for which somebody asked. shut: nobody is let in, no job is done, and all is there yet; it can be opened '
  'again. emptying: its rows go, portion by portion, and no ledger keeps them. Null: it serves.';
comment on column service.settings is 'What was set, by the names that GET /settings shows. The rest has its default, which is nowhere in the database.';

create function has_left(service) returns boolean
language sql immutable as $$
  select coalesce($1.ending = 'emptying' or $1.moving in ('arriving', 'gone') or $1.data_database is not null, false)
$$;
comment on function has_left is 'Whether the rows of a service in this database may go, its ledgers among them: it ends, or is in another database.';

create table service_move (
  service_id integer primary key references service on delete cascade,
  source text collate "C" references data_database,
  target text collate "C" references data_database,
  state text not null default 'copying' check (state in ('copying', 'switched')),
  mover uuid not null,
  begun_at timestamptz not null default clock_timestamp(),
  alive_at timestamptz not null default clock_timestamp(),
  switched_at timestamptz,
  copy_slots text
);
create index on service_move (source);
create index on service_move (target);
comment on table service_move is
  'Services that are on their way from one database to another (docs/decisions/0030), in the control database alone. A row goes once '
  'nothing is left of the service where it was, or of the attempt.';
comment on column service_move.source is 'Where it was, and in target where it is to be. Null: the control database.';
comment on column service_move.state is 'copying: it is served at the source. switched: it is served at the target.';
comment on column service_move.mover is 'Who is at it; another one where somebody has taken over from one that died.';
comment on column service_move.alive_at is 'When whoever is at it was last heard of.';
comment on column service_move.copy_slots is
  'What the slots are called by which the target copies, as a regular expression: one that dies leaves them at the source. Null: none was made.';

create table account (
  username text collate "C" primary key,
  created_at timestamptz not null default now(),
  names_shoppers boolean not null default false
);
comment on table account is 'Who may ask. An account belongs to the installation, and may be assigned to several services.';
comment on column account.names_shoppers is
  'Whether X-Shopper-Address counts of it: all shoppers of a web shop come from one address, and wrong PINs are counted by address.';

create table account_password (
  username text collate "C" not null references account on delete cascade,
  password_hash bytea not null,
  created_at timestamptz not null default now(),
  primary key (username, password_hash)
);
comment on table account_password is 'The live passwords of an account: two at most, so that one can be replaced without an outage.';
comment on column account_password.password_hash is 'A fast hash will do: a password is 256 random bits.';

create table console_session (
  token_hash bytea primary key,
  username text collate "C" not null references account on delete cascade,
  password_hash bytea,
  begun_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  foreign key (username, password_hash) references account_password on delete cascade
);
create index on console_session (username, password_hash);
create index on console_session (begun_at);
comment on table console_session is
  'Browsers that are signed in to the console, for 12 hours at most and an hour without a request. A session ends with the password that '
  'opened it, and with its account.';
comment on column console_session.token_hash is 'A hash of what the cookie holds: a stolen dump signs nobody in.';
comment on column console_session.password_hash is 'The password that opened it; null where a link did.';
comment on column console_session.seen_at is 'When it was last used, to the minute.';

create table console_link (
  link_hash bytea primary key,
  username text collate "C" not null references account on delete cascade,
  made_at timestamptz not null default now()
);
create index on console_link (username);
create index on console_link (made_at);
comment on table console_link is 'Links that sign in to the console, once, within 60 seconds. The first use deletes them.';
comment on column console_link.link_hash is 'A hash of what the link holds.';

create table account_service (
  service_id integer not null references service on delete cascade,
  username text collate "C" not null references account on delete cascade,
  role text not null check (role in ('visitor', 'maintainer', 'admin')),
  changed_at timestamptz not null default clock_timestamp(),
  primary key (service_id, username)
);
create index on account_service (username);
create index account_service_changed on account_service (service_id, changed_at);
comment on table account_service is 'The services that an account is assigned to.';
comment on column account_service.role is 'A ladder: each may do what the ones before it may.';
comment on column account_service.changed_at is 'Since when the account has this role.';

create table account_use (
  service_id integer not null,
  username text collate "C" not null,
  used_at timestamptz not null,
  primary key (service_id, username),
  foreign key (service_id, username) references account_service on delete cascade
);
comment on table account_use is
  'When an account last asked something of a service, to the minute: beside its assignment, whose row is held by whoever changes it.';

create table failure (
  subject bytea not null,
  window_start timestamptz not null,
  failures integer not null,
  primary key (subject, window_start)
);
create index on failure (window_start);
comment on table failure is 'Wrong passwords, PINs and validation ids, counted by the minute for all processes. They are forgotten after an hour.';
comment on column failure.subject is 'Who failed, and where: a hash, so that neither a name nor an address is kept.';
comment on column failure.window_start is 'When the minute began.';

comment on table migration is 'The migrations that this database has had. The runner makes this table before it applies the first one.';
comment on column migration.sha256 is 'The digest of the text that was applied, in hexadecimal: another text by this number is refused.';

create table installation (
  single boolean primary key default true check (single),
  secret_digest bytea not null,
  backed_up_at timestamptz,
  data_database text collate "C"
);
comment on table installation is 'One row, which the first start makes.';
comment on column installation.data_database is
  'The name by which the control database of an installation knows this one. Null: this is a control database, and a start may serve it.';
comment on column installation.backed_up_at is 'As of when the newest backup is that was made whole. Null: there was none.';
comment on column installation.secret_digest is
  'A hash by a key that comes from the secret: a process with another secret is refused, because no password or PIN would be right for it, '
  'and what is encrypted could not be read.';
