-- Writes: idempotency, audit, intents and reservations (contributing/decisions/0008, 0012).

create table idempotent_response (
  service_id integer not null,
  operation text collate "C" not null,
  key_hash bytea not null,
  request_hash bytea not null,
  response bytea,
  subject bytea,
  created_at timestamptz not null default now(),
  primary key (service_id, operation, key_hash)
);
create index idempotent_response_created on idempotent_response (service_id, created_at);
comment on table idempotent_response is
  'First response to each write with an Idempotency-Key, replayed for 24 hours. Until the commit, an advisory lock reserves the key. It '
  'ends with the transaction, so that a process that dies leaves nothing behind.';
comment on column idempotent_response.operation is 'Method and path with parameter names: POST /orders/:id/returns.';
comment on column idempotent_response.request_hash is 'Hash of the request. Another request with the same key is rejected.';
comment on column idempotent_response.response is
  'Status, headers and body, encrypted because it can contain a PIN. Null: it was about a customer who has been erased.';
comment on column idempotent_response.subject is 'Keyed hash of the written path, to find responses about a customer who is erased.';

create function lock_idempotency_key(service integer, write_operation text, hash bytea, high integer, low integer) returns void
language plpgsql volatile as $$
begin
  if pg_try_advisory_xact_lock(high, low) then
    -- A separate statement with its own snapshot, which includes the response of a transaction that just released the key.
    if not exists (select from idempotent_response r
                    where r.service_id = service and r.operation = write_operation and r.key_hash = hash and r.created_at > expiry_clock() - interval '24 hours') then
      return;
    end if;
  end if;
  raise exception 'the idempotency key is in use or already has a response' using errcode = 'integrity_constraint_violation', constraint = 'idempotency_key_available';
end $$;
comment on function lock_idempotency_key is
  'Locks an Idempotency-Key until the transaction ends. Raises an error if another transaction has the lock, or if there is a response '
  'for the key, so that statements can be pipelined behind it. Looks for a response after locking: the response of a previous owner is '
  'committed by then. `high` and `low`: two parts of the hash, used as the lock key.';

create table audit (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamptz not null,
  record text not null,
  is_administrative boolean not null default true,
  primary key (service_id, changed_at, id)
);
create index audit_subject on audit (service_id, (record::json->>'subject'), changed_at, id);
create index audit_admin on audit (service_id, changed_at, id) where is_administrative;
create index audit_admin_username on audit (service_id, (record::json->>'username'), changed_at, id) where is_administrative;
create index audit_username on audit (service_id, (record::json->>'username'), changed_at, id);
comment on table audit is 'Audit log: an entry for each completed write, as GET /audit shows it.';
comment on column audit.changed_at is
  'Change timestamp. First in the key because the list is read in this order, and every further index slows each write down.';
comment on column audit.record is 'Contains the names of written fields. Values, which may be personal or secret, only of settings, roles and mappings.';
comment on column audit.is_administrative is 'False for writes of customers, orders and other data, which are most entries.';
comment on index audit_subject is 'Entries about one record.';
comment on index audit_admin is 'Entries of the administration.';
comment on index audit_admin_username is 'Entries of the administration by one account.';
comment on index audit_username is 'Entries of one account.';

create table intent (
  service_id integer not null,
  id uuid not null,
  operation text collate "C" not null,
  key_hash bytea,
  request_hash bytea not null,
  request bytea not null,
  token uuid not null,
  claimed_until timestamptz not null,
  checks integer not null default 0,
  next_check_at timestamptz not null,
  started_at timestamptz not null default now(),
  primary key (service_id, id)
);
create index intent_due on intent (next_check_at);
comment on table intent is
  'Write-ahead intents of writes that call a back office (contributing/decisions/0012): inserted before the call, deleted by the transaction that '
  'stores effect, audit entry and response. If a process dies, a retry with the same Idempotency-Key or a job finds out the outcome.';
comment on column intent.id is
  'Derived from the Idempotency-Key, if there is one. Reference numbers in the back office are derived from it.';
comment on column intent.operation is 'Method and path with parameter names: POST /orders.';
comment on column intent.request is 'The request, encrypted.';
comment on column intent.token is 'Fencing token of the newest attempt. Earlier attempts can no longer store anything.';
comment on column intent.claimed_until is 'End of the lease of the running attempt.';
comment on column intent.checks is 'How often the back office did not know the write.';
comment on column intent.next_check_at is 'When to find out the outcome, unless an attempt is running then.';
comment on index intent_due is 'Without the service: a worker takes what is due from all services.';

create table reservation (
  service_id integer not null,
  subject bytea not null,
  owner uuid not null,
  until_resolved boolean not null,
  reserved_until timestamptz not null,
  primary key (service_id, subject)
);
create index reservation_owner on reservation (service_id, owner);
comment on table reservation is
  'Reservations of one write or read during its calls to a back office: a voucher, an order, an order number, a customer. Released '
  'at the end. If the outcome of a write is unknown, its reservations last until it is resolved.';
comment on column reservation.subject is 'Keyed hash of the name, because voucher numbers and email addresses are among them.';
comment on column reservation.owner is 'Write (intent.id), or read.';
comment on column reservation.until_resolved is 'True if the outcome of the write may be unknown: reserved as long as its intent exists.';
comment on column reservation.reserved_until is 'End of the reservation otherwise.';
