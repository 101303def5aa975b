-- What all migrations together come to, for reading; nothing runs this file. Written by `npm run docs`.

create table account (
  username text collate "C" not null,
  created_at timestamp with time zone not null default now(),
  PRIMARY KEY (username)
);

create table account_password (
  username text collate "C" not null,
  password_hash bytea not null,
  created_at timestamp with time zone not null default now(),
  PRIMARY KEY (username, password_hash),
  FOREIGN KEY (username) REFERENCES account(username) ON DELETE CASCADE
);

create table account_service (
  service_id integer not null,
  username text collate "C" not null,
  role text not null,
  PRIMARY KEY (service_id, username),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE,
  FOREIGN KEY (username) REFERENCES account(username) ON DELETE CASCADE,
  CHECK ((role = ANY (ARRAY['visitor'::text, 'maintainer'::text, 'admin'::text])))
);
CREATE INDEX account_service_username_idx ON account_service USING btree (username);

create table alert (
  service_id integer not null,
  kind text collate "C" not null,
  subject text collate "C" not null,
  detail text not null,
  times integer not null default 1,
  raised_at timestamp with time zone not null default now(),
  PRIMARY KEY (service_id, kind, subject),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE
);

create table audit (
  service_id integer not null,
  id text collate "C" not null default (gen_random_uuid())::text,
  changed_at timestamp with time zone not null,
  record text not null,
  PRIMARY KEY (service_id, id),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE
);
CREATE INDEX audit_changed ON audit USING btree (service_id, changed_at, id);

create table back_office (
  service_id integer not null,
  driver text collate "C" not null,
  url text,
  country text,
  username text,
  password bytea,
  ca text,
  time_zone text,
  release text,
  exports text,
  version uuid not null default gen_random_uuid(),
  every jsonb not null default '{}'::jsonb,
  gateways jsonb not null default '{}'::jsonb,
  exports_host_key text,
  exports_key text,
  exports_password bytea,
  PRIMARY KEY (service_id),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE,
  CHECK (((username IS NULL) = (password IS NULL)))
);

create table colour (
  service_id integer not null,
  product_id text collate "C" not null,
  colour_id text collate "C" not null,
  code text,
  name text,
  ecommerce_product_id text,
  markdown_status text not null default 'none'::text,
  PRIMARY KEY (service_id, product_id, colour_id),
  FOREIGN KEY (service_id, product_id) REFERENCES product(service_id, product_id) ON DELETE CASCADE
);

create table consent_change (
  service_id integer not null,
  customer_id text collate "C" not null,
  change bigint not null generated always as identity,
  channel text collate "C" not null,
  old_value boolean,
  new_value boolean not null,
  at timestamp with time zone not null default clock_timestamp(),
  username text not null,
  request_id text not null,
  PRIMARY KEY (service_id, customer_id, change),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE,
  CHECK ((channel = ANY (ARRAY['marketing'::text, 'email'::text, 'sms'::text]))),
  CHECK ((new_value IS DISTINCT FROM old_value))
);

create table customer (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamp with time zone not null,
  record text not null,
  ecommerce_ids text not null,
  code text,
  title text,
  firstname text,
  surname text,
  date_of_birth date,
  start_date timestamp without time zone,
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
  reference_values jsonb not null default '{}'::jsonb,
  loyalty_code text,
  loyalty_name text,
  joined_store_id text collate "C",
  ecommerce_admin_id text,
  ecommerce_legacy_id text,
  PRIMARY KEY (service_id, id),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE
);
CREATE INDEX customer_changed ON customer USING btree (service_id, changed_at, id);
CREATE UNIQUE INDEX customer_email ON customer USING btree (service_id, lower(NORMALIZE(email, NFC)));
CREATE INDEX customer_joined_store ON customer USING btree (service_id, joined_store_id);

create table failure (
  subject bytea not null,
  window_start timestamp with time zone not null,
  failures integer not null,
  PRIMARY KEY (subject, window_start)
);
CREATE INDEX failure_window_start_idx ON failure USING btree (window_start);

create table idempotent_answer (
  service_id integer not null,
  operation text collate "C" not null,
  key_hash bytea not null,
  request_hash bytea not null,
  answer bytea not null,
  created_at timestamp with time zone not null default now(),
  PRIMARY KEY (service_id, operation, key_hash),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE
);
CREATE INDEX idempotent_answer_created ON idempotent_answer USING btree (service_id, created_at);

create table job (
  service_id integer,
  name text collate "C" not null,
  subject text collate "C" not null default ''::text,
  due_at timestamp with time zone not null default now(),
  attempts integer not null default 0,
  lease uuid,
  leased_until timestamp with time zone,
  UNIQUE NULLS NOT DISTINCT (service_id, name, subject),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE
);
CREATE INDEX job_due ON job USING btree (name, due_at);
CREATE INDEX job_lease ON job USING btree (lease);

create table mail (
  service_id integer not null,
  mail_id text collate "C" not null,
  voucher_number text collate "C" not null,
  status text collate "C" not null default 'queued'::text,
  message_id text collate "C" not null,
  sealed bytea,
  attempts integer not null default 0,
  last_fault text,
  not_before timestamp with time zone not null,
  created_at timestamp with time zone not null default now(),
  sent_at timestamp with time zone,
  PRIMARY KEY (service_id, mail_id),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE,
  CHECK (((status <> 'sent'::text) OR ((sealed IS NULL) AND (sent_at IS NOT NULL)))),
  CHECK ((status = ANY (ARRAY['queued'::text, 'sent'::text, 'failed'::text])))
);
CREATE INDEX mail_status ON mail USING btree (service_id, status, created_at);
CREATE INDEX mail_voucher ON mail USING btree (service_id, voucher_number, created_at);

create table migration (
  number integer not null,
  name text not null,
  sha256 text not null,
  applied_at timestamp with time zone not null default now(),
  PRIMARY KEY (number)
);

create table order_counter (
  service_id integer not null,
  kind text collate "C" not null,
  last_number bigint not null,
  PRIMARY KEY (service_id, kind),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE,
  CHECK ((kind = ANY (ARRAY['order'::text, 'return'::text])))
);

create table order_line (
  service_id integer not null,
  order_id text collate "C" not null,
  sequence integer not null,
  status text collate "C" not null,
  sku_id text collate "C" not null,
  sku text collate "C" not null,
  product_code text not null,
  product_name text not null,
  colour_code text,
  colour_name text,
  size_code text not null,
  quantity integer not null,
  price numeric(16,4) not null,
  discounts json not null,
  value numeric(16,4) not null,
  store_id text collate "C",
  returned integer not null default 0,
  refunded numeric(16,4) not null default 0,
  PRIMARY KEY (service_id, order_id, sequence),
  FOREIGN KEY (service_id, order_id) REFERENCES sales_order(service_id, id) ON DELETE CASCADE,
  CHECK (
CASE status
    WHEN 'shipped'::text THEN (returned < quantity)
    WHEN 'returned'::text THEN (returned = quantity)
    ELSE (returned = 0)
END),
  CHECK (((refunded >= (0)::numeric) AND (refunded <= value))),
  CHECK (((returned >= 0) AND (returned <= quantity))),
  CHECK ((quantity > 0)),
  CHECK ((status = ANY (ARRAY['processing'::text, 'shipped'::text, 'cancelled'::text, 'returned'::text]))),
  CHECK ((value >= (0)::numeric))
);

create table order_payment (
  service_id integer not null,
  order_id text collate "C" not null,
  sequence integer not null,
  gateway text not null,
  amount numeric(16,4) not null,
  reference text,
  voucher_number text collate "C",
  PRIMARY KEY (service_id, order_id, sequence),
  FOREIGN KEY (service_id, order_id) REFERENCES sales_order(service_id, id) ON DELETE CASCADE,
  CHECK ((amount >= (0)::numeric))
);

create table payment_gateway (
  service_id integer not null,
  name text collate "C" not null,
  PRIMARY KEY (service_id, name),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE
);

create table pin_guard (
  service_id integer not null,
  subject bytea not null,
  failures integer not null,
  refused_until timestamp with time zone not null,
  PRIMARY KEY (service_id, subject),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE
);
CREATE INDEX pin_guard_refused_until ON pin_guard USING btree (service_id, refused_until);

create table product (
  service_id integer not null,
  product_id text collate "C" not null,
  changed_at timestamp with time zone not null,
  record text not null,
  product_code text collate "C" not null,
  name text not null,
  description text,
  size_range text,
  reference_values jsonb not null default '{}'::jsonb,
  PRIMARY KEY (service_id, product_id),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE
);
CREATE INDEX product_changed ON product USING btree (service_id, changed_at, product_id);
CREATE INDEX product_code ON product USING btree (service_id, product_code);

create table reference (
  service_id integer not null,
  type text collate "C" not null,
  reference_value_id text collate "C" not null,
  code text,
  name text not null,
  PRIMARY KEY (service_id, type, reference_value_id),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE
);

create table retail_transaction (
  service_id integer not null,
  id text collate "C" not null,
  customer_id text collate "C",
  sale_date timestamp without time zone not null,
  changed_at timestamp with time zone not null,
  record text not null,
  PRIMARY KEY (service_id, id),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE
);
CREATE INDEX retail_transaction_changed ON retail_transaction USING btree (service_id, changed_at, id);
CREATE INDEX retail_transaction_customer ON retail_transaction USING btree (service_id, customer_id, sale_date, id);
CREATE INDEX retail_transaction_sale_date ON retail_transaction USING btree (service_id, sale_date, id);

create table return_line (
  service_id integer not null,
  return_id text collate "C" not null,
  sequence integer not null,
  order_id text collate "C" not null,
  order_sequence integer not null,
  quantity integer not null,
  value numeric(16,4) not null,
  reason_code text not null,
  notes text,
  PRIMARY KEY (service_id, return_id, sequence),
  FOREIGN KEY (service_id, order_id, order_sequence) REFERENCES order_line(service_id, order_id, sequence) ON DELETE CASCADE,
  FOREIGN KEY (service_id, return_id) REFERENCES sales_return(service_id, id) ON DELETE CASCADE,
  CHECK ((quantity > 0)),
  CHECK ((value >= (0)::numeric))
);
CREATE INDEX return_line_order ON return_line USING btree (service_id, order_id, order_sequence);

create table reward_account (
  service_id integer not null,
  id text collate "C" not null,
  customer_id text collate "C" not null,
  program_id text collate "C" not null,
  tier_id text collate "C",
  tier_locked_until_date date,
  join_date date,
  qualifying_spend numeric(16,4) not null default 0,
  points_owed bigint not null default 0,
  PRIMARY KEY (service_id, id),
  UNIQUE (service_id, customer_id),
  FOREIGN KEY (service_id, customer_id) REFERENCES customer(service_id, id) ON DELETE CASCADE,
  FOREIGN KEY (service_id, program_id) REFERENCES reward_program(service_id, program_id) ON DELETE CASCADE,
  FOREIGN KEY (service_id, program_id, tier_id) REFERENCES reward_tier(service_id, program_id, tier_id),
  CHECK ((points_owed >= 0))
);

create table reward_entry (
  service_id integer not null,
  account_id text collate "C" not null,
  entry bigint not null generated always as identity,
  kind text collate "C" not null,
  lot_kind text collate "C",
  lot_id text collate "C",
  into_lot_id text collate "C",
  amount numeric(16,4) not null,
  spend numeric(16,4) not null default 0,
  order_number text collate "C" not null,
  return_number text collate "C",
  created_at timestamp with time zone not null default now(),
  PRIMARY KEY (service_id, account_id, entry),
  FOREIGN KEY (service_id, account_id) REFERENCES reward_account(service_id, id) ON DELETE CASCADE,
  FOREIGN KEY (service_id, account_id, lot_kind, lot_id) REFERENCES reward_lot(service_id, account_id, kind, lot_id) ON DELETE CASCADE,
  CHECK (((lot_kind IS NULL) = (lot_id IS NULL))),
  CHECK ((kind = ANY (ARRAY['earn'::text, 'settle'::text, 'convert'::text, 'reward'::text, 'return'::text, 'reverse'::text, 'restore'::text, 'owe'::text, 'cancel'::text])))
);
CREATE INDEX reward_entry_into ON reward_entry USING btree (service_id, account_id, into_lot_id) WHERE (into_lot_id IS NOT NULL);
CREATE INDEX reward_entry_lot ON reward_entry USING btree (service_id, account_id, lot_kind, lot_id);
CREATE INDEX reward_entry_order ON reward_entry USING btree (service_id, account_id, order_number);

create table reward_gift (
  service_id integer not null,
  program_id text collate "C" not null,
  gift_id text collate "C" not null,
  name text not null,
  styles text[] not null default '{}'::text[],
  PRIMARY KEY (service_id, program_id, gift_id),
  FOREIGN KEY (service_id, program_id) REFERENCES reward_program(service_id, program_id) ON DELETE CASCADE
);

create table reward_lot (
  service_id integer not null,
  account_id text collate "C" not null,
  kind text collate "C" not null,
  lot_id text collate "C" not null,
  created_at timestamp without time zone not null,
  description text,
  total numeric(16,4) not null,
  redeemed numeric(16,4) not null default 0,
  pending numeric(16,4) not null default 0,
  gift_id text collate "C",
  expiry_date date,
  taken numeric(16,4) not null default 0,
  PRIMARY KEY (service_id, account_id, kind, lot_id),
  FOREIGN KEY (service_id, account_id) REFERENCES reward_account(service_id, id) ON DELETE CASCADE,
  CHECK ((((redeemed + taken) + pending) <= total)),
  CHECK ((kind = ANY (ARRAY['points'::text, 'reward'::text, 'gift'::text]))),
  CHECK ((pending >= (0)::numeric)),
  CHECK ((redeemed >= (0)::numeric)),
  CHECK ((taken >= (0)::numeric)),
  CHECK ((total >= (0)::numeric))
);

create table reward_program (
  service_id integer not null,
  program_id text collate "C" not null,
  name text not null,
  description text,
  PRIMARY KEY (service_id, program_id),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE
);

create table reward_tier (
  service_id integer not null,
  program_id text collate "C" not null,
  tier_id text collate "C" not null,
  name text not null,
  sequence integer not null,
  accrual_spend numeric(16,4),
  accrual_points integer,
  auto_reward_point_threshold integer,
  auto_reward_value numeric(16,4),
  qualify_spend numeric(16,4),
  qualify_months integer,
  qualify_days integer,
  points_expiry_months integer,
  points_expiry_days integer,
  reward_expiry_months integer,
  reward_expiry_days integer,
  PRIMARY KEY (service_id, program_id, tier_id),
  FOREIGN KEY (service_id, program_id) REFERENCES reward_program(service_id, program_id) ON DELETE CASCADE
);

create table sales_order (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamp with time zone not null,
  placed_at timestamp with time zone not null,
  order_number text collate "C" not null,
  customer_id text collate "C" not null,
  pickup_store_number text collate "C",
  billing_address json not null,
  delivery_address json not null,
  currency text not null,
  decimals integer not null,
  freight numeric(16,4) not null,
  total numeric(16,4) not null,
  PRIMARY KEY (service_id, id),
  UNIQUE (service_id, order_number),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE,
  FOREIGN KEY (service_id, customer_id) REFERENCES customer(service_id, id),
  CHECK ((freight >= (0)::numeric)),
  CHECK ((total >= freight))
);
CREATE INDEX sales_order_changed ON sales_order USING btree (service_id, changed_at);
CREATE INDEX sales_order_customer ON sales_order USING btree (service_id, customer_id, placed_at, id);

create table sales_return (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  order_id text collate "C" not null,
  return_number text collate "C" not null,
  authorisation_number text collate "C" not null,
  status text collate "C" not null,
  restock boolean not null,
  PRIMARY KEY (service_id, id),
  UNIQUE (service_id, return_number),
  FOREIGN KEY (service_id, order_id) REFERENCES sales_order(service_id, id) ON DELETE CASCADE,
  CHECK ((status = ANY (ARRAY['requested'::text, 'received'::text, 'refunded'::text, 'cancelled'::text])))
);
CREATE INDEX sales_return_changed ON sales_return USING btree (service_id, changed_at);
CREATE INDEX sales_return_order ON sales_return USING btree (service_id, order_id, created_at, id);

create table service (
  service_id integer not null generated always as identity,
  name text not null,
  settings jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null default now(),
  PRIMARY KEY (service_id),
  UNIQUE (name)
);

create table staff (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamp with time zone not null,
  record text not null,
  code text collate "C" not null,
  firstname text,
  surname text not null,
  email text,
  store_number text collate "C",
  active boolean not null default true,
  PRIMARY KEY (service_id, id),
  UNIQUE (service_id, code),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE
);
CREATE INDEX staff_changed ON staff USING btree (service_id, changed_at, id);
CREATE INDEX staff_email ON staff USING btree (service_id, lower(email));

create table stock (
  service_id integer not null,
  store_id text collate "C" not null,
  sku_id text collate "C" not null,
  changed_at timestamp with time zone not null,
  record text not null,
  free_stock integer not null,
  buffer integer,
  id text collate "C" not null generated always as (((store_id || ' '::text) || sku_id)) stored,
  PRIMARY KEY (service_id, store_id, sku_id),
  FOREIGN KEY (service_id, sku_id) REFERENCES variant(service_id, sku_id) ON DELETE CASCADE,
  FOREIGN KEY (service_id, store_id) REFERENCES store(service_id, store_id) ON DELETE CASCADE
);
CREATE INDEX stock_changed ON stock USING btree (service_id, changed_at, id);
CREATE INDEX stock_sku ON stock USING btree (service_id, sku_id, id);
CREATE INDEX stock_store ON stock USING btree (service_id, store_id, changed_at, id);

create table store (
  service_id integer not null,
  store_id text collate "C" not null,
  changed_at timestamp with time zone not null,
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
  PRIMARY KEY (service_id, store_id),
  UNIQUE (service_id, store_number),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE
);
CREATE INDEX store_changed ON store USING btree (service_id, changed_at, store_id);

create table sync_seen (
  service_id integer not null,
  feed text collate "C" not null,
  list text collate "C" not null,
  id text collate "C" not null,
  PRIMARY KEY (service_id, feed, list, id),
  FOREIGN KEY (service_id, feed) REFERENCES sync_state(service_id, feed) ON DELETE CASCADE
);

create table sync_source (
  service_id integer not null,
  source text collate "C" not null,
  PRIMARY KEY (service_id),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE
);

create table sync_state (
  service_id integer not null,
  feed text collate "C" not null,
  since text,
  run uuid,
  beat_at timestamp with time zone,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  full_at timestamp with time zone,
  read bigint not null default 0,
  inserted bigint not null default 0,
  changed bigint not null default 0,
  removed bigint not null default 0,
  refused bigint not null default 0,
  notes jsonb not null default '{}'::jsonb,
  fault text,
  failed_at timestamp with time zone,
  PRIMARY KEY (service_id, feed),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE
);

create table sync_visit (
  service_id integer not null,
  feed text collate "C" not null,
  id text collate "C" not null,
  stamp text not null,
  due boolean not null default true,
  visited_at timestamp with time zone,
  PRIMARY KEY (service_id, feed, id),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE
);
CREATE INDEX sync_visit_due ON sync_visit USING btree (service_id, feed, id) WHERE due;
CREATE INDEX sync_visit_visited ON sync_visit USING btree (service_id, feed, visited_at, id) WHERE (NOT due);

create table upstream_voucher (
  service_id integer not null,
  number text collate "C" not null,
  currency text not null,
  original_amount numeric(16,4) not null,
  used_amount numeric(16,4) not null,
  available_amount numeric(16,4) not null,
  expiry_date date,
  validation_hash bytea,
  upstream_validation bytea,
  validated_until timestamp with time zone,
  superseded_hashes bytea[] not null default '{}'::bytea[],
  locked_until timestamp with time zone,
  held_by text,
  PRIMARY KEY (service_id, number),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE,
  CHECK ((((validation_hash IS NULL) = (validated_until IS NULL)) AND ((validation_hash IS NULL) = (upstream_validation IS NULL)))),
  CHECK (((locked_until IS NULL) = (held_by IS NULL)))
);
CREATE INDEX upstream_voucher_held ON upstream_voucher USING btree (service_id, held_by, locked_until) WHERE (held_by IS NOT NULL);

create table upstream_voucher_sale (
  service_id integer not null,
  order_number text collate "C" not null,
  order_id text collate "C",
  customer_id text collate "C",
  gateway text not null,
  amount numeric(16,4) not null,
  currency text not null,
  created_at timestamp with time zone not null default now(),
  PRIMARY KEY (service_id, order_number),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE
);

create table variant (
  service_id integer not null,
  sku_id text collate "C" not null,
  product_id text collate "C" not null,
  colour_id text collate "C" not null,
  sku text collate "C" not null,
  size_code text not null,
  sequence integer,
  original_price numeric(16,4) not null,
  price numeric(16,4) not null,
  barcode text,
  PRIMARY KEY (service_id, sku_id),
  UNIQUE (service_id, sku),
  FOREIGN KEY (service_id, product_id, colour_id) REFERENCES colour(service_id, product_id, colour_id) ON DELETE CASCADE
);
CREATE INDEX variant_product ON variant USING btree (service_id, product_id, colour_id);

create table voucher (
  service_id integer not null,
  number text collate "C" not null,
  pin_hash bytea,
  state text collate "C" not null,
  currency text not null,
  original_amount numeric(16,4) not null,
  balance numeric(16,4) not null,
  expiry_date date,
  locked_until timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  validation_hash bytea,
  validated_until timestamp with time zone,
  superseded_hashes bytea[] not null default '{}'::bytea[],
  held_by text,
  PRIMARY KEY (service_id, number),
  FOREIGN KEY (service_id) REFERENCES service(service_id) ON DELETE CASCADE,
  CHECK (((validation_hash IS NULL) = (validated_until IS NULL))),
  CHECK ((balance <= original_amount)),
  CHECK ((balance >= (0)::numeric)),
  CHECK ((original_amount > (0)::numeric)),
  CHECK ((state = ANY (ARRAY['pending'::text, 'active'::text, 'locked'::text, 'redeemed'::text, 'expired'::text, 'suspended'::text])))
);
CREATE INDEX voucher_expiring ON voucher USING btree (service_id, expiry_date) WHERE (state = ANY (ARRAY['active'::text, 'locked'::text]));
CREATE INDEX voucher_held ON voucher USING btree (service_id, held_by, locked_until) WHERE (state = 'locked'::text);

create table voucher_entry (
  service_id integer not null,
  number text collate "C" not null,
  entry integer not null,
  kind text collate "C" not null,
  amount numeric(16,4) not null,
  order_number text,
  created_at timestamp with time zone not null default clock_timestamp(),
  state text collate "C" not null,
  locked_until timestamp with time zone,
  held_by text,
  PRIMARY KEY (service_id, number, entry),
  FOREIGN KEY (service_id, number) REFERENCES voucher(service_id, number) ON DELETE CASCADE,
  CHECK (
CASE kind
    WHEN 'issue'::text THEN (amount > (0)::numeric)
    WHEN 'refund'::text THEN (amount > (0)::numeric)
    WHEN 'redeem'::text THEN (amount < (0)::numeric)
    ELSE (amount = (0)::numeric)
END),
  CHECK (((state = 'locked'::text) = (locked_until IS NOT NULL))),
  CHECK ((kind = ANY (ARRAY['issue'::text, 'activate'::text, 'lock'::text, 'unlock'::text, 'redeem'::text, 'refund'::text, 'expire'::text, 'suspend'::text, 'resume'::text]))),
  CHECK ((state = ANY (ARRAY['pending'::text, 'active'::text, 'locked'::text, 'redeemed'::text, 'expired'::text, 'suspended'::text])))
);

create table voucher_sale (
  service_id integer not null,
  number text collate "C" not null,
  gateway text not null,
  order_number text collate "C",
  sender_name text not null,
  receiver_name text not null,
  receiver_email text not null,
  mobile text,
  delivery_date date,
  billing_address jsonb not null,
  created_at timestamp with time zone not null default now(),
  PRIMARY KEY (service_id, number),
  UNIQUE (service_id, order_number),
  FOREIGN KEY (service_id, number) REFERENCES voucher(service_id, number) ON DELETE CASCADE
);

CREATE OR REPLACE FUNCTION apply_reward_entry()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.lot_id is not null then
    update reward_lot set total = total + greatest(new.amount, 0), taken = taken - least(new.amount, 0)
     where service_id = new.service_id and account_id = new.account_id and kind = new.lot_kind and lot_id = new.lot_id;
  end if;
  if new.kind in ('owe', 'settle') then
    update reward_account set points_owed = points_owed + case new.kind when 'owe' then -new.amount else new.amount end
     where service_id = new.service_id and id = new.account_id;
  end if;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION apply_voucher_entry()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update voucher
     set balance = balance + new.amount, state = new.state, locked_until = new.locked_until, held_by = new.held_by
   where service_id = new.service_id and number = new.number;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION begin_change(tenant integer, newest timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
AS $function$
declare
  began timestamptz := clock_timestamp();
begin
  perform pg_advisory_xact_lock_shared((tenant % 32768)::bigint << 48 | floor(extract(epoch from began) * 1000)::bigint);
  return greatest(clock_timestamp(), began, newest + interval '1 microsecond');
end $function$
;

CREATE OR REPLACE FUNCTION list_horizon(tenant integer)
 RETURNS timestamp with time zone
 LANGUAGE sql
AS $function$
  select least(statement_timestamp(), min(to_timestamp((((classid::bigint << 32) | objid::bigint) & ((1::bigint << 48) - 1)) / 1000.0)))
         - interval '1 microsecond'
    from pg_locks
   where locktype = 'advisory' and objsubid = 1 and classid::bigint >> 16 = tenant % 32768
     and database = (select oid from pg_database where datname = current_database())
$function$
;

CREATE OR REPLACE FUNCTION refuse_consent_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' and not exists (select from service where service_id = old.service_id) then
    return old;
  end if;
  raise exception 'the consent record is append-only';
end $function$
;

CREATE OR REPLACE FUNCTION refuse_reward_entry_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'the reward ledger is append-only';
end $function$
;

CREATE OR REPLACE FUNCTION refuse_voucher_entry_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'the voucher ledger is append-only';
end $function$
;

CREATE OR REPLACE FUNCTION refuse_voucher_entry_delete()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select from voucher where service_id = old.service_id and number = old.number) then
    raise exception 'the voucher ledger is append-only';
  end if;
  return old;
end $function$
;

CREATE OR REPLACE FUNCTION rendered_references(tenant integer, reference_values jsonb)
 RETURNS json
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce('{' || string_agg(to_json(v.key)::text || ':' || row_to_json(said)::text, ',' order by v.key) || '}', '{}')::json
    from jsonb_each_text(reference_values) v
    left join reference r on r.service_id = tenant and r.type = v.key and r.reference_value_id = v.value
    cross join lateral (select r.code, r.name, v.value as "referenceValueId") said
$function$
;

CREATE TRIGGER consent_change_append_only BEFORE DELETE OR UPDATE ON consent_change FOR EACH ROW EXECUTE FUNCTION refuse_consent_change();

CREATE TRIGGER reward_entry_append_only BEFORE UPDATE ON reward_entry FOR EACH ROW EXECUTE FUNCTION refuse_reward_entry_change();

CREATE TRIGGER reward_entry_applied AFTER INSERT ON reward_entry FOR EACH ROW EXECUTE FUNCTION apply_reward_entry();

CREATE TRIGGER voucher_entry_append_only BEFORE UPDATE ON voucher_entry FOR EACH ROW EXECUTE FUNCTION refuse_voucher_entry_change();

CREATE TRIGGER voucher_entry_applied AFTER INSERT ON voucher_entry FOR EACH ROW EXECUTE FUNCTION apply_voucher_entry();

CREATE TRIGGER voucher_entry_kept BEFORE DELETE ON voucher_entry FOR EACH ROW EXECUTE FUNCTION refuse_voucher_entry_delete();
