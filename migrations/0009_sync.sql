-- How far each feed of a back office has been read, and how the last run of it went. The run that holds a feed shows that it lives by
-- its beat; a feed whose beat has stopped is anybody's.
create table sync_state (
  service_id integer not null references service on delete cascade,
  feed text collate "C" not null,
  -- The driver's mark: changes up to it are in. Null: everything has to be read.
  since text,
  run uuid,
  beat_at timestamptz,
  started_at timestamptz,
  -- Of the last run that ended well, and of the last one that read everything.
  finished_at timestamptz,
  full_at timestamptz,
  -- Of the last run, also while it is under way.
  read bigint not null default 0,
  inserted bigint not null default 0,
  changed bigint not null default 0,
  removed bigint not null default 0,
  refused bigint not null default 0,
  notes jsonb not null default '{}',
  -- Why the last run failed; null where it did not.
  fault text,
  failed_at timestamptz,
  primary key (service_id, feed)
);

-- What the run under way has seen of a list, so that it can be counted, and what is gone be found.
create table sync_seen (
  service_id integer not null,
  feed text collate "C" not null,
  list text collate "C" not null,
  id text collate "C" not null,
  primary key (service_id, feed, list, id),
  foreign key (service_id, feed) references sync_state on delete cascade
);

-- Records that a feed has to fetch one by one. `stamp` is the back office's own, of the last change that is known.
create table sync_visit (
  service_id integer not null references service on delete cascade,
  feed text collate "C" not null,
  id text collate "C" not null,
  stamp text not null,
  due boolean not null default true,
  visited_at timestamptz,
  primary key (service_id, feed, id)
);
create index sync_visit_due on sync_visit (service_id, feed, id) where due;
create index sync_visit_visited on sync_visit (service_id, feed, visited_at, id) where not due;
