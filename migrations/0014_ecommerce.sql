-- E-commerce connections: the live platform of a service, with its rate-limit budget, and the platform's own fields of its items.

create table ecommerce_connection (
  service_id integer not null references service on delete cascade,
  connection_id text collate "C" not null,
  driver text collate "C" not null check (driver in ('shopify', 'medusa')),
  url text not null,
  client_id text,
  encrypted_secret bytea not null,
  encrypted_previous_secret bytea,
  previous_secret_until timestamptz,
  encrypted_token bytea,
  token_expires_at timestamptz,
  token_lease_until timestamptz,
  api_version text collate "C",
  settings jsonb not null default '{}',
  subscriptions jsonb,
  push_cursor text,
  push_stopped_at timestamptz,
  push_approved_at timestamptz,
  primary key (service_id, connection_id),
  check ((driver = 'shopify') = (client_id is not null)),
  check ((driver = 'shopify') = (api_version is not null)),
  check ((encrypted_token is null) = (token_expires_at is null)),
  check ((encrypted_previous_secret is null) = (previous_secret_until is null))
);
comment on table ecommerce_connection is
  'The connection of a service to its live e-commerce platform (`tillbridge ecommerce set`). A service without one uses imported files.';
comment on column ecommerce_connection.connection_id is 'One connection for each service at present: main.';
comment on column ecommerce_connection.encrypted_secret is 'The client secret of an app on Shopify, or the secret API key of a Medusa, encrypted for this service.';
comment on column ecommerce_connection.encrypted_previous_secret is
  'The secret before a rotation. Events that it has signed are accepted until previous_secret_until.';
comment on column ecommerce_connection.encrypted_token is 'The access token, encrypted for this service. Null: none was requested yet.';
comment on column ecommerce_connection.token_expires_at is 'When a new token is requested, a little before the token expires.';
comment on column ecommerce_connection.token_lease_until is
  'A lease: until then, one process requests a new token and the others wait for it. No lock is held during the request.';
comment on column ecommerce_connection.settings is 'Optional settings: {"autoMapping": "exact", "intervals": {"ecommerce-variants": 300}}.';
comment on column ecommerce_connection.subscriptions is
  'The event subscriptions at the last check: {"wanted": 18, "missing": [], "checkedAt": "2026-07-01T10:00:00Z"}. Null: not checked yet.';
comment on column ecommerce_connection.push_cursor is 'The stock push has read the change feed up to this cursor. Null: it compares every level first.';
comment on column ecommerce_connection.push_stopped_at is 'When the safety stop ended the stock push: more than half of the stocked levels would fall to zero.';
comment on column ecommerce_connection.push_approved_at is 'When a person approved the push. Levels that were due by then don''t count for the safety stop.';

create table ecommerce_budget (
  service_id integer not null,
  connection_id text collate "C" not null,
  capacity double precision not null,
  restore_per_second double precision not null,
  orders_points double precision not null,
  stock_points double precision not null,
  background_points double precision not null,
  measured_at timestamptz not null,
  throttled bigint not null default 0,
  primary key (service_id, connection_id),
  foreign key (service_id, connection_id) references ecommerce_connection on delete cascade
);
comment on table ecommerce_budget is
  'The points of the platform''s rate limit, shared by all processes: a token bucket with three priority classes. Orders have 40 %, stock '
  'has 45 % and background work has 15 % of the capacity and of the restored points. Points that a full class can''t take flow to the others.';
comment on column ecommerce_budget.measured_at is 'When the points were last restored.';
comment on column ecommerce_budget.throttled is 'Calls that the platform throttled.';

alter table ecommerce_item
  add connection_id text collate "C" not null default 'files',
  add platform_id text collate "C",
  add inventory_item_id text collate "C",
  add product_id text collate "C",
  add is_tracked boolean,
  add is_bundle boolean,
  add is_gift_card boolean,
  add is_active boolean,
  add platform_updated_at timestamptz,
  drop constraint ecommerce_item_pkey,
  add primary key (service_id, connection_id, kind, item_key);
comment on table ecommerce_item is
  'Items of the e-commerce platform: locations (stores), variants (skus) and customers. They come from a connection or from files. The next '
  'full sync or complete file replaces them. The data of a customer is deleted when they are erased.';
comment on column ecommerce_item.connection_id is 'The connection that the item was synced from, or files.';
comment on column ecommerce_item.item_key is 'Identifies the item among its kind: the platform''s number, or for files the names of a variant. Variants can share a SKU.';
comment on column ecommerce_item.platform_id is 'The platform''s global ID. Null for files, like the next columns.';
comment on column ecommerce_item.inventory_item_id is 'The global ID of the stock of a variant.';
comment on column ecommerce_item.is_bundle is 'True if the stock of a variant follows from its components.';
comment on column ecommerce_item.is_active is 'False for a deactivated location, and for a variant whose product is not active.';
comment on column ecommerce_item.platform_updated_at is 'When the platform changed the item. An older state never replaces a newer one.';

create table ecommerce_tombstone (
  service_id integer not null,
  connection_id text collate "C" not null,
  kind text collate "C" not null check (kind in ('stores', 'skus', 'customers')),
  item_key text collate "C" not null,
  platform_id text collate "C" not null,
  ecommerce_id text collate "C" not null,
  is_verified boolean not null,
  removed_at timestamptz not null default clock_timestamp(),
  primary key (service_id, connection_id, kind, item_key),
  foreign key (service_id, connection_id) references ecommerce_connection on delete cascade
);
comment on table ecommerce_tombstone is
  'Items that the platform has deleted, for tombstoneRetentionDays. A read that began before the removal can''t restore them. No personal data.';
comment on column ecommerce_tombstone.is_verified is
  'True if a read by ID has shown that the item doesn''t exist: it never returns. False if a full sync didn''t contain it.';

create table ecommerce_event (
  service_id integer not null,
  connection_id text collate "C" not null,
  event_id text collate "C" not null,
  target text collate "C" not null,
  subject_id text collate "C" not null,
  successor_id text collate "C",
  received_at timestamptz not null default clock_timestamp(),
  handled_at timestamptz,
  primary key (service_id, connection_id, event_id),
  foreign key (service_id, connection_id) references ecommerce_connection on delete cascade
);
comment on table ecommerce_event is
  'Notifications of the platform, for 7 days: which record must be read. The record itself, and anything else of the payload, is not stored.';
comment on column ecommerce_event.event_id is 'The platform''s ID of the delivery: the same for each attempt.';
comment on column ecommerce_event.target is 'The sync that reads the record, or stock.';
comment on column ecommerce_event.subject_id is 'The global ID of the record: a location, product, inventory item or customer.';
comment on column ecommerce_event.successor_id is 'The customer with whom the subject was merged.';
create index ecommerce_event_open on ecommerce_event (service_id, connection_id, target, received_at) where handled_at is null;
create index ecommerce_event_merge on ecommerce_event (service_id, connection_id) where successor_id is not null;
create index ecommerce_event_time on ecommerce_event (received_at);

-- The stock push finds items and locations by their global IDs.
create index ecommerce_item_inventory on ecommerce_item (service_id, connection_id, inventory_item_id) where inventory_item_id is not null;
create index ecommerce_item_platform on ecommerce_item (service_id, connection_id, platform_id) where platform_id is not null;

create table ecommerce_level (
  service_id integer not null,
  connection_id text collate "C" not null,
  location_id text collate "C" not null,
  item_id text collate "C" not null,
  known_on_hand integer,
  known_at timestamptz,
  desired_on_hand integer,
  idempotency_key text collate "C",
  sent_at timestamptz,
  due_at timestamptz,
  due_rank smallint,
  version bigint not null default 0,
  must_read boolean not null default false,
  observed_on_hand integer,
  observed_committed integer,
  observed_held_back integer,
  observed_at timestamptz,
  hold_reason text collate "C",
  primary key (service_id, connection_id, item_id, location_id),
  foreign key (service_id, connection_id) references ecommerce_connection on delete cascade,
  check ((due_at is null) = (due_rank is null)),
  constraint ecommerce_level_outbox check (num_nulls(desired_on_hand, idempotency_key, sent_at) in (0, 3))
);
comment on table ecommerce_level is 'The stock of one item at one location of the platform, as Tillbridge knows it, with its outbox.';
comment on column ecommerce_level.known_on_hand is
  'The on-hand quantity of the platform by our own record. A push compares it with the platform''s. Null: the item is not stocked there.';
comment on column ecommerce_level.desired_on_hand is 'The outbox, with the next two columns: stored before a call and cleared by its result.';
comment on column ecommerce_level.idempotency_key is 'The key of the call in flight. While it is set, nothing else changes known_on_hand.';
comment on column ecommerce_level.due_at is 'Since when the level may differ. Null: it is in step, or held.';
comment on column ecommerce_level.due_rank is '0: falls to zero. 1: falls. 2: rises. Lower ranks are sent first.';
comment on column ecommerce_level.version is 'Increases with each change of known_on_hand, the commitments or the observed quantities.';
comment on column ecommerce_level.must_read is 'True: known_on_hand is unreliable, so the level is read before the next push.';
comment on column ecommerce_level.observed_held_back is 'Reserved, damaged, quality control and safety stock, as last read.';
comment on column ecommerce_level.hold_reason is 'Why the level is not pushed, or the platform''s code. Null: it is pushed.';
create index ecommerce_level_due on ecommerce_level (service_id, connection_id, due_rank, due_at) where due_at is not null;
create index ecommerce_level_in_flight on ecommerce_level (service_id, connection_id, idempotency_key) where idempotency_key is not null;
create index ecommerce_level_held on ecommerce_level (service_id, connection_id, item_id, location_id) where hold_reason is not null;

create table ecommerce_commitment (
  service_id integer not null,
  connection_id text collate "C" not null,
  order_id text collate "C" not null,
  line_id text collate "C" not null,
  location_id text collate "C" not null,
  item_id text collate "C" not null,
  units integer not null check (units > 0),
  confirmed_at timestamptz not null,
  primary key (service_id, connection_id, order_id, line_id),
  foreign key (service_id, connection_id) references ecommerce_connection on delete cascade
);
comment on table ecommerce_commitment is
  'Units of platform orders that are sold at a location and not yet fulfilled, for orders with an ecommerceOrderId. No personal data.';
comment on column ecommerce_commitment.order_id is 'sales_order.ecommerce_order_id.';
comment on column ecommerce_commitment.confirmed_at is 'When the order was last read by its ID.';
create index ecommerce_commitment_level on ecommerce_commitment (service_id, connection_id, item_id, location_id);

-- The levels that a reconciliation has read.
create table ecommerce_observed_level (
  service_id integer not null,
  connection_id text collate "C" not null,
  item_id text collate "C" not null,
  location_id text collate "C" not null,
  on_hand integer not null,
  committed integer not null,
  held_back integer not null,
  primary key (service_id, connection_id, item_id, location_id),
  foreign key (service_id, connection_id) references ecommerce_connection on delete cascade
);
comment on table ecommerce_observed_level is 'The levels of the platform that the running reconciliation has read. Empty otherwise.';

create table ecommerce_reconciliation (
  service_id integer not null,
  connection_id text collate "C" not null,
  reconciliation_id text collate "C" not null,
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  state text collate "C" not null default 'running' check (state in ('queued', 'running', 'completed', 'failed')),
  is_dry_run boolean not null,
  is_partial boolean not null default false,
  counts jsonb not null default '{}',
  digests jsonb not null default '[]',
  differences jsonb not null default '[]',
  error text,
  primary key (service_id, connection_id, reconciliation_id),
  foreign key (service_id, connection_id) references ecommerce_connection on delete cascade
);
create index ecommerce_reconciliation_time on ecommerce_reconciliation (service_id, started_at, reconciliation_id);
comment on table ecommerce_reconciliation is 'Comparisons of our record of the platform''s stock with the platform, for 90 days.';
comment on column ecommerce_reconciliation.is_dry_run is 'True while stockPush isn''t on: nothing is corrected on the platform.';
comment on column ecommerce_reconciliation.is_partial is 'True if only levels that events named were compared.';
comment on column ecommerce_reconciliation.counts is 'Levels by result: {"compared", "drifted", "skipped", "added", "rising", "falling", "fallingToZero", "inStep", "held"}.';
comment on column ecommerce_reconciliation.digests is
  'Digests of both sides by location, before the correction: [{"locationId", "known", "observed"}]. Equal digests mean equal quantities.';
comment on column ecommerce_reconciliation.differences is 'The hundred largest differences to the desired quantity.';

create table ecommerce_drift (
  service_id integer not null,
  connection_id text collate "C" not null,
  reconciliation_id text collate "C" not null,
  item_id text collate "C" not null,
  location_id text collate "C" not null,
  known_on_hand integer,
  observed_on_hand integer,
  changed_by text,
  primary key (service_id, connection_id, reconciliation_id, item_id, location_id),
  foreign key (service_id, connection_id, reconciliation_id) references ecommerce_reconciliation on delete cascade
);
comment on table ecommerce_drift is 'Levels whose quantity on the platform was not the one that Tillbridge had set or read.';
comment on column ecommerce_drift.changed_by is 'The app or the staff member that made the change, as the platform names it. Null: not known.';

alter table sales_order add ecommerce_order_id text collate "C", add ecommerce_read_at timestamptz;
comment on column sales_order.ecommerce_order_id is 'The ID of the order on the e-commerce platform, whose committed units the stock push accounts for.';
comment on column sales_order.ecommerce_read_at is 'When the platform order was last read. An older read never replaces a newer one.';
create index sales_order_ecommerce on sales_order (service_id, ecommerce_order_id) where ecommerce_order_id is not null;

alter table sync_run
  drop constraint sync_run_origin_check,
  add check (origin in ('backOffice', 'ecommerce', 'file'));
