-- Back offices: what stands behind each service, and how far its feeds have been pulled.

create table back_office (
  service_id integer primary key references service on delete cascade,
  driver text collate "C" not null,
  url text,
  country text,
  username text,
  password bytea,
  ca text,
  time_zone text,
  release text,
  concurrency text,
  exports text,
  exports_host_key text,
  exports_key text,
  exports_password bytea,
  every jsonb not null default '{}',
  gateways jsonb not null default '{}',
  version uuid not null default gen_random_uuid(),
  check ((username is null) = (password is null))
);
comment on table back_office is
  'What stands behind a service, and how it is reached, where that is not what the environment says for all services: what '
  '`tillbridge back-office set` was given.';
comment on column back_office.country is 'What the back office calls the country, or the web store.';
comment on column back_office.password is 'Encrypted, for this service alone.';
comment on column back_office.ca is 'Certificates (PEM) to trust.';
comment on column back_office.time_zone is 'Of the head office. Null: the service''s.';
comment on column back_office.release is 'Where the back office does not tell it.';
comment on column back_office.concurrency is 'How many calls of one process may be under way with it.';
comment on column back_office.exports is 'The folder that its exports arrive in: a path, or an address of an SFTP server.';
comment on column back_office.exports_host_key is 'Fingerprints of the keys that the SFTP server may show, separated by commas.';
comment on column back_office.exports_key is 'The path of a private key to sign in with.';
comment on column back_office.exports_password is 'Of the user, or of the private key. Encrypted, for this service alone.';
comment on column back_office.every is 'Seconds between two pulls of a feed, where that is not as often as by itself: {"stock": 60}.';
comment on column back_office.gateways is
  'What the back office knows payment gateways by: {"paypal": {"merchantId": "LUMA-PP", "cardType": "PP"}}.';
comment on column back_office.version is 'Another one with each change: by it processes notice that they have to open it anew.';

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
  'How many calls each minute had of the back office, of requests and of jobs alike, and how long they took, for the day that is charted: '
  'counted in each process, and added up here each few seconds.';
comment on column call_minute.failed is 'Those without an answer, and those that were answered with a 5xx.';
comment on column call_minute.milliseconds is 'All of them together, and in slowest the one that took longest.';

create table sync_source (
  service_id integer primary key references service on delete cascade,
  source text collate "C" not null
);
comment on table sync_source is
  'Which back office the feeds of a service are pulled from. To another one the marks and visits of this one mean nothing: they are '
  'forgotten, and everything is read.';
comment on column sync_source.source is 'Driver, address and country.';

create table sync_state (
  service_id integer not null references service on delete cascade,
  feed text collate "C" not null,
  since text,
  run uuid,
  beat_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  full_at timestamptz,
  whole_every integer,
  read bigint not null default 0,
  inserted bigint not null default 0,
  changed bigint not null default 0,
  removed bigint not null default 0,
  refused bigint not null default 0,
  notes jsonb not null default '{}',
  fault text,
  failed_at timestamptz,
  whole_failed_at timestamptz,
  whole_failures integer not null default 0,
  asked_at timestamptz,
  asks_whole boolean not null default false,
  primary key (service_id, feed)
);
comment on table sync_state is 'How far each feed has been pulled, and how its last run went.';
comment on column sync_state.since is 'The mark, in the driver''s own form: changes up to it are in. It moves when a run has ended well. Null: everything is read.';
comment on column sync_state.run is 'The run that holds the feed.';
comment on column sync_state.beat_at is 'When it last showed that it lives. After a minute without a beat the feed is anybody''s.';
comment on column sync_state.finished_at is 'Of the last run that ended well, and has asked for something.';
comment on column sync_state.full_at is 'Of the last one that read everything.';
comment on column sync_state.whole_every is
  'How often everything is read, in seconds, where the last run found that the back office does not tell what changed. Null: it does.';
comment on column sync_state.read is 'Records of the last run, also while it is under way. So are the next four.';
comment on column sync_state.notes is 'What was not quite as it should be: {"why": how many}.';
comment on column sync_state.fault is 'Why the last run failed. Null: it did not.';
comment on column sync_state.whole_failed_at is 'Of the last run that was to read everything and failed, until one reads it: meanwhile changes are pulled.';
comment on column sync_state.whole_failures is 'Such runs in a row, whatever changes were pulled between them.';
comment on column sync_state.asked_at is 'Somebody wants it pulled now. A run that ended well has done so, if it was asked before it began.';
comment on column sync_state.asks_whole is 'Everything is to be read, and not only what changed.';

create table feed_run (
  service_id integer not null references service on delete cascade,
  feed text collate "C" not null,
  run_id text collate "C" not null default gen_random_uuid()::text,
  changed_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  origin text collate "C" not null default 'backOffice' check (origin in ('backOffice', 'file')),
  is_whole boolean not null,
  read bigint not null default 0,
  inserted bigint not null default 0,
  changed bigint not null default 0,
  removed bigint not null default 0,
  refused bigint not null default 0,
  notes jsonb not null default '{}',
  fault text,
  is_trial boolean not null default false,
  beat_at timestamptz,
  refusals json,
  primary key (service_id, feed, run_id)
);
create index feed_run_id on feed_run (service_id, run_id);
create index feed_run_begun on feed_run (service_id, feed, changed_at, run_id);
create index feed_run_changed on feed_run (service_id, changed_at);
comment on table feed_run is 'The runs of each feed, for 30 days, whether it was pulled or came as a file.';
comment on column feed_run.changed_at is 'When it began.';
comment on column feed_run.ended_at is 'Null: it is under way, or nobody has noticed yet that its process has ended.';
comment on column feed_run.is_whole is 'It reads everything, and not only what changed.';
comment on column feed_run.notes is 'What was not quite as it should be: {"why": how many}.';
comment on column feed_run.fault is 'Why it failed. Null: it did not.';
comment on column feed_run.is_trial is 'A file that was only looked at: nothing was written, and no feed is the fresher for it.';
comment on column feed_run.beat_at is 'When a file that is being read was last known to be; of a pull, sync_state tells.';
comment on column feed_run.refusals is 'Why lines of a file were refused, with the numbers of the first ones: nothing that stands in them.';

create table sync_seen (
  service_id integer not null,
  feed text collate "C" not null,
  run uuid not null,
  list text collate "C" not null,
  id text collate "C" not null,
  primary key (service_id, feed, run, list, id),
  foreign key (service_id, feed) references sync_state on delete cascade
);
comment on table sync_seen is
  'What a run has seen of a list: to count it, and to find what is gone. Forgotten when it ends well, or the next one begins.';
comment on column sync_seen.run is 'One that has lost the feed to another may not know it yet, and says nothing in its name.';
comment on column sync_seen.list is 'By its name: product, variant, stock, customer.';

create table sync_visit (
  service_id integer not null references service on delete cascade,
  feed text collate "C" not null,
  id text collate "C" not null,
  stamp text not null,
  due boolean not null default true,
  visited_at timestamptz,
  told_at timestamptz,
  primary key (service_id, feed, id)
);
create index sync_visit_due on sync_visit (service_id, feed, id) where due;
create index sync_visit_visited on sync_visit (service_id, feed, visited_at, id) where not due;
comment on table sync_visit is
  'What a feed has to ask for one by one, where the back office has no list of it: the transactions and the reward account of a customer.';
comment on column sync_visit.id is 'The customer.';
comment on column sync_visit.stamp is 'The back office''s own, of the last change that is known: a visit is due whenever it is another one.';
comment on column sync_visit.told_at is 'When the back office was last asked for what it then told, so that it could be read.';
comment on column sync_visit.visited_at is 'What was not visited for long is visited again, even if nothing is known to have changed.';

create table import_progress (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null,
  digest bytea not null,
  line bigint not null,
  reached_at timestamptz not null,
  primary key (service_id, kind, digest)
);
comment on table import_progress is
  'How far imports of files have come that are under way, or were interrupted: `tillbridge import --resume` goes on from there.';
comment on column import_progress.kind is 'What the lines are: customers.';
comment on column import_progress.digest is 'SHA-256 of the file''s bytes: a file that was changed is another one.';
comment on column import_progress.line is
  'The last line that is dealt with; what follows it may be in as well, since it is noted behind the commit. To import a line again changes nothing.';
