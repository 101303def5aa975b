-- Writes: what is kept of each one, in the transaction of its effect (docs/decisions/0008).

create table idempotent_answer (
  service_id integer not null,
  operation text collate "C" not null,
  key_hash bytea not null,
  request_hash bytea not null,
  answer bytea,
  subject bytea,
  created_at timestamptz not null default now(),
  primary key (service_id, operation, key_hash)
);
create index idempotent_answer_created on idempotent_answer (service_id, created_at);
comment on table idempotent_answer is
  'The first answer to each write that came with an Idempotency-Key, given again for 24 hours. Between claim and commit a key is held by '
  'an advisory lock, which goes with the transaction: no row says that a write is under way, and none is left by a process that dies.';
comment on column idempotent_answer.operation is 'Method and path, its parameters by their names: POST /orders/:id/returns.';
comment on column idempotent_answer.request_hash is 'Another request with the same key is refused.';
comment on column idempotent_answer.answer is 'Status, headers and body, encrypted: it may hold a PIN. Null: it was of somebody who was erased since.';
comment on column idempotent_answer.subject is 'A keyed hash of the path of what was written: by it answers about somebody who is erased are found.';

create function take_key(tenant integer, asked text, hash bytea, high integer, low integer) returns void
language plpgsql volatile as $$
begin
  if pg_try_advisory_xact_lock(high, low) then
    -- A statement of its own, with a snapshot of its own: what whoever had the key has answered is in it.
    if not exists (select from idempotent_answer a
                    where a.service_id = tenant and a.operation = asked and a.key_hash = hash and a.created_at > now() - interval '24 hours') then
      return;
    end if;
  end if;
  raise exception 'the key is not free' using errcode = 'integrity_constraint_violation', constraint = 'key_is_free';
end $$;
comment on function take_key is
  'Takes an Idempotency-Key until the transaction ends; fails where another one has it, or something was answered under it, so that nothing '
  'need wait to be asked behind it. An answer is looked for once the key is taken: by then that of whoever had it is committed, and seen. Two numbers '
  'of the hash are what the lock goes by.';

create table audit (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamptz not null,
  record text not null,
  primary key (service_id, changed_at, id)
);
create index audit_subject on audit (service_id, (record::json->>'subject'), changed_at, id);
create index audit_username on audit (service_id, (record::json->>'username'), changed_at, id);
comment on table audit is 'Who wrote what, when: a line for each write that was carried out, as GET /audit shows it.';
comment on column audit.changed_at is 'The stamp. The key begins with it, as the list is read: each index costs every write.';
comment on column audit.record is 'Fields are named; their values are not kept: they may be personal, or secret.';
comment on index audit_subject is 'What was written of one record.';
comment on index audit_username is 'What one account wrote.';

create table intent (
  service_id integer not null,
  id uuid not null,
  operation text collate "C" not null,
  key_hash bytea,
  request_hash bytea not null,
  request bytea not null,
  token uuid not null,
  claimed_until timestamptz not null,
  looks integer not null default 0,
  look_at timestamptz not null,
  begun_at timestamptz not null default now(),
  primary key (service_id, id)
);
create index intent_due on intent (look_at);
comment on table intent is
  'Writes that a back office is told of (docs/decisions/0012): a row from before it is told until effect, audit and answer are stored, '
  'in the transaction that deletes it. What a process that dies leaves is followed up by a repeat with the same Idempotency-Key, or by '
  'the job that finds out what has become of it.';
comment on column intent.id is 'From the Idempotency-Key where there is one. Numbers at the back office are derived from it.';
comment on column intent.operation is 'Method and path, its parameters by their names: POST /orders.';
comment on column intent.request is 'What it was asked for, encrypted.';
comment on column intent.token is 'Of the newest attempt: an earlier one that comes back may store nothing any more.';
comment on column intent.claimed_until is 'An attempt is under way until then at most.';
comment on column intent.looks is 'How often the back office knew nothing of it.';
comment on column intent.look_at is 'When to find out what has become of it, if nobody is at it then.';
comment on index intent_due is 'Without the service: a worker takes what is due of all services.';

create table hold (
  service_id integer not null,
  subject bytea not null,
  owner uuid not null,
  until_known boolean not null,
  held_until timestamptz not null,
  primary key (service_id, subject)
);
create index hold_owner on hold (service_id, owner);
comment on table hold is
  'What one write or look-up has to itself while a back office is asked: a voucher, an order that something is returned of, the number of one that is placed, a customer. '
  'It is given back at the end; what a write of unknown outcome holds stays held until that is found out.';
comment on column hold.subject is 'A keyed hash of what it is: voucher numbers and e-mail addresses are among it.';
comment on column hold.owner is 'The write (intent.id), or the look-up.';
comment on column hold.until_known is 'Where nobody knows whether its write was carried out: held for as long as the write is open.';
comment on column hold.held_until is 'Else it is free from then on.';
