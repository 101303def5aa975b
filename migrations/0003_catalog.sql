-- Catalog and inventory: stores, their staff, products and stock.

-- Functions of index expressions are not strict and call only immutable functions, so PostgreSQL can inline them. Otherwise each statement
-- that inserts a row would plan them.
create function fold_text(text text) returns text
language sql immutable parallel safe
return case
  when octet_length(text) = length(text) then lower(text) -- ASCII, which normalizing would not change
  else translate(lower(normalize(text, NFKD)), U&'\2019\0300\0301\0302\0303\0304\0306\0307\0308\030A\030B\030C\0326\0327\0328', '''')
end;
comment on function fold_text is
  'Returns a text for comparison: lowercase, without diacritics of Latin letters, with one kind of apostrophe.';

create function search_words(service_id integer, text text, phones text) returns tsvector
language sql immutable parallel safe
return array_to_tsvector(
  string_to_array(service_id::text || ' ' || regexp_replace(left(fold_text(text), 400), '[\s!-/:-@\[-`{-~]+', E'\n' || service_id::text || ' ', 'g'), E'\n')
  || string_to_array(service_id::text || ' #' || replace(regexp_replace(left(reverse(phones), 200), '[^0-9,]', '', 'g'), ',', E'\n' || service_id::text || ' #'), E'\n'));
comment on function search_words is
  'Returns the entries of a search index: the words of a text, and the digits of phone numbers from the last to the first, so that a prefix '
  'finds a number with or without its country code. Each entry begins with the service. The text is cut, because an entry has a size limit.';

create function search_prefixes(service_id integer, text text) returns tsquery
language sql stable strict parallel safe
return (
  select string_agg('''' || service_id || ' ' || left(word, 60) || ''':*', ' & ')::tsquery
    from regexp_split_to_table(fold_text(text), '[\s!-/:-@\[-`{-~]+') word where word <> '');
comment on function search_prefixes is 'Returns the query for `search_words` that requires a word with each prefix. Null for a text without words.';

create table store (
  service_id integer not null references service on delete cascade,
  store_id text collate "C" not null,
  changed_at timestamptz not null,
  source_changed_at timestamp,
  record text not null,
  store_number text collate "C" not null,
  kind text collate "C" not null default 'store' check (kind in ('store', 'warehouse', 'web')),
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
-- Lists of mapped and of unmapped stores cost the same at any depth.
create index store_mapped on store (service_id, store_id) where ecommerce_location_id is not null;
create index store_unmapped on store (service_id, store_id) where ecommerce_location_id is null;
comment on table store is 'Stores, as GET /stores shows them. If a store changes, the stock and customers that show it are rendered again.';
comment on column store.source_changed_at is 'When the content last changed in its source, or was written: local time of the service. Older lines of files are skipped.';
comment on column store.changed_at is 'Change timestamp.';
comment on column store.store_number is 'The retailer''s number of the store. Text, because leading zeros are significant.';
comment on column store.inventory_buffer is 'Units of each SKU that this store keeps from online sale. Null: the setting inventoryBuffer.';
comment on column store.ecommerce_location_id is 'Location of the store in the e-commerce platform. Several stores can share it.';

create table staff (
  service_id integer not null references service on delete cascade,
  id text collate "C" not null,
  changed_at timestamptz not null,
  source_changed_at timestamp,
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
comment on table staff is 'Staff members, as GET /staff shows them.';
comment on column staff.source_changed_at is 'When the content last changed in its source, or was written: local time of the service. Older lines of files are skipped.';
comment on column staff.changed_at is 'Change timestamp.';
comment on column staff.code is 'Code with which they sign in to the till.';
comment on column staff.active is 'False if they have left.';

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
create index product_search on product using gin (search_words(service_id, name, ''));
comment on table product is 'Products, as GET /products shows them: each with its colours, and each colour with its sizes.';
comment on column product.changed_at is 'Change timestamp.';
comment on column product.product_code is 'The retailer''s code of the product. Not unique.';
comment on column product.size_range is 'As text: XS-XL.';
comment on column product.reference_values is 'Reference value ID by type: {"brand": "1342"}. Code and name are in the table reference.';

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
comment on table colour is 'Colours of products.';
comment on column colour.ecommerce_product_id is 'Product of this colour in the e-commerce platform.';
comment on column colour.markdown_status is 'none, markdown or clearance (reduced permanently).';

create table variant (
  service_id integer not null,
  sku_id text collate "C" not null,
  product_id text collate "C" not null,
  colour_id text collate "C" not null,
  source_changed_at timestamp,
  sku text collate "C" not null,
  size_code text not null,
  sequence integer,
  original_price numeric(16, 4) not null,
  price numeric(16, 4) not null,
  barcode text,
  price_changes jsonb not null default '[]',
  allow_backorder boolean not null default false,
  preorder_date date,
  primary key (service_id, sku_id),
  unique (service_id, sku),
  foreign key (service_id, product_id, colour_id) references colour on delete cascade
);
create index variant_product on variant (service_id, product_id, colour_id);
create index variant_barcode on variant (service_id, barcode) where barcode is not null;
create index variant_mapped on variant (service_id, sku_id) where sku <> sku_id;
create index variant_unmapped on variant (service_id, sku_id) where sku = sku_id;
comment on table variant is 'A size of a colour: the unit that is sold and stocked.';
comment on column variant.source_changed_at is 'When the content last changed in its source, or was written: local time of the service. Older lines of files are skipped.';
comment on column variant.sku_id is 'The back office''s identifier of the SKU.';
comment on column variant.price_changes is 'The coming prices as the API lists them, by date; of a back office that knows them.';
comment on column variant.sku is 'The SKU in the e-commerce platform; `sku` in the API. Equal to sku_id until it is mapped.';
comment on column variant.sequence is 'Position of the size among the sizes of its colour.';
comment on column variant.original_price is 'Before markdowns.';
comment on column variant.allow_backorder is 'Orders can exceed the units that can be sold.';
comment on column variant.preorder_date is 'First day of delivery. Only shown.';

create table stock (
  service_id integer not null,
  store_id text collate "C" not null,
  sku_id text collate "C" not null,
  changed_at timestamptz not null,
  source_changed_at timestamp,
  record text not null,
  free_stock numeric(13, 3) not null,
  buffer integer,
  allocated integer not null default 0 check (allocated >= 0),
  reserved integer not null default 0 check (reserved >= 0),
  id text collate "C" not null generated always as (store_id || ' ' || sku_id) stored,
  primary key (service_id, store_id, sku_id),
  foreign key (service_id, store_id) references store on delete cascade,
  foreign key (service_id, sku_id) references variant on delete cascade
);
create index stock_changed on stock (service_id, changed_at, id);
create index stock_sku on stock (service_id, sku_id, id);
create index stock_store on stock (service_id, store_id, changed_at, id);
comment on table stock is 'Stock of each SKU in each store, as GET /inventory shows it.';
comment on column stock.source_changed_at is 'When the content last changed in its source, or was written: local time of the service. Older lines of files are skipped.';
comment on column stock.changed_at is 'Change timestamp.';
comment on column stock.record is 'Also shows the store, the SKU and the effective buffer.';
comment on column stock.free_stock is 'Units, or up to three decimals for weighed goods. Negative if more were sold than the store had.';
comment on column stock.buffer is 'Units kept from online sale. Null: the store''s inventory_buffer.';
comment on column stock.allocated is
  'Units of orders that are not shipped. `free_stock` still contains them, so that a stock file of a till can''t make them sellable again.';
comment on column stock.reserved is 'Units of reservations that have not expired.';
comment on column stock.id is 'Store and SKU as one value. Orders stock with the same change timestamp in lists.';

create table stock_reservation (
  service_id integer not null references service on delete cascade,
  id text collate "C" not null,
  reference text,
  account text not null,
  expires_at timestamptz not null,
  primary key (service_id, id)
);
create index stock_reservation_expires on stock_reservation (expires_at);
create index stock_reservation_account on stock_reservation (service_id, account, expires_at);
comment on table stock_reservation is
  'Units that an account has reserved for a checkout. An order or a release deletes the row, and so does a job when it has expired. Readers '
  'ignore expired rows.';
comment on column stock_reservation.account is 'Account that made the reservation. Its reservations are limited.';
comment on index stock_reservation_expires is 'For the job that ends reservations.';

create table stock_reservation_line (
  service_id integer not null,
  reservation_id text collate "C" not null,
  store_id text collate "C" not null,
  sku_id text collate "C" not null,
  sequence integer not null,
  quantity integer not null check (quantity > 0),
  requested integer not null check (requested > 0),
  primary key (service_id, reservation_id, store_id, sku_id),
  foreign key (service_id, reservation_id) references stock_reservation on delete cascade,
  foreign key (service_id, store_id, sku_id) references stock on delete cascade
);
create index stock_reservation_line_stock on stock_reservation_line (service_id, store_id, sku_id);
comment on table stock_reservation_line is
  'Reserved units by stock. Their sum is stock.reserved, which the same transaction changes. Changed only while the stock is locked.';
comment on column stock_reservation_line.sequence is 'Position in the request, from 1.';
comment on column stock_reservation_line.requested is 'Units that were requested. More than the reserved ones if the reservation is partial.';

create table stock_rerender (
  service_id integer not null references service on delete cascade,
  stock_column text collate "C" not null check (stock_column in ('store_id', 'sku_id')),
  id text collate "C" not null,
  rendered_up_to text collate "C" not null default '',
  primary key (service_id, stock_column, id)
);
comment on table stock_rerender is
  'Queue of stores and SKUs that have changed and are shown in much stock. The transaction of the change inserts a row; the job '
  'render-stock renders the stock in batches.';
comment on column stock_rerender.stock_column is 'Column of stock that contains `id`.';
comment on column stock_rerender.rendered_up_to is 'Last SKU of the store whose stock is rendered.';
