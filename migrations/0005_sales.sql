-- Sales in stores and online, orders placed here, and their returns.
--
-- Orders and returns have no stored record: they are rendered when they are read, also in the change feed, which is ordered by `changed_at`.

create table payment_gateway (
  service_id integer not null references service on delete cascade,
  name text collate "C" not null,
  primary key (service_id, name)
);
comment on table payment_gateway is 'Gateways with which orders and vouchers can be paid: the setting `gateways`.';

create function receipt_number(record text) returns text
language sql immutable strict parallel safe
return upper(substring(record from '^\{"id":"[^"]*","number":"([^"]*)"')) collate "C";
comment on function receipt_number is 'Returns the number on the receipt of a transaction, in capitals.';

create table retail_transaction (
  service_id integer not null,
  id text collate "C" not null,
  customer_id text collate "C",
  order_number text collate "C",
  sale_date timestamp not null,
  changed_at timestamptz not null,
  source_changed_at timestamp,
  record text not null,
  primary key (service_id, id)
);
create index retail_transaction_sale_date on retail_transaction (service_id, sale_date, id) include (changed_at);
create index retail_transaction_customer on retail_transaction (service_id, customer_id, sale_date, id);
create index retail_transaction_order on retail_transaction (service_id, lower(order_number)) where order_number is not null;
create index retail_transaction_number on retail_transaction (service_id, (receipt_number(record) collate "C"));
create index retail_transaction_changed on retail_transaction (service_id, changed_at, id) include (sale_date);
comment on table retail_transaction is
  'Sales and returns of stores and of the web, as a customer''s history and GET /orders/transactions/search show them. They come from '
  'syncs and imports; the embedded back office also adds them when an order is shipped or returned. They are documents: names are those '
  'of the day of the sale.';
comment on column retail_transaction.customer_id is 'Null: the customer is unknown or was erased.';
comment on column retail_transaction.changed_at is 'Change timestamp.';
comment on column retail_transaction.source_changed_at is 'When the content last changed in its source, or was written: local time of the service. Older lines of files are skipped.';
comment on column retail_transaction.record is 'The whole transaction. Its lines have no table; they are merged into this record.';

create table order_counter (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null check (kind in ('order', 'return')),
  stream integer not null,
  last_number bigint not null,
  primary key (service_id, kind, stream)
);
comment on table order_counter is
  'Last generated order numbers (W0000001) and return numbers (R0000001). Numbers that callers have used are skipped. Each of several '
  'streams generates every 32nd number, so that an order does not wait for the commit of another one.';

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
  tax_lines json not null default '[]',
  total numeric(16, 4) not null check (total >= freight),
  has_imported_sale boolean not null default false,
  imported_at timestamptz,
  import_digest bytea,
  ready_at timestamptz,
  collected_at timestamptz,
  cancellations json not null default '[]',
  primary key (service_id, id),
  unique (service_id, order_number),
  constraint sales_order_imported check ((imported_at is null) = (import_digest is null))
);
create index sales_order_customer on sales_order (service_id, customer_id, placed_at, id);
create index sales_order_changed on sales_order (service_id, changed_at, id);
create index sales_order_placed on sales_order (service_id, placed_at) include (currency, total);
comment on table sales_order is
  'Orders, as GET /orders/:id shows them: placed here, imported from an earlier system, or orders of an external back office that have a '
  'return.';
comment on column sales_order.changed_at is 'Change timestamp.';
comment on column sales_order.pickup_store_number is 'Store where the shopper collects the order.';
comment on column sales_order.ready_at is 'When the store reported that the shopper can collect the order.';
comment on column sales_order.collected_at is 'When the shopper collected the order.';
comment on column sales_order.cancellations is
  'Cancellations in Tillbridge, oldest first: [{"at", "username", "apiKey", "lines": [{"sku", "quantity"}], "refund"}].';
comment on column sales_order.billing_address is 'Addresses are json, not jsonb, to keep the order of their fields.';
comment on column sales_order.currency is 'Currency setting when the order was placed.';
comment on column sales_order.decimals is 'Decimals of the currency in which amounts are shown.';
comment on column sales_order.tax_lines is 'Sales taxes on top of the prices: [{"name", "percentage", "amount"}].';
comment on column sales_order.total is 'Sum of the line values, plus freight and sales taxes.';
comment on column sales_order.has_imported_sale is
  'True if an import contained the sale of this order, which then replaces the sale that shipping the order records.';
comment on column sales_order.imported_at is
  '`changed_at` as set by the last import: if changed_at is later, the order has changed here since. Null: not imported.';
comment on column sales_order.import_digest is 'Digest of the imported content. Importing the same content again changes nothing.';
comment on column sales_order.customer_id is
  'Customer when the order was placed. No foreign key, because they may have left the list. Null: erased, and the addresses are emptied.';
comment on index sales_order_changed is 'For the change feed, and for the orders whose shipment a sync checks.';

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
  is_allocated boolean not null default false,
  shipped integer not null default 0,
  cancelled integer not null default 0,
  cancelled_value numeric(16, 4) not null default 0,
  returned integer not null default 0,
  refunded numeric(16, 4) not null default 0,
  primary key (service_id, order_id, sequence),
  foreign key (service_id, order_id) references sales_order on delete cascade,
  constraint order_line_units check (shipped >= 0 and cancelled >= 0 and shipped + cancelled <= quantity),
  constraint order_line_returned check (returned between 0 and shipped),
  constraint order_line_refunded check (refunded >= 0 and cancelled_value >= 0 and refunded + cancelled_value <= value),
  constraint order_line_sold check (
    case status
      when 'processing' then shipped + cancelled < quantity
      when 'cancelled' then cancelled = quantity
      else shipped > 0 and shipped + cancelled = quantity and (status = 'shipped' or returned = shipped)
    end)
);
comment on table order_line is 'Lines of an order. SKU, product, colour and size keep their names of that time.';
comment on column order_line.sequence is 'From 1.';
comment on column order_line.status is 'A line leaves `processing` with its last open unit. It is `returned` if all its shipped units are returned.';
comment on column order_line.price is 'Per unit, before discounts.';
comment on column order_line.discounts is 'Discounts on the line: [{"type", "reason", "amount", "percentage"}].';
comment on column order_line.value is 'Amount paid for the line: all units, less discounts.';
comment on column order_line.is_allocated is 'True if the open units count in stock.allocated, until they are shipped or cancelled.';
comment on column order_line.shipped is 'Shipped units. `quantity` less these and the cancelled ones are open.';
comment on column order_line.cancelled is 'Cancelled units.';
comment on column order_line.cancelled_value is 'The cancelled units'' share of `value`.';
comment on column order_line.store_id is 'Store whose stock was reduced. Null: no stock was reduced here.';
comment on column order_line.returned is
  'Returned or announced units: the sum of its return lines that are not cancelled, plus units returned before an import.';
comment on column order_line.refunded is 'Refunded amount: the returned units'' share of `value`.';
comment on constraint order_line_units on order_line is 'No more units are shipped and cancelled than were ordered.';
comment on constraint order_line_returned on order_line is 'No more units are returned than were shipped.';
comment on constraint order_line_refunded on order_line is 'No more is refunded than was paid.';
comment on constraint order_line_sold on order_line is 'The status follows from the units. A line is `returned` if all its shipped units have come back; announced units leave it `shipped`.';

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
comment on table order_payment is 'Payments of an order.';
comment on column order_payment.reference is 'The gateway''s reference.';
comment on column order_payment.voucher_number is 'Gift voucher that pays. Its validation ID is not stored.';

create table shipment (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamptz not null,
  order_id text collate "C" not null,
  source_key text collate "C" not null,
  shipped_at timestamptz,
  carrier text,
  tracking_number text,
  tracking_url text,
  store_id text collate "C",
  lines json not null,
  cartons json not null default '[]',
  primary key (service_id, id),
  unique (service_id, source_key, order_id),
  foreign key (service_id, order_id) references sales_order on delete cascade
);
create index shipment_changed on shipment (service_id, changed_at, id);
create index shipment_order on shipment (service_id, order_id, id);
comment on table shipment is 'Parcels of orders, as GET /shipments/:id shows them.';
comment on column shipment.source_key is 'Distinguishes the shipments of an order: the tracking number, if the source has one.';
comment on column shipment.store_id is 'Store that the shipment left from. Null: not known, or the stores of its lines.';
comment on column shipment.lines is 'The content, by order line: [{"orderSequence", "sku", "quantity"}]. orderSequence is null for an item that is not on the order.';
comment on column shipment.cartons is 'The content by carton, if the back office knows it: [{"number", "lines": [{"sku", "quantity"}]}].';

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
  exchange_order_id text collate "C",
  exchange_credit numeric(16, 4) not null default 0 check (exchange_credit >= 0),
  back_office_id text collate "C",
  back_office_status text,
  polled_at timestamptz,
  primary key (service_id, id),
  unique (service_id, return_number),
  foreign key (service_id, order_id) references sales_order on delete cascade
);
create index sales_return_order on sales_return (service_id, order_id, created_at, id);
create index sales_return_exchange on sales_return (service_id, exchange_order_id) where exchange_order_id is not null;
create index sales_return_changed on sales_return (service_id, changed_at, id);
create index sales_return_open on sales_return (service_id, order_id, id) where status in ('requested', 'received') and back_office_id is not null;
comment on table sales_return is 'Returns, as GET /returns/:id shows them.';
comment on column sales_return.back_office_id is 'The back office''s ID of the return, by which its status is requested. Null: unknown, or there is no back office.';
comment on column sales_return.back_office_status is 'The back office''s word for the status, as it was last read.';
comment on column sales_return.polled_at is 'When the back office was last asked for the status. Null: never.';
comment on column sales_return.exchange_order_id is 'Order that the shopper got in exchange. Null: the return is no exchange.';
comment on column sales_return.exchange_credit is 'Part of the refund that pays for that order. The rest is refunded.';
comment on column sales_return.changed_at is 'Change timestamp.';
comment on column sales_return.authorisation_number is 'Number that the shopper writes on the parcel.';
comment on column sales_return.restock is 'True if the units can be sold again and go back into stock.';

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
  is_cancelled boolean not null default false,
  received integer not null default 0,
  restocked integer not null default 0,
  primary key (service_id, return_id, sequence),
  check (received between 0 and quantity),
  check (restocked between 0 and received),
  foreign key (service_id, return_id) references sales_return on delete cascade,
  foreign key (service_id, order_id, order_sequence) references order_line on delete cascade
);
create index return_line_order on return_line (service_id, order_id, order_sequence);
comment on table return_line is 'Units that a return takes back from one order line.';
comment on column return_line.sequence is 'From 1.';
comment on column return_line.value is 'Refund: the share of the amount paid for the order line.';
comment on column return_line.reason_code is 'A code of the setting `returnReasons`.';
comment on column return_line.notes is 'The shopper''s comment.';
comment on column return_line.is_cancelled is 'True if the back office has cancelled this line, but not the return: its units can be returned again.';
comment on column return_line.received is 'Units that have arrived.';
comment on column return_line.restocked is 'Received units that went back into stock. Cancelling the return takes them off again.';
