-- E-commerce connections: the live platform of a service, with its rate-limit budget, and the platform's own fields of its items.

create table ecommerce_connection (
  service_id integer not null references service on delete cascade,
  connection_id text collate "C" not null,
  driver text collate "C" not null check (driver in ('shopify')),
  url text not null,
  client_id text not null,
  encrypted_secret bytea not null,
  encrypted_token bytea,
  token_expires_at timestamptz,
  token_renewed_by timestamptz,
  api_version text collate "C" not null,
  settings jsonb not null default '{}',
  primary key (service_id, connection_id),
  check ((encrypted_token is null) = (token_expires_at is null))
);
comment on table ecommerce_connection is
  'The connection of a service to its live e-commerce platform (`tillbridge ecommerce set`). A service without one uses imported files.';
comment on column ecommerce_connection.connection_id is 'One connection for each service at present: main.';
comment on column ecommerce_connection.encrypted_secret is 'The client secret, encrypted for this service.';
comment on column ecommerce_connection.encrypted_token is 'The access token, encrypted for this service. Null: none was requested yet.';
comment on column ecommerce_connection.token_expires_at is 'When a new token is requested, a little before the token expires.';
comment on column ecommerce_connection.token_renewed_by is
  'A lease: until then, one process requests a new token and the others wait for it. No lock is held during the request.';
comment on column ecommerce_connection.settings is 'Optional settings: {"autoMapping": "exact", "intervals": {"ecommerce-variants": 300}}.';

create table ecommerce_budget (
  service_id integer not null,
  connection_id text collate "C" not null,
  capacity double precision not null,
  restore_per_second double precision not null,
  orders_points double precision not null,
  stock_points double precision not null,
  background_points double precision not null,
  measured_at timestamptz not null,
  primary key (service_id, connection_id),
  foreign key (service_id, connection_id) references ecommerce_connection on delete cascade
);
comment on table ecommerce_budget is
  'The points of the platform''s rate limit, shared by all processes: a token bucket with three priority classes. Orders have 40 %, stock '
  'has 45 % and background work has 15 % of the capacity and of the restored points. Points that a full class can''t take flow to the others.';
comment on column ecommerce_budget.measured_at is 'When the points were last restored.';

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

alter table sync_run
  drop constraint sync_run_origin_check,
  add check (origin in ('backOffice', 'ecommerce', 'file'));
