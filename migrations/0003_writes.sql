-- The first answer to each write that came with an Idempotency-Key, stored in the transaction of its effect and given again for
-- 24 hours. It may hold a PIN: it is encrypted, and key and request are kept as keyed hashes.
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

-- Who wrote what, when. Fields are named, their values are not kept: they may be personal, or secret.
create table audit (
  service_id integer not null references service on delete cascade,
  id text collate "C" not null default gen_random_uuid()::text,
  changed_at timestamptz not null,
  record text not null,
  primary key (service_id, id)
);
create index audit_changed on audit (service_id, changed_at, id);
