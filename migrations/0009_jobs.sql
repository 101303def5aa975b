-- Jobs, and what they lead to: e-mails, and alerts where somebody has to look (docs/decisions/0007).

create table job (
  service_id integer references service on delete cascade,
  name text collate "C" not null,
  subject text collate "C" not null default '',
  due_at timestamptz not null default now(),
  again_at timestamptz,
  attempts integer not null default 0,
  begun integer not null default 0,
  lease uuid,
  leased_until timestamptz,
  traceparent text collate "C",
  unique nulls not distinct (service_id, name, subject)
);
create index job_due on job (name, due_at);
create index job_lease on job (lease);
comment on table job is
  'What is done after the commit of the write that asked for it, or at set times, by one worker at a time: it takes what is due, holds it '
  'by a lease, and takes over what a worker that died has left. A job that is done goes, or is due again at its next time.';
comment on column job.service_id is 'Null: a job of the installation.';
comment on column job.name is 'What to do: the name of its file in src/jobs.';
comment on column job.subject is 'What it is about, where there are several of a name: a mail, a feed.';
comment on column job.again_at is 'When it was asked for once more while it is being done: it comes again then, at the latest.';
comment on column job.attempts is 'How often it came to nothing by a fault of its own since it last succeeded.';
comment on column job.begun is 'How often it was begun since then without coming to its end, or to such a fault: whoever was at it died, or the database was away.';
comment on column job.lease is 'Another one each time that it is taken: only who knows it may finish the job.';
comment on column job.leased_until is 'Nobody else may take it before. A worker that lives renews it.';
comment on column job.traceparent is 'Of the request that asked for it (W3C Trace Context), so that its trace goes on; null where there is none.';
comment on index job_due is 'Without the service: a worker takes what is due of all services.';

create table mail (
  service_id integer not null references service on delete cascade,
  mail_id text collate "C" not null,
  voucher_number text collate "C" not null,
  status text collate "C" not null default 'queued' check (status in ('queued', 'sent', 'failed')),
  message_id text collate "C" not null,
  sealed bytea,
  attempts integer not null default 0,
  last_fault text,
  not_before timestamptz not null,
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  primary key (service_id, mail_id),
  check (status <> 'sent' or (sealed is null and sent_at is not null))
);
create index mail_voucher on mail (service_id, voucher_number, created_at);
create index mail_status on mail (service_id, status, created_at);
create index mail_unsent on mail (service_id, status) where status <> 'sent';
comment on table mail is
  'E-mails to the receivers of vouchers, each written in the transaction of its voucher, with the job that sends it: never one without '
  'the other.';
comment on column mail.message_id is 'One for all attempts, so that a mail that arrives twice can be told to be the same.';
comment on column mail.sealed is 'What it says, encrypted: it holds the PIN. Dropped once it is sent; a month later where it failed.';
comment on column mail.last_fault is 'Why the last attempt came to nothing.';
comment on column mail.not_before is 'The beginning of the day of delivery, or when it was queued. Also the Date that it shows, whenever it is sent.';

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
comment on table alert is 'What somebody has to look at, until it is settled, or for 90 days. The log has a line for each as well.';
comment on column alert.kind is 'What has happened, in a word that does not change: mail_failed.';
comment on column alert.subject is 'What it has happened to, by an identifier that is no secret.';
comment on column alert.changed_at is 'The last of the times that it was raised.';
