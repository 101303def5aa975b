-- Mappings and accounts over the API: lists of what the e-commerce platform knows and does not know yet, which cost the same at any
-- depth, and since when an account has its role.
--
-- Each row of the three tables stands in one of its two indexes.
create index store_mapped on store (service_id, store_id) where ecommerce_location_id is not null;
create index store_unmapped on store (service_id, store_id) where ecommerce_location_id is null;
create index variant_mapped on variant (service_id, sku_id) where sku <> sku_id;
create index variant_unmapped on variant (service_id, sku_id) where sku = sku_id;
create index customer_mapped on customer (service_id, id) where ecommerce_admin_id is not null or ecommerce_legacy_id is not null;
create index customer_unmapped on customer (service_id, id) where ecommerce_admin_id is null and ecommerce_legacy_id is null;

alter table account_service add column changed_at timestamptz not null default clock_timestamp();
comment on column account_service.changed_at is 'Since when the account has this role.';
