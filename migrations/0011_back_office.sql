-- What stands behind a service, and how it is reached, where that is not what the environment says for all services.
create table back_office (
  service_id integer primary key references service on delete cascade,
  driver text collate "C" not null,
  url text,
  country text,
  username text,
  -- Encrypted, for this service alone.
  password bytea,
  -- Certificates (PEM) to trust.
  ca text,
  time_zone text,
  release text,
  -- The folder that exports arrive in.
  exports text,
  -- Another one with each change: processes go by it.
  version uuid not null default gen_random_uuid(),
  check ((username is null) = (password is null))
);

-- Which back office the marks and visits of a service's feeds are of: to another one they mean nothing.
create table sync_source (
  service_id integer primary key references service on delete cascade,
  source text collate "C" not null
);
