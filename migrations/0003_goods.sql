-- Goods: stores and who works there, products, and how much of them each store has.

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
-- What the e-commerce platform knows and does not know yet: lists of either cost the same at any depth.
create index store_mapped on store (service_id, store_id) where ecommerce_location_id is not null;
create index store_unmapped on store (service_id, store_id) where ecommerce_location_id is null;
comment on table store is 'Stores, as GET /stores shows them. Stock and customers that show a store are rendered anew when it changes.';
comment on column store.changed_at is 'The stamp.';
comment on column store.store_number is 'What the retailer knows the store by; text, because zeros in front count.';
comment on column store.inventory_buffer is 'Units of each SKU held back from sale here. Null: the setting inventoryBuffer.';
comment on column store.ecommerce_location_id is 'What the store is mapped to in the e-commerce platform; several stores may share it.';

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
comment on table staff is 'Members of the staff, as GET /staff shows them.';
comment on column staff.changed_at is 'The stamp.';
comment on column staff.code is 'What they sign in to the till with.';
comment on column staff.active is 'False once they have left.';

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
comment on table product is 'Products, as GET /products shows them: each with its colours, and these with their sizes.';
comment on column product.changed_at is 'The stamp.';
comment on column product.product_code is 'What the retailer knows the product by; two products may have the same.';
comment on column product.size_range is 'In words: XS-XL.';
comment on column product.reference_values is 'The value of each type of reference: {"brand": "1342"}. What it says is in the table reference.';

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
comment on table colour is 'The colours of products.';
comment on column colour.ecommerce_product_id is 'The product that it is in the e-commerce platform.';
comment on column colour.markdown_status is 'none, markdown, or clearance: reduced for good.';

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
create index variant_mapped on variant (service_id, sku_id) where sku <> sku_id;
create index variant_unmapped on variant (service_id, sku_id) where sku = sku_id;
comment on table variant is 'A size of a colour: what is sold and stocked.';
comment on column variant.sku_id is 'The back office''s identifier of the SKU.';
comment on column variant.sku is 'The SKU in the e-commerce platform, which is what the API means by `sku`. The same as sku_id until it is mapped.';
comment on column variant.sequence is 'Where the size stands among the sizes of its colour.';
comment on column variant.original_price is 'Before any markdown.';

create table stock (
  service_id integer not null,
  store_id text collate "C" not null,
  sku_id text collate "C" not null,
  changed_at timestamptz not null,
  record text not null,
  free_stock integer not null,
  buffer integer,
  id text collate "C" not null generated always as (store_id || ' ' || sku_id) stored,
  primary key (service_id, store_id, sku_id),
  foreign key (service_id, store_id) references store on delete cascade,
  foreign key (service_id, sku_id) references variant on delete cascade
);
create index stock_changed on stock (service_id, changed_at, id);
create index stock_sku on stock (service_id, sku_id, id);
create index stock_store on stock (service_id, store_id, changed_at, id);
comment on table stock is 'What each store has of each SKU, as GET /inventory shows it.';
comment on column stock.changed_at is 'The stamp.';
comment on column stock.record is 'Shows also the store, the SKU and the buffer that is in force.';
comment on column stock.free_stock is 'Units. Below zero where more was sold than there was.';
comment on column stock.buffer is 'Units held back from sale. Null: as many as the store says.';
comment on column stock.id is 'Store and SKU as one value, by which the list orders what has the same stamp.';

create table stale_stock (
  service_id integer not null references service on delete cascade,
  shown text collate "C" not null check (shown in ('store_id', 'sku_id')),
  id text collate "C" not null,
  rendered_to text collate "C" not null default '',
  primary key (service_id, shown, id)
);
comment on table stale_stock is
  'Stores and SKUs that much stock shows, and that have changed since it was rendered: whoever changes them writes them down with that, and a '
  'job renders the stock, some at a time.';
comment on column stale_stock.shown is 'The column of stock that names it.';
comment on column stale_stock.rendered_to is 'Of a store: the SKU up to which its stock is rendered.';
