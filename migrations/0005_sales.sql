-- Sales: what was sold in stores and on the web, the orders that are placed here, and what of them comes back.
--
-- Orders and returns have no stored record: they are rendered when they are read, also in the feed of changes, which follows `changed_at`.

create table payment_gateway (
  service_id integer not null references service on delete cascade,
  name text collate "C" not null,
  primary key (service_id, name)
);
comment on table payment_gateway is 'What an order or a voucher can be paid with: the setting `gateways`.';

create table retail_transaction (
  service_id integer not null,
  id text collate "C" not null,
  customer_id text collate "C",
  sale_date timestamp not null,
  changed_at timestamptz not null,
  record text not null,
  primary key (service_id, id)
);
create index retail_transaction_sale_date on retail_transaction (service_id, sale_date, id) include (changed_at);
create index retail_transaction_customer on retail_transaction (service_id, customer_id, sale_date, id);
create index retail_transaction_changed on retail_transaction (service_id, changed_at, id) include (sale_date);
comment on table retail_transaction is
  'Sales and returns of stores and of the web, as a customer''s history and GET /orders/transactions/search show them. They come in by '
  'feeds; with the embedded back office also when an order is shipped, or something of it comes back. They are documents: each keeps '
  'the names of its day.';
comment on column retail_transaction.customer_id is 'Null where nobody knows who bought, or they were erased.';
comment on column retail_transaction.changed_at is 'The stamp.';
comment on column retail_transaction.record is 'All there is of it: its lines have no table, and are merged in here.';

create table order_counter (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null check (kind in ('order', 'return')),
  stream integer not null,
  last_number bigint not null,
  primary key (service_id, kind, stream)
);
comment on table order_counter is
  'The last numbers that were made here: W0000001 for an order, R0000001 for a return. Those that callers have given are passed over. '
  'There are several streams, each of every 32nd number, so that nobody waits for the commit of somebody else''s order.';

create table sales_order (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamptz not null,
  placed_at timestamptz not null,
  order_number text collate "C" not null,
  customer_id text collate "C",
  pickup_store_number text collate "C",
  billing_address json not null,
  delivery_address json not null,
  currency text not null,
  decimals integer not null,
  freight numeric(16, 4) not null check (freight >= 0),
  total numeric(16, 4) not null check (total >= freight),
  imported_at timestamptz,
  import_digest bytea,
  primary key (service_id, id),
  unique (service_id, order_number),
  constraint sales_order_imported check ((imported_at is null) = (import_digest is null))
);
create index sales_order_customer on sales_order (service_id, customer_id, placed_at, id);
create index sales_order_changed on sales_order (service_id, changed_at, id);
create index sales_order_placed on sales_order (service_id, placed_at) include (currency, total);
comment on table sales_order is
  'Orders, as GET /orders/:id shows them: those that are placed here, those of an earlier system that were imported, and others of a '
  'back office behind us that something is returned of.';
comment on column sales_order.changed_at is 'The stamp.';
comment on column sales_order.pickup_store_number is 'The store where the shopper collects the goods.';
comment on column sales_order.billing_address is 'Addresses are json, not jsonb: the record shows their fields in the order in which they stand.';
comment on column sales_order.currency is 'As it was set when the order was placed.';
comment on column sales_order.decimals is 'Of the currency: amounts are shown with so many.';
comment on column sales_order.total is 'The values of the lines, and the freight.';
comment on column sales_order.imported_at is
  'What `changed_at` was made by an import: where that has moved since, something has happened to the order here. Null: it was not imported.';
comment on column sales_order.import_digest is 'Of what the import said: who says it again changes nothing.';
comment on column sales_order.customer_id is 'A customer when it was placed, who may have left the list since: no foreign key. Null: erased, and the addresses say nothing.';
comment on index sales_order_changed is 'For who follows changes; and the orders of which a pull asks whether they were shipped.';

create table order_line (
  service_id integer not null,
  order_id text collate "C" not null,
  sequence integer not null,
  status text collate "C" not null check (status in ('processing', 'shipped', 'cancelled', 'returned')),
  sku_id text collate "C" not null,
  sku text collate "C" not null,
  product_code text not null,
  product_name text not null,
  colour_code text,
  colour_name text,
  size_code text not null,
  quantity integer not null check (quantity > 0),
  price numeric(16, 4) not null,
  discounts json not null,
  value numeric(16, 4) not null check (value >= 0),
  store_id text collate "C",
  returned integer not null default 0,
  refunded numeric(16, 4) not null default 0,
  primary key (service_id, order_id, sequence),
  foreign key (service_id, order_id) references sales_order on delete cascade,
  constraint order_line_returned check (returned between 0 and quantity),
  constraint order_line_refunded check (refunded between 0 and value),
  constraint order_line_sold check (case status when 'shipped' then returned < quantity when 'returned' then returned = quantity else returned = 0 end)
);
comment on table order_line is
  'What was sold with an order. SKU, product, colour and size are as they were then: what they are called later changes nothing here.';
comment on column order_line.sequence is 'From 1.';
comment on column order_line.status is 'A line is returned once all of it is.';
comment on column order_line.price is 'Of one unit, before discounts.';
comment on column order_line.discounts is 'What is taken off the line: [{"type", "reason", "amount", "percentage"}].';
comment on column order_line.value is 'What is paid for the line: all units, less the discounts.';
comment on column order_line.store_id is 'The store whose stock it came from. Null: no stock was moved here.';
comment on column order_line.returned is
  'Units that came back, or are about to: the sum of its return lines that are not cancelled, and what had come back before an import.';
comment on column order_line.refunded is 'Their share of the value.';
comment on constraint order_line_returned on order_line is 'Nothing comes back that was not sold.';
comment on constraint order_line_refunded on order_line is 'No more is refunded than was paid.';
comment on constraint order_line_sold on order_line is 'Only what was shipped comes back, and the status says whether it is all of it.';

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
comment on table order_payment is 'How an order is paid.';
comment on column order_payment.reference is 'The gateway''s.';
comment on column order_payment.voucher_number is 'The gift voucher that pays. What it is validated by is not kept.';

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
create index sales_return_changed on sales_return (service_id, changed_at, id);
comment on table sales_return is 'What comes back of an order, as GET /returns/:id shows it.';
comment on column sales_return.changed_at is 'The stamp.';
comment on column sales_return.authorisation_number is 'What the shopper writes on the parcel.';
comment on column sales_return.restock is 'Whether the goods can be sold again, and so go into stock.';

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
comment on table return_line is 'What a return takes from one line of the order.';
comment on column return_line.sequence is 'From 1.';
comment on column return_line.value is 'What is refunded: the share of what was paid for the line of the order.';
comment on column return_line.reason_code is 'One of the setting `returnReasons`.';
comment on column return_line.notes is 'What the shopper said.';
