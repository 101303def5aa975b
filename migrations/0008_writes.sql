-- Writes: what is kept of each one, in the transaction of its effect (docs/decisions/0008).

create table idempotent_answer (
  service_id integer not null references service on delete cascade,
  operation text collate "C" not null,
  key_hash bytea not null,
  request_hash bytea not null,
  answer bytea not null,
  created_at timestamptz not null default now(),
  primary key (service_id, operation, key_hash)
);
create index idempotent_answer_created on idempotent_answer (service_id, created_at);
comment on table idempotent_answer is
  'The first answer to each write that came with an Idempotency-Key, given again for 24 hours. Between claim and commit a key is held by '
  'an advisory lock, which goes with the transaction: no row says that a write is under way, and none is left by a process that dies.';
comment on column idempotent_answer.operation is 'Method and path, its parameters by their names: POST /orders/:id/returns.';
comment on column idempotent_answer.request_hash is 'Another request with the same key is refused.';
comment on column idempotent_answer.answer is 'Status, headers and body, encrypted: it may hold a PIN.';

create table audit (
  service_id integer not null references service on delete cascade,
  id text collate "C" not null default gen_random_uuid()::text,
  changed_at timestamptz not null,
  record text not null,
  primary key (service_id, id)
);
create index audit_changed on audit (service_id, changed_at, id);
comment on table audit is 'Who wrote what, when: a line for each write that was carried out, as GET /audit shows it.';
comment on column audit.changed_at is 'The stamp.';
comment on column audit.record is 'Fields are named; their values are not kept: they may be personal, or secret.';
