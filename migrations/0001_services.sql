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

create table shard (
  name text collate "C" primary key,
  url bytea not null,
  added_at timestamptz not null default now()
);
comment on table shard is
  'Other databases that services can be in (contributing/decisions/0030). They have the same tables; this one is empty there.';
comment on column shard.url is 'Connection string, encrypted.';

create table service (
  service_id integer generated always as identity primary key,
  name text not null unique,
  settings jsonb not null default '{}',
  created_at timestamptz not null default now(),
  restored_at timestamptz,
  deletion_state text check (deletion_state in ('locked', 'purging')),
  shard_name text collate "C" references shard,
  move_state text check (move_state in ('incoming', 'draining', 'paused', 'moved_away', 'read_only')),
  paused_until timestamptz
);
create index on service (shard_name) where shard_name is not null;
comment on table service is 'A retailer''s tenancy.';
comment on column service.shard_name is
  'Shard of the service. A row with the same number and name there has its settings. Null: this database.';
comment on column service.move_state is
  'Stage of a move to or from another database, or of a restore in place. incoming: rows arrive here, and requests are not served. draining: no job starts here. '
  'paused: no writes until paused_until. moved_away: no more writes; rows that are already on the other database are deleted. read_only: '
  'reads are served here, writes not yet. Null: the service is not moving or being restored.';
comment on column service.paused_until is 'End of the write pause, even if the process that moves or restores the service dies.';
comment on column service.name is 'Value of X-Service-Name.';
comment on column service.restored_at is
  'When the service was restored from a backup, or its times were corrected. Cursors from before carry an older value and are rejected.';
comment on column service.deletion_state is
  'Stage of a requested deletion. locked: no request and no job is admitted; the data is complete, and the service can be unlocked. purging: '
  'rows are deleted in batches, including ledgers. Null: not being deleted.';
comment on column service.settings is 'Changed settings, by the names that GET /settings shows. Defaults are not in the database.';

create function is_purgeable(service) returns boolean
language sql immutable as $$
  select coalesce($1.deletion_state = 'purging' or $1.move_state in ('incoming', 'moved_away') or $1.shard_name is not null, false)
$$;
comment on function is_purgeable is
  'True if the rows of a service in this database, including its ledgers, can be deleted: it is being deleted, or is in another database.';

create table service_move (
  service_id integer primary key references service on delete cascade,
  source text collate "C" references shard,
  target text collate "C" references shard,
  state text not null default 'copying' check (state in ('copying', 'switched')),
  owner uuid not null,
  started_at timestamptz not null default clock_timestamp(),
  heartbeat_at timestamptz not null default clock_timestamp(),
  switched_at timestamptz,
  copy_slots text
);
create index on service_move (source);
create index on service_move (target);
comment on table service_move is
  'Services that are moving from one database to another (contributing/decisions/0030), or are restored in place (contributing/decisions/0047), '
  'only in the control database. A row is deleted when no rows are left at the source, or none of an abandoned move at the target.';
comment on column service_move.source is 'Shard that the service leaves, and in `target` the one it moves to. Null: the control database.';
comment on column service_move.target is 'Null: the service is restored in place, in the database `source`.';
comment on column service_move.state is 'copying: served at the source. switched: served at the target.';
comment on column service_move.owner is 'Process that executes the move. It changes if another process takes over.';
comment on column service_move.heartbeat_at is 'Last heartbeat of the owner.';
comment on column service_move.copy_slots is
  'Regular expression of the replication slots by which the target copies tables: if the target dies, they remain at the source. Null: none '
  'was created.';

create table account (
  username text collate "C" primary key,
  skeleton text collate "C" not null unique,
  created_at timestamptz not null default now(),
  trusts_shopper_ip boolean not null default false,
  identity_issuer text collate "C",
  identity_subject text collate "C",
  check ((identity_issuer is null) = (identity_subject is null)),
  unique (identity_issuer, identity_subject)
);
comment on table account is 'API clients and people who sign in. An account belongs to the installation and can be assigned to several services.';
comment on column account.skeleton is 'The same for all usernames that look alike (Unicode Technical Standard 39), so that only one of them can exist.';
comment on column account.identity_issuer is
  'Issuer URL of the identity provider with which a person signs in, and sets the roles of the account. Null: the account has passwords.';
comment on column account.identity_subject is 'The claim sub, which identifies the person at that issuer.';
comment on column account.trusts_shopper_ip is
  'True if the header X-Shopper-IP of this account is trusted. All shoppers of a web shop share one IP address, and wrong PINs are counted '
  'per address.';

create table account_password (
  username text collate "C" not null references account on delete cascade,
  password_hash bytea not null,
  created_at timestamptz not null default now(),
  primary key (username, password_hash)
);
comment on table account_password is 'Active passwords of an account, at most two, so that a password can be replaced without an outage.';
comment on column account_password.password_hash is 'A fast hash is sufficient, because a password has 256 random bits.';

create table console_session (
  token_hash bytea primary key,
  username text collate "C" not null references account on delete cascade,
  password_hash bytea,
  begun_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  foreign key (username, password_hash) references account_password on delete cascade on update cascade
);
create index on console_session (username, password_hash);
create index on console_session (begun_at);
comment on table console_session is
  'Browsers that are signed in to the console, for at most 12 hours, and one hour without a request. A session ends with its account, and '
  'with the password that it was opened with.';
comment on column console_session.token_hash is 'Hash of the session cookie, so that a stolen dump contains no usable cookie.';
comment on column console_session.password_hash is 'Password that opened the session. Null: a sign-in link or the identity provider opened it.';
comment on column console_session.seen_at is 'Last use, to the minute.';

create table console_link (
  link_hash bytea primary key,
  username text collate "C" not null references account on delete cascade,
  made_at timestamptz not null default now()
);
create index on console_link (username);
create index on console_link (made_at);
comment on table console_link is 'Links that sign in to the console, once, within 60 seconds. The first use deletes them.';
comment on column console_link.link_hash is 'Hash of the token in the link.';

create table second_factor (
  username text collate "C" primary key references account on delete cascade,
  secret bytea not null,
  last_step bigint not null,
  recovery_hashes bytea[] not null,
  enrolled_at timestamptz not null default now()
);
comment on table second_factor is 'Second factors of accounts: time-based one-time passwords (RFC 6238).';
comment on column second_factor.secret is 'Encrypted.';
comment on column second_factor.last_step is 'Time step of the last accepted code, so that no code is accepted twice.';
comment on column second_factor.recovery_hashes is 'Hashes of the unused recovery codes. A fast hash is sufficient for 80 random bits.';

create table console_sign_in (
  state_hash bytea primary key,
  completed_at timestamptz not null default now()
);
create index on console_sign_in (completed_at);
comment on table console_sign_in is
  'Completed sign-ins with an identity provider, so that no response of it opens two sessions. Deleted when their state has expired.';
comment on column console_sign_in.state_hash is 'Hash of the parameter state.';

create table account_service (
  service_id integer not null references service on delete cascade,
  username text collate "C" not null references account on delete cascade,
  role text not null check (role in ('visitor', 'maintainer', 'admin')),
  is_program boolean not null default false,
  changed_at timestamptz not null default clock_timestamp(),
  primary key (service_id, username)
);
create index on account_service (username);
create index account_service_program on account_service (service_id, is_program, username);
create index account_service_changed on account_service (service_id, changed_at);
comment on table account_service is 'The services that an account is assigned to.';
comment on column account_service.role is 'Each role includes the permissions of the previous ones.';
comment on column account_service.is_program is
  'True for a program, such as a web shop. False for a person. The same in all services of the account: it is stored here because the list of a service is filtered by it.';
comment on column account_service.changed_at is 'When the account received this role.';

create table account_use (
  service_id integer not null,
  username text collate "C" not null,
  used_at timestamptz not null,
  primary key (service_id, username),
  foreign key (service_id, username) references account_service on delete cascade
);
comment on table account_use is
  'Last request of an account to a service, to the minute. Separate from its assignment, whose row is locked by changes.';

create table api_key (
  service_id integer not null,
  username text collate "C" not null,
  name text collate "C" not null,
  key_hash bytea not null,
  scopes text[],
  stores text[],
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  used_at timestamptz,
  primary key (service_id, username, name),
  foreign key (service_id, username) references account_service on delete cascade
);
create index on api_key (username, key_hash);
comment on table api_key is
  'Credentials of an account for one service, with some of the permissions of its role (contributing/decisions/0043). A key never changes.';
comment on column api_key.name is 'Names the key in the audit log.';
comment on column api_key.key_hash is 'A fast hash is sufficient, because a key has 256 random bits.';
comment on column api_key.scopes is 'Groups of operations such as orders:read. Null: all that keys can call.';
comment on column api_key.stores is 'Numbers of the stores that the key is limited to. Null: all.';
comment on column api_key.used_at is 'Last request, to the minute. Null: never used.';

create table deprecated_use (
  service_id integer not null,
  username text collate "C" not null,
  operation text collate "C" not null,
  requests bigint not null,
  used_at timestamptz not null,
  primary key (service_id, username, operation),
  foreign key (service_id, username) references account_service on delete cascade
);
comment on table deprecated_use is 'Requests of an account to a deprecated operation, counted since its deprecation.';
comment on column deprecated_use.operation is 'Method and path of the route: GET /stores/:id.';
comment on column deprecated_use.used_at is 'Time of the last request, within a few seconds.';

create table failure (
  subject bytea not null,
  window_start timestamptz not null,
  failures integer not null,
  primary key (subject, window_start)
);
create index on failure (window_start);
comment on table failure is 'Wrong passwords, PINs and validation IDs per minute, counted for all processes and deleted after an hour.';
comment on column failure.subject is 'Hash of the account or IP address and of what failed, so that neither is stored.';
comment on column failure.window_start is 'Start of the minute.';

comment on table migration is 'Applied migrations. The runner creates this table before it applies the first one.';
comment on column migration.sha256 is 'Hexadecimal digest of the applied file. A file with the same number and another digest is rejected.';
comment on column migration.requires is
  'Newest migration that a process must know to use the database. 0 if the migration only adds something.';

create table installation (
  single boolean primary key default true check (single),
  secret_digest bytea not null,
  backed_up_at timestamptz,
  shard_name text collate "C",
  lookup_secret bytea,
  previous_digest bytea
);
comment on column installation.lookup_secret is
  'Secret of hashes that must stay the same, encrypted. Null: it is derived from the secret itself.';
comment on column installation.previous_digest is
  'Digest of the previous secret during a rotation, while values still need it. Every process must have it.';
comment on table installation is 'One row, inserted by the first start.';
comment on column installation.shard_name is
  'Name of this database as a shard of an installation. Null: this is a control database, which can be started.';
comment on column installation.backed_up_at is 'Time of the data in the newest complete backup. Null before the first backup.';
comment on column installation.secret_digest is
  'Hash with a key derived from the secret. A process with another secret doesn''t start: no password or PIN would match, and encrypted '
  'values could not be read.';
