-- Webhooks: endpoints that are told what has changed, each a reader of the feed with a place of its own (contributing/decisions/0017).

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
  former_secret bytea,
  former_until timestamptz,
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
  'Endpoints that are told of changes. What is about to be delivered is kept beside the place that it leads to, before it goes out: a '
  'repeat is the same delivery, and the place moves with the mark that it was taken.';
comment on column webhook.state is 'failing: nothing was taken for an hour, and it is tried on. paused: nothing is sent until it is resumed.';
comment on column webhook.secret is 'What deliveries are signed with, encrypted.';
comment on column webhook.former_secret is 'The one before the last rotation: it signs too, until `former_until`.';
comment on column webhook.cursor is 'Where it stands in the feed: an `after_cursor` of GET /changes with the same kinds.';
comment on column webhook.pending_since is 'Since when there has been something to tell. Null: all has been told.';
comment on column webhook.delivery_id is 'The delivery under way. Who marks it names it: a mark that comes late, after another one''s, marks nothing.';
comment on column webhook.delivery_cursor is 'Where the endpoint stands once the delivery is taken.';
comment on column webhook.delivery_is_last is 'Whether nothing more was there to tell when it was put together.';
comment on column webhook.not_before is 'When the next attempt is due.';
comment on column webhook.failures is 'How many attempts have failed since the last that did not.';
comment on column webhook.is_catching_up is 'It has failed, and has not been told everything since: it is told slowly.';

create table webhook_attempt (
  service_id integer not null,
  webhook_id text collate "C" not null,
  attempt_id text collate "C" not null default gen_random_uuid()::text,
  changed_at timestamptz not null default clock_timestamp(),
  delivery_id text collate "C" not null,
  changes integer not null,
  status integer,
  fault text,
  answer text,
  milliseconds integer not null,
  primary key (service_id, webhook_id, attempt_id),
  foreign key (service_id, webhook_id) references webhook on delete cascade
);
create index webhook_attempt_changed on webhook_attempt (service_id, changed_at);
create index webhook_attempt_of on webhook_attempt (service_id, webhook_id, changed_at, attempt_id);
comment on table webhook_attempt is 'Attempts at deliveries, for 30 days. What was delivered is not kept.';
comment on column webhook_attempt.changed_at is 'When it ended.';
comment on column webhook_attempt.changes is 'How many changes the delivery told of; none in one that was a test.';
comment on column webhook_attempt.fault is 'Why it failed. Null: the delivery was taken.';
comment on column webhook_attempt.answer is 'The beginning of what the endpoint answered, at most 1 KiB.';
