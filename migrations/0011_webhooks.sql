-- Webhooks: endpoints that receive changes. Each reads the change feed from its own cursor (contributing/decisions/0017).

create table webhook (
  service_id integer not null references service on delete cascade,
  webhook_id text collate "C" not null,
  changed_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  url text not null,
  kinds json not null,
  description text,
  state text collate "C" not null default 'active' check (state in ('active', 'failing', 'paused')),
  state_reason text,
  secret bytea not null,
  previous_secret bytea,
  previous_until timestamptz,
  cursor text not null,
  pending_since timestamptz,
  delivery_id text collate "C",
  delivery_body text,
  delivery_cursor text,
  delivery_is_last boolean,
  not_before timestamptz not null default now(),
  failures integer not null default 0,
  failing_since timestamptz,
  is_catching_up boolean not null default false,
  last_success_at timestamptz,
  last_failure json,
  primary key (service_id, webhook_id),
  check (num_nulls(delivery_id, delivery_body, delivery_cursor, delivery_is_last) in (0, 4))
);
create index webhook_changed on webhook (service_id, changed_at);
comment on table webhook is
  'Endpoints that receive changes. A delivery is stored together with the cursor after it before it is sent, so a retry sends the same '
  'delivery. The statement that records its success moves the cursor.';
comment on column webhook.state is
  'failing: every delivery of an hour has failed; attempts continue. paused: nothing is sent until the webhook is resumed.';
comment on column webhook.secret is 'Signing secret, encrypted.';
comment on column webhook.previous_secret is 'Secret before the last rotation. It also signs, until `previous_until`.';
comment on column webhook.cursor is 'Position in the change feed: an `after_cursor` of GET /changes with the same kinds.';
comment on column webhook.pending_since is 'Since when changes are undelivered. Null: all changes have been delivered.';
comment on column webhook.delivery_id is
  'Pending delivery. Success and failure are recorded by this ID, so a late record of an earlier attempt changes nothing.';
comment on column webhook.delivery_cursor is 'Cursor of the endpoint after the delivery succeeds.';
comment on column webhook.delivery_is_last is 'True if no further changes were available when the delivery was created.';
comment on column webhook.not_before is 'When the next attempt is due.';
comment on column webhook.failures is 'Failed attempts since the last success.';
comment on column webhook.is_catching_up is
  'True if a delivery has failed and not all changes since have been delivered. Deliveries are then slower.';

create table webhook_attempt (
  service_id integer not null,
  webhook_id text collate "C" not null,
  attempt_id text collate "C" not null default gen_random_uuid()::text,
  changed_at timestamptz not null default clock_timestamp(),
  delivery_id text collate "C" not null,
  changes integer not null,
  status integer,
  fault text,
  response text,
  milliseconds integer not null,
  headers json,
  primary key (service_id, webhook_id, attempt_id),
  foreign key (service_id, webhook_id) references webhook on delete cascade
);
create index webhook_attempt_changed on webhook_attempt (service_id, changed_at);
create index webhook_attempt_of on webhook_attempt (service_id, webhook_id, changed_at, attempt_id);
comment on table webhook_attempt is 'Attempts at deliveries, for 30 days.';
comment on column webhook_attempt.changed_at is 'When the attempt ended.';
comment on column webhook_attempt.changes is 'Number of changes in the delivery. Zero for a test.';
comment on column webhook_attempt.fault is 'Cause of the failure. Null: the delivery succeeded.';
comment on column webhook_attempt.response is 'Beginning of the endpoint''s response, at most 1 KiB.';
comment on column webhook_attempt.headers is 'Sent headers of Standard Webhooks. Null: nothing was sent.';

create table webhook_payload (
  service_id integer not null,
  webhook_id text collate "C" not null,
  delivery_id text collate "C" not null,
  created_at timestamptz not null default now(),
  body text not null,
  primary key (service_id, webhook_id, delivery_id),
  foreign key (service_id, webhook_id) references webhook on delete cascade
);
create index webhook_payload_created on webhook_payload (service_id, created_at);
comment on table webhook_payload is
  'Bodies of deliveries, for 3 days, so that an operator can read one and send it again. They name changed records without their content.';
