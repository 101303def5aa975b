-- Back offices: the connection settings of each service, and the state of its syncs.

create table back_office (
  service_id integer primary key references service on delete cascade,
  driver text collate "C" not null,
  url text,
  country text,
  username text,
  password bytea,
  ca text,
  time_zone text,
  back_office_version text,
  concurrency text,
  sync_share text,
  export_folder text,
  sftp_host_key text,
  sftp_key_file text,
  sftp_password bytea,
  sync_intervals jsonb not null default '{}',
  gateways jsonb not null default '{}',
  version uuid not null default gen_random_uuid(),
  check ((username is null) = (password is null))
);
comment on table back_office is
  'Connection settings of a service''s back office (`tillbridge back-office set`). Services without a row use the settings of the '
  'environment.';
comment on column back_office.country is 'Country or web store, as the back office names it.';
comment on column back_office.password is 'Encrypted for this service.';
comment on column back_office.ca is 'Certificates (PEM) to trust.';
comment on column back_office.time_zone is 'Time zone of the back office. Null: the time zone of the service.';
comment on column back_office.back_office_version is 'Version of the back office, if its API doesn''t report it.';
comment on column back_office.concurrency is 'Maximum concurrent calls of one process.';
comment on column back_office.sync_share is 'Percentage of these calls that syncs can use.';
comment on column back_office.export_folder is 'Folder of the scheduled exports: a path, or the URL of a folder on an SFTP server.';
comment on column back_office.sftp_host_key is 'Fingerprints of the SFTP server''s keys, separated by commas.';
comment on column back_office.sftp_key_file is 'Path of the private key for the SFTP server.';
comment on column back_office.sftp_password is 'Password of the SFTP user or of the private key. Encrypted for this service.';
comment on column back_office.sync_intervals is 'Seconds between two runs of a sync, if not the default: {"stock": 60}.';
comment on column back_office.gateways is 'Names of payment gateways in the back office: {"paypal": {"merchantId": "LUMA-PP", "cardType": "PP"}}.';
comment on column back_office.version is 'Changes with each update, so that processes notice it and open the back office again.';

create table call_minute (
  service_id integer not null references service on delete cascade,
  minute timestamptz not null,
  calls integer not null,
  failed integer not null,
  milliseconds real not null,
  slowest real not null,
  primary key (service_id, minute)
);
comment on table call_minute is
  'Calls to the back office per minute, of requests and of jobs, for the charts of one day. Counted in each process and added up here every '
  'few seconds.';
comment on column call_minute.failed is 'Calls without a response or with a 5xx response.';
comment on column call_minute.milliseconds is 'Total duration of the calls; `slowest` is the longest one.';

create table sync_source (
  service_id integer primary key references service on delete cascade,
  source text collate "C" not null,
  time_zone text not null
);
comment on table sync_source is
  'The back office that a service is synced from. If it changes, the checkpoints and refreshes of the previous one are deleted, and '
  'everything is read again.';
comment on column sync_source.source is 'Driver, address and country.';
comment on column sync_source.time_zone is 'Time zone in which the times of the back office were read.';

create table sync_state (
  service_id integer not null references service on delete cascade,
  sync text collate "C" not null,
  since text,
  run uuid,
  heartbeat_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  full_at timestamptz,
  full_only_interval integer,
  read bigint not null default 0,
  inserted bigint not null default 0,
  changed bigint not null default 0,
  removed bigint not null default 0,
  skipped bigint not null default 0,
  rejected bigint not null default 0,
  notes jsonb not null default '{}',
  error text,
  failed_at timestamptz,
  full_failed_at timestamptz,
  full_failures integer not null default 0,
  requested_at timestamptz,
  full_requested boolean not null default false,
  primary key (service_id, sync)
);
comment on table sync_state is 'The checkpoint of each sync, and the state of its last run.';
comment on column sync_state.since is 'The checkpoint, in the driver''s own form: changes up to it are stored. A completed run moves it. Null: the next run is a full sync.';
comment on column sync_state.run is 'The run that has the lease.';
comment on column sync_state.heartbeat_at is 'The last heartbeat of the run. A minute without one ends the lease.';
comment on column sync_state.finished_at is 'The end of the last completed run that read from the back office.';
comment on column sync_state.full_at is 'The end of the last completed full sync.';
comment on column sync_state.full_only_interval is
  'Seconds between two full syncs, if the last run found that the back office can''t list changes. Null: it can.';
comment on column sync_state.read is 'Records of the last run, also while it is running. So are the next five.';
comment on column sync_state.skipped is 'Records that were neither stored nor rejected. notes has the reasons.';
comment on column sync_state.notes is 'Remarks about the run, and how often: {"remark": count}.';
comment on column sync_state.error is 'The cause if the last run failed, otherwise null.';
comment on column sync_state.full_failed_at is 'The last failed full sync since the last completed one. Until it is retried, changes are synced.';
comment on column sync_state.full_failures is 'Failed full syncs in a row, not counting the incremental runs between them.';
comment on column sync_state.requested_at is 'When a run was requested. A completed run that began later fulfils the request.';
comment on column sync_state.full_requested is 'True if the requested run must be a full sync.';

create table sync_run (
  service_id integer not null references service on delete cascade,
  sync text collate "C" not null,
  run_id text collate "C" not null default gen_random_uuid()::text,
  changed_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  origin text collate "C" not null default 'backOffice' check (origin in ('backOffice', 'file')),
  is_full boolean not null,
  read bigint not null default 0,
  inserted bigint not null default 0,
  changed bigint not null default 0,
  removed bigint not null default 0,
  outdated bigint not null default 0,
  skipped bigint not null default 0,
  rejected bigint not null default 0,
  notes jsonb not null default '{}',
  error text,
  is_dry_run boolean not null default false,
  heartbeat_at timestamptz,
  cancelled_at timestamptz,
  rejections json,
  file_name text,
  username text,
  primary key (service_id, sync, run_id)
);
create index sync_run_id on sync_run (service_id, run_id);
create index sync_run_started on sync_run (service_id, sync, changed_at, run_id);
create index sync_run_changed on sync_run (service_id, changed_at);
comment on table sync_run is 'The runs of each sync, and the imports of each import type, for 30 days.';
comment on column sync_run.sync is 'The sync, or the import type of a file.';
comment on column sync_run.changed_at is 'When the run started.';
comment on column sync_run.ended_at is 'Null: the run is in progress, or its process has ended and no later run has noticed it.';
comment on column sync_run.is_full is 'True for a full sync.';
comment on column sync_run.skipped is 'Records that were neither stored nor rejected. notes has the reasons.';
comment on column sync_run.notes is 'Remarks about the run, and how often: {"remark": count}.';
comment on column sync_run.error is 'The cause of the failure. Null: the run has not failed.';
comment on column sync_run.is_dry_run is 'True for the dry run of an import: nothing is written, and the data is no fresher.';
comment on column sync_run.heartbeat_at is 'The last heartbeat of an import. Those of a sync are in sync_state.';
comment on column sync_run.cancelled_at is 'When a client requested the end of an import.';
comment on column sync_run.rejections is 'Reasons for rejected lines of a file, with the numbers of the first lines, but never their content.';
comment on column sync_run.file_name is 'The name of an imported file, if the client sent it.';
comment on column sync_run.username is 'The account that uploaded the file. Null: the command line, or a sync.';

create table import_profile (
  service_id integer not null references service on delete cascade,
  header_hash text collate "C" not null,
  import_type text collate "C" not null,
  profile text not null,
  username text not null,
  saved_at timestamptz not null default now(),
  primary key (service_id, header_hash)
);
comment on table import_profile is 'How the console imported a file. It offers the same for the next file with these columns.';
comment on column import_profile.header_hash is 'SHA-256 of the column names of the file.';
comment on column import_profile.profile is 'The profile of `tillbridge import --profile`, as JSON.';

create table sync_seen (
  service_id integer not null,
  sync text collate "C" not null,
  run uuid not null,
  list text collate "C" not null,
  id text collate "C" not null,
  primary key (service_id, sync, run, list, id),
  foreign key (service_id, sync) references sync_state on delete cascade
);
comment on table sync_seen is
  'The records that a run has seen, to count them and to find removed ones. Deleted when the run completes or the next one starts.';
comment on column sync_seen.run is 'A run that has lost its lease, but does not know it yet, writes no rows that the new run would read.';
comment on column sync_seen.list is 'The list: product, variant, stock, customer.';

create table sync_refresh (
  service_id integer not null references service on delete cascade,
  sync text collate "C" not null,
  id text collate "C" not null,
  version text not null,
  due boolean not null default true,
  refreshed_at timestamptz,
  read_at timestamptz,
  primary key (service_id, sync, id)
);
create index sync_refresh_due on sync_refresh (service_id, sync, id) where due;
create index sync_refresh_done on sync_refresh (service_id, sync, refreshed_at, id) where not due;
comment on table sync_refresh is
  'Records that a sync must request one by one, because the back office has no list of them: the transactions and the reward account of a customer.';
comment on column sync_refresh.id is 'The customer.';
comment on column sync_refresh.version is 'The back office''s version of the last known change. A new version makes the refresh due.';
comment on column sync_refresh.read_at is 'When the back office was last asked for data that Tillbridge could read.';
comment on column sync_refresh.refreshed_at is 'The last refresh. Old records are refreshed again even if no change is known.';

create table import_progress (
  service_id integer not null references service on delete cascade,
  import_type text collate "C" not null,
  digest bytea not null,
  line bigint not null,
  reached_at timestamptz not null,
  primary key (service_id, import_type, digest)
);
comment on table import_progress is
  'Checkpoints of running and interrupted imports. `tillbridge import --resume` continues from them.';
comment on column import_progress.import_type is 'The import type, such as customers.';
comment on column import_progress.digest is 'SHA-256 of the file. A changed file has no checkpoint.';
comment on column import_progress.line is
  'The last processed line. Later lines can be stored too, because the checkpoint follows their commit. Importing a line again changes nothing.';
