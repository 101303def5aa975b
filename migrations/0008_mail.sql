-- What is done after the commit of the write that asked for it, or at set times, by one worker at a time: `src/worker.ts` takes
-- what is due, holds it by a lease, and takes over what a worker that died has left. A job of no service is one of the installation.
create table job (
  service_id integer references service on delete cascade,
  name text collate "C" not null,
  -- What it is about, where there are several of a name: a mail's id.
  subject text collate "C" not null default '',
  due_at timestamptz not null default now(),
  -- How often it was begun; back at 0 when a job of set times succeeds.
  attempts integer not null default 0,
  -- Who does it now, and until when nobody else may.
  lease uuid,
  leased_until timestamptz,
  unique nulls not distinct (service_id, name, subject)
);
-- Without the service: a worker takes what is due of all services.
create index job_due on job (name, due_at);
create index job_lease on job (lease);

-- E-mails to shoppers, written in the transaction of the voucher they are about, with a job that sends them.
create table mail (
  service_id integer not null references service on delete cascade,
  mail_id text collate "C" not null,
  voucher_number text collate "C" not null,
  status text collate "C" not null default 'queued' check (status in ('queued', 'sent', 'failed')),
  -- One for all attempts, so that a mail that arrives twice can be told to be the same.
  message_id text collate "C" not null,
  -- What it says, encrypted: it holds the PIN. Dropped once it is sent.
  sealed bytea,
  attempts integer not null default 0,
  -- Why the last attempt came to nothing.
  last_fault text,
  -- Not sent before; also its Date.
  not_before timestamptz not null,
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  primary key (service_id, mail_id),
  check (status <> 'sent' or (sealed is null and sent_at is not null))
);
create index mail_voucher on mail (service_id, voucher_number, created_at);
create index mail_status on mail (service_id, status, created_at);

-- What somebody has to look at, until it is settled. The log has a line for each as well.
create table alert (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null,
  -- What it is about, by an identifier that is no secret.
  subject text collate "C" not null,
  detail text not null,
  times integer not null default 1,
  raised_at timestamptz not null default now(),
  primary key (service_id, kind, subject)
);
