-- The read model. Every tenant table's keys begin with service_id, so that tables distribute by tenant as they are.
-- `record` is the JSON text that lists answer with; it is made by the statement that changes the row, and stands near the row's
-- beginning, so that a list reads no further.
-- Identifiers sort by code point ("C"), so that a page's order never depends on a machine's locale.

create table service (
  service_id integer generated always as identity primary key,
  name text not null unique,
  settings jsonb not null default '{}',
  created_at timestamptz not null default now()
);

-- Accounts belong to the installation; what ties one to a service is its assignment, with a role.
create table account (
  username text collate "C" primary key,
  created_at timestamptz not null default now()
);

create table account_password (
  username text collate "C" not null references account on delete cascade,
  password_hash bytea not null,
  created_at timestamptz not null default now(),
  primary key (username, password_hash)
);

create table account_service (
  service_id integer not null references service on delete cascade,
  username text collate "C" not null references account on delete cascade,
  role text not null check (role in ('visitor', 'maintainer', 'admin')),
  primary key (service_id, username)
);
create index on account_service (username);

-- Wrong secrets, counted for all processes. `subject` is a keyed hash: neither a name nor an address is kept.
create table failure (
  subject bytea not null,
  window_start timestamptz not null,
  failures integer not null,
  primary key (subject, window_start)
);
create index on failure (window_start);

create table store (
  service_id integer not null references service on delete cascade,
  store_id text collate "C" not null,
  changed_at timestamptz not null,
  record text not null,
  store_number text collate "C" not null,
  code text,
  name text not null,
  email text,
  address_line1 text,
  address_line2 text,
  city text,
  state text,
  postcode text,
  country text,
  inventory_buffer integer,
  ecommerce_location_id text,
  primary key (service_id, store_id),
  unique (service_id, store_number)
);
create index store_changed on store (service_id, changed_at, store_id);

create table staff (
  service_id integer not null references service on delete cascade,
  id text collate "C" not null,
  changed_at timestamptz not null,
  record text not null,
  code text collate "C" not null,
  firstname text,
  surname text not null,
  email text,
  store_number text collate "C",
  active boolean not null default true,
  primary key (service_id, id),
  unique (service_id, code)
);
create index staff_changed on staff (service_id, changed_at, id);
create index staff_email on staff (service_id, lower(email));

-- The reference cache: what a reference of a customer or a product actually says.
create table reference (
  service_id integer not null references service on delete cascade,
  type text collate "C" not null,
  reference_value_id text collate "C" not null,
  code text,
  name text not null,
  primary key (service_id, type, reference_value_id)
);

create table product (
  service_id integer not null references service on delete cascade,
  product_id text collate "C" not null,
  changed_at timestamptz not null,
  record text not null,
  product_code text collate "C" not null,
  name text not null,
  description text,
  size_range text,
  reference_values jsonb not null default '{}',
  primary key (service_id, product_id)
);
create index product_changed on product (service_id, changed_at, product_id);
create index product_code on product (service_id, product_code);

create table colour (
  service_id integer not null,
  product_id text collate "C" not null,
  colour_id text collate "C" not null,
  code text,
  name text,
  ecommerce_product_id text,
  markdown_status text not null default 'none',
  primary key (service_id, product_id, colour_id),
  foreign key (service_id, product_id) references product on delete cascade
);

create table variant (
  service_id integer not null,
  sku_id text collate "C" not null,
  product_id text collate "C" not null,
  colour_id text collate "C" not null,
  sku text collate "C" not null,
  size_code text not null,
  sequence integer,
  original_price numeric(16, 4) not null,
  price numeric(16, 4) not null,
  barcode text,
  primary key (service_id, sku_id),
  unique (service_id, sku),
  foreign key (service_id, product_id, colour_id) references colour on delete cascade
);
create index variant_product on variant (service_id, product_id, colour_id);

create table stock (
  service_id integer not null,
  store_id text collate "C" not null,
  sku_id text collate "C" not null,
  changed_at timestamptz not null,
  record text not null,
  free_stock integer not null,
  buffer integer,
  -- Where the record stands in its list; the pair (store, SKU) as one value.
  id text collate "C" not null generated always as (store_id || ' ' || sku_id) stored,
  primary key (service_id, store_id, sku_id),
  foreign key (service_id, store_id) references store on delete cascade,
  foreign key (service_id, sku_id) references variant on delete cascade
);
create index stock_changed on stock (service_id, changed_at, id);
create index stock_sku on stock (service_id, sku_id, id);
create index stock_store on stock (service_id, store_id, changed_at, id);

create table customer (
  service_id integer not null references service on delete cascade,
  id text collate "C" not null,
  changed_at timestamptz not null,
  -- The record but for the e-commerce identifiers and the closing brace: one of the lists must leave them out.
  record text not null,
  ecommerce_ids text not null,
  code text,
  title text,
  firstname text,
  surname text,
  date_of_birth date,
  start_date timestamp,
  email text,
  phone_home text,
  phone_mobile text,
  phone_work text,
  address_line1 text,
  address_line2 text,
  city text,
  state text,
  postcode text,
  country text,
  privacy boolean not null default true,
  email_subscription boolean not null default false,
  sms_subscription boolean not null default false,
  reference_values jsonb not null default '{}',
  loyalty_code text,
  loyalty_name text,
  joined_store_id text collate "C",
  ecommerce_admin_id text,
  ecommerce_legacy_id text,
  primary key (service_id, id)
);
create index customer_changed on customer (service_id, changed_at, id);
create unique index customer_email on customer (service_id, lower(email));
create index customer_joined_store on customer (service_id, joined_store_id);

create table retail_transaction (
  service_id integer not null references service on delete cascade,
  id text collate "C" not null,
  customer_id text collate "C",
  sale_date timestamp not null,
  changed_at timestamptz not null,
  record text not null,
  primary key (service_id, id)
);
create index retail_transaction_sale_date on retail_transaction (service_id, sale_date, id);
create index retail_transaction_customer on retail_transaction (service_id, customer_id, sale_date, id);
create index retail_transaction_changed on retail_transaction (service_id, changed_at, id);

create table reward_program (
  service_id integer not null references service on delete cascade,
  program_id text collate "C" not null,
  name text not null,
  description text,
  primary key (service_id, program_id)
);

create table reward_tier (
  service_id integer not null,
  program_id text collate "C" not null,
  tier_id text collate "C" not null,
  name text not null,
  sequence integer not null,
  accrual_spend numeric(16, 4),
  accrual_points integer,
  auto_reward_point_threshold integer,
  auto_reward_value numeric(16, 4),
  qualify_spend numeric(16, 4),
  qualify_months integer,
  qualify_days integer,
  points_expiry_months integer,
  points_expiry_days integer,
  reward_expiry_months integer,
  reward_expiry_days integer,
  primary key (service_id, program_id, tier_id),
  foreign key (service_id, program_id) references reward_program on delete cascade
);

create table reward_gift (
  service_id integer not null,
  program_id text collate "C" not null,
  gift_id text collate "C" not null,
  name text not null,
  styles text[] not null default '{}',
  primary key (service_id, program_id, gift_id),
  foreign key (service_id, program_id) references reward_program on delete cascade
);

create table reward_account (
  service_id integer not null,
  id text collate "C" not null,
  customer_id text collate "C" not null,
  program_id text collate "C" not null,
  tier_id text collate "C",
  tier_locked_until_date date,
  join_date date,
  -- What the customer has spent towards the next tier.
  qualifying_spend numeric(16, 4) not null default 0,
  primary key (service_id, id),
  unique (service_id, customer_id),
  foreign key (service_id, program_id) references reward_program on delete cascade,
  foreign key (service_id, program_id, tier_id) references reward_tier,
  foreign key (service_id, customer_id) references customer on delete cascade
);

-- Points, rewards and gifts are held in lots, each with an expiry: a balance is always the sum of the open ones.
create table reward_lot (
  service_id integer not null,
  account_id text collate "C" not null,
  kind text collate "C" not null check (kind in ('points', 'reward', 'gift')),
  lot_id text collate "C" not null,
  created_at timestamp not null,
  description text,
  total numeric(16, 4) not null check (total >= 0),
  redeemed numeric(16, 4) not null default 0 check (redeemed >= 0),
  pending numeric(16, 4) not null default 0 check (pending >= 0),
  gift_id text collate "C",
  expiry_date date,
  check (redeemed + pending <= total),
  primary key (service_id, account_id, kind, lot_id),
  foreign key (service_id, account_id) references reward_account on delete cascade
);

create table payment_gateway (
  service_id integer not null references service on delete cascade,
  name text collate "C" not null,
  primary key (service_id, name)
);

-- What references say, as a JSON object by type; a value that the cache does not know stands with its identifier.
create function rendered_references(tenant integer, reference_values jsonb) returns json
language sql stable as $$
  select coalesce('{' || string_agg(to_json(v.key)::text || ':' || row_to_json(said)::text, ',' order by v.key) || '}', '{}')::json
    from jsonb_each_text(reference_values) v
    left join reference r on r.service_id = tenant and r.type = v.key and r.reference_value_id = v.value
    cross join lateral (select r.code, r.name, v.value as "referenceValueId") said
$$;

-- A transaction that will change listed records calls this first, and stamps what it changes with the answer.
-- It announces itself by a lock whose key holds the moment it began, in milliseconds; the lock goes with the transaction,
-- however that ends. A reader lists nothing from the oldest announced moment on (`list_horizon`), so a change that commits
-- late is never behind a moment that some client was told its list is complete up to.
-- The stamp is later than the list's newest change, whatever the machine's clock says.
create function begin_change(tenant integer, newest timestamptz) returns timestamptz
language plpgsql volatile as $$
declare
  began timestamptz := clock_timestamp();
begin
  perform pg_advisory_xact_lock_shared((tenant % 32768)::bigint << 48 | floor(extract(epoch from began) * 1000)::bigint);
  return greatest(clock_timestamp(), began, newest + interval '1 microsecond');
end $$;

-- The moment before which no transaction in progress can still commit a change of this tenant's lists.
-- statement_timestamp() is read before pg_locks is; a page must be read by a later statement.
create function list_horizon(tenant integer) returns timestamptz
language sql volatile as $$
  select least(statement_timestamp(), min(to_timestamp((((classid::bigint << 32) | objid::bigint) & ((1::bigint << 48) - 1)) / 1000.0)))
         - interval '1 microsecond'
    from pg_locks
   where locktype = 'advisory' and objsubid = 1 and classid::bigint >> 16 = tenant % 32768
     and database = (select oid from pg_database where datname = current_database())
$$;
