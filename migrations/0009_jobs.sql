-- Job queue, outgoing emails and alerts (contributing/decisions/0007).

create table job (
  service_id integer references service on delete cascade,
  name text collate "C" not null,
  subject text collate "C" not null default '',
  due_at timestamptz not null default now(),
  rerun_at timestamptz,
  attempts integer not null default 0,
  unfinished_starts integer not null default 0,
  lease uuid,
  leased_until timestamptz,
  traceparent text collate "C",
  unique nulls not distinct (service_id, name, subject)
);
create index job_due on job (name, due_at);
create index job_lease on job (lease);
comment on table job is
  'Job queue: work that follows a commit, or runs on a schedule. One worker at a time leases a job; if it dies, the lease ends and '
  'another worker takes over. A finished job is deleted, or rescheduled.';
comment on column job.service_id is 'Null: a job of the installation.';
comment on column job.name is 'Name of the job, which is its file in src/jobs.';
comment on column job.subject is 'The email or sync of the job, if several jobs have the same name.';
comment on column job.rerun_at is 'Set if the job was requested again while it was running: it runs again at that time at the latest.';
comment on column job.attempts is 'Failed attempts since the last success.';
comment on column job.unfinished_starts is
  'Starts since then that neither succeeded nor failed: the worker died, or the database was unavailable.';
comment on column job.lease is 'Token of the current lease, new each time. Only its owner can finish the job.';
comment on column job.leased_until is 'No other worker takes the job before. A living worker renews the lease.';
comment on column job.traceparent is
  'W3C Trace Context of the request that added the job, so that the job continues its trace. Null if the request has no trace.';
comment on index job_due is 'Without the service: a worker takes what is due from all services.';

create table email (
  service_id integer not null references service on delete cascade,
  email_id text collate "C" not null,
  voucher_number text collate "C" not null,
  status text collate "C" not null default 'queued' check (status in ('queued', 'sent', 'failed')),
  message_id text collate "C" not null,
  encrypted_content bytea,
  attempts integer not null default 0,
  last_error text,
  not_before timestamptz not null,
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  primary key (service_id, email_id),
  check (status <> 'sent' or (encrypted_content is null and sent_at is not null))
);
create index email_voucher on email (service_id, voucher_number, created_at);
create index email_status on email (service_id, status, created_at);
create index email_unsent on email (service_id, status) where status <> 'sent';
comment on table email is 'Emails to the receivers of vouchers. The transaction of the voucher adds the email and the job that sends it.';
comment on column email.message_id is 'The same for all attempts, so that a mail client can recognize a duplicate.';
comment on column email.encrypted_content is
  'Content, encrypted because it contains the PIN. Deleted when the email is sent, or a month after it failed.';
comment on column email.last_error is 'Why the last attempt failed.';
comment on column email.not_before is
  'Start of the delivery date, or when the email was queued. Also its Date header, whenever it is sent.';

create table alert (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null,
  subject text collate "C" not null,
  detail text not null,
  alert_id text collate "C" not null default gen_random_uuid()::text,
  times integer not null default 1,
  begun_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  primary key (service_id, kind, subject),
  unique (service_id, alert_id)
);
create index alert_changed on alert (service_id, changed_at);
create index alert_begun on alert (service_id, begun_at, alert_id);
comment on table alert is 'Problems that need attention, until they are resolved, or for 90 days. Each is logged, too.';
comment on column alert.kind is 'The stable name of the problem: email_failed.';
comment on column alert.subject is 'The ID of the affected record. Not a secret.';
comment on column alert.changed_at is 'The last occurrence.';
