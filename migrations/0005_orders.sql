-- Orders and their returns (contract 6): what was sold, for how much, and how much of it came back. That no line is ever returned
-- beyond what was sold, nor refunded beyond what was paid, are constraints. Records are rendered as they are read.

-- The last number that was made: W0000001 for an order, R0000001 for a return.
create table order_counter (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null check (kind in ('order', 'return')),
  last_number bigint not null,
  primary key (service_id, kind)
);

create table sales_order (
  service_id integer not null references service on delete cascade,
  id text collate "C" not null,
  changed_at timestamptz not null,
  placed_at timestamptz not null,
  order_number text collate "C" not null,
  customer_id text collate "C" not null,
  pickup_store_number text collate "C",
  billing_address json not null,
  delivery_address json not null,
  -- An order keeps its currency, whatever the service is set to later.
  currency text not null,
  decimals integer not null,
  freight numeric(16, 4) not null check (freight >= 0),
  total numeric(16, 4) not null check (total >= freight),
  primary key (service_id, id),
  unique (service_id, order_number),
  foreign key (service_id, customer_id) references customer
);
create index sales_order_customer on sales_order (service_id, customer_id, placed_at, id);
create index sales_order_changed on sales_order (service_id, changed_at);

create table order_line (
  service_id integer not null,
  order_id text collate "C" not null,
  sequence integer not null,
  status text collate "C" not null check (status in ('processing', 'shipped', 'cancelled', 'returned')),
  sku_id text collate "C" not null,
  sku text collate "C" not null,
  -- As they were when it was sold.
  product_code text not null,
  product_name text not null,
  colour_code text,
  colour_name text,
  size_code text not null,
  quantity integer not null check (quantity > 0),
  price numeric(16, 4) not null,
  discounts json not null,
  value numeric(16, 4) not null check (value >= 0),
  -- The store whose stock it came from; null where none keeps the SKU.
  store_id text collate "C",
  returned integer not null default 0,
  refunded numeric(16, 4) not null default 0,
  primary key (service_id, order_id, sequence),
  foreign key (service_id, order_id) references sales_order on delete cascade,
  constraint order_line_returned check (returned between 0 and quantity),
  constraint order_line_refunded check (refunded between 0 and value),
  constraint order_line_sold check (case status when 'shipped' then returned < quantity when 'returned' then returned = quantity else returned = 0 end)
);

create table order_payment (
  service_id integer not null,
  order_id text collate "C" not null,
  sequence integer not null,
  gateway text not null,
  amount numeric(16, 4) not null check (amount >= 0),
  reference text,
  voucher_number text collate "C",
  primary key (service_id, order_id, sequence),
  foreign key (service_id, order_id) references sales_order on delete cascade
);

create table sales_return (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamptz not null,
  created_at timestamptz not null,
  order_id text collate "C" not null,
  return_number text collate "C" not null,
  authorisation_number text collate "C" not null,
  status text collate "C" not null check (status in ('requested', 'received', 'refunded', 'cancelled')),
  restock boolean not null,
  primary key (service_id, id),
  unique (service_id, return_number),
  foreign key (service_id, order_id) references sales_order on delete cascade
);
create index sales_return_order on sales_return (service_id, order_id, created_at, id);
create index sales_return_changed on sales_return (service_id, changed_at);

create table return_line (
  service_id integer not null,
  return_id text collate "C" not null,
  sequence integer not null,
  order_id text collate "C" not null,
  order_sequence integer not null,
  quantity integer not null check (quantity > 0),
  value numeric(16, 4) not null check (value >= 0),
  reason_code text not null,
  notes text,
  primary key (service_id, return_id, sequence),
  foreign key (service_id, return_id) references sales_return on delete cascade,
  foreign key (service_id, order_id, order_sequence) references order_line on delete cascade
);
create index return_line_order on return_line (service_id, order_id, order_sequence);
