-- Mappings: the items of the e-commerce platform, and the results of the mapping check (contributing/decisions/0026).

create function near_form(value text) returns text
language sql immutable strict parallel safe return
  coalesce(nullif(ltrim(regexp_replace(lower(normalize(value collate "default", NFC)), '^gid://.*/|\s', '', 'g'), '0'), ''), '0');
comment on function near_form is
  'Returns an identifier, a name or an address without case, whitespace, leading zeros and the prefix of global identifiers. Values with '
  'the same form are near matches.';

create function address_form(email text) returns text
language sql immutable strict parallel safe return lower(normalize(email collate "default", NFC));
comment on function address_form is 'An email address in the form that is compared. Leading zeros count: 7@ and 007@ are two people.';

create function likeness(own text[], platform text) returns text
language sql immutable parallel safe return
  (select case when bool_or(o = platform) then 'same'
               when bool_or(lower(o) = lower(platform)) then 'case'
               when bool_or(regexp_replace(lower(o), '\s', '', 'g') = regexp_replace(lower(platform), '\s', '', 'g')) then 'whitespace'
               when bool_or(ltrim(lower(o), '0') = ltrim(lower(platform), '0')) then 'leadingZeros'
               when bool_or(near_form(o) = near_form(platform)) then 'form' end
     from unnest(own) o);
comment on function likeness is 'How one of several identifiers differs from a similar one. Null: none is similar.';

create table ecommerce_item (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null check (kind in ('stores', 'skus', 'customers')),
  item_key text collate "C" not null,
  ecommerce_id text collate "C" not null,
  name text,
  other text,
  seen_at timestamptz not null,
  near_id text collate "C" not null generated always as (near_form(ecommerce_id)) stored,
  near_other text collate "C" generated always as (case kind when 'customers' then address_form(other) else near_form(other) end) stored,
  primary key (service_id, kind, item_key)
);
create index ecommerce_item_id on ecommerce_item (service_id, kind, ecommerce_id, item_key);
create index ecommerce_item_near_id on ecommerce_item (service_id, kind, near_id);
create index ecommerce_item_near_other on ecommerce_item (service_id, kind, near_other);
comment on table ecommerce_item is
  'Items of the e-commerce platform from its exports: locations (stores), variants (skus) and customers. The next complete file replaces '
  'them. The data of a customer is deleted when they are erased.';
comment on column ecommerce_item.item_key is 'Identifies the item among its kind: variants can share a SKU.';
comment on column ecommerce_item.ecommerce_id is 'The value of a mapping: the location, SKU or customer identifier.';
comment on column ecommerce_item.name is 'The name on the platform.';
comment on column ecommerce_item.other is 'Another identifying value: the name of a location, the barcode of a variant, the email address of a customer.';
comment on column ecommerce_item.seen_at is 'When a file last contained the item.';

create table mapping_check (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null check (kind in ('stores', 'skus', 'customers')),
  changed_at timestamptz,
  listed_at timestamptz,
  listed integer not null default 0,
  checked integer not null default 0,
  to_check integer not null default 0,
  primary key (service_id, kind)
);
comment on table mapping_check is 'The last mapping check of each kind, and the progress of a running one.';
comment on column mapping_check.changed_at is 'When the last complete check ended. Null: never.';
comment on column mapping_check.listed_at is 'When a platform file was last imported. Null: never, so that mappings are unverified.';
comment on column mapping_check.listed is 'The number of platform items in that file.';
comment on column mapping_check.checked is 'Records and platform items that the running check has processed, of `to_check`.';

create table recent_sale (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null check (kind in ('stores', 'skus', 'customers')),
  name text collate "C" not null,
  units numeric not null,
  counted_at timestamptz not null,
  primary key (service_id, kind, name)
);
comment on table recent_sale is 'Units sold in 90 days, minus returns, by store number, SKU and customer. Counted by each mapping check.';
comment on column recent_sale.counted_at is 'When the count started.';

create table mapping_issue (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null check (kind in ('stores', 'skus', 'customers')),
  side text collate "C" not null check (side in ('here', 'there')),
  id text collate "C" not null,
  state text collate "C" not null check (state in ('matched', 'unmapped', 'platformOnly', 'duplicate', 'orphaned', 'nearMatch', 'unverified')),
  ecommerce_id text collate "C",
  suggestion text collate "C",
  evidence jsonb not null default '[]',
  units_in_stock bigint,
  units_sold numeric,
  place text collate "C" not null generated always as (
    case state when 'matched' then '9' when 'unverified' then '8' else '1' end
    || lpad((999999999999 - least(greatest(coalesce(units_sold, 0), 0), 999999999999)::bigint)::text, 12, '0')
    || lpad((999999999999 - least(greatest(coalesce(units_in_stock, 0), 0), 999999999999))::text, 12, '0')
    || case state when 'platformOnly' then 'b' else 'a' end || id) stored,
  primary key (service_id, kind, side, id)
);
create index mapping_issue_place on mapping_issue (service_id, kind, place);
create index mapping_issue_state on mapping_issue (service_id, kind, state, place);
create index mapping_issue_suggestion on mapping_issue (service_id, kind, suggestion) where suggestion is not null;
comment on table mapping_issue is 'The state of each store, SKU and customer, and of each platform item that no record is mapped to, after the last mapping check.';
comment on column mapping_issue.side is 'Owner of `id`: the back office (`here`) or the platform (`there`).';
comment on column mapping_issue.ecommerce_id is 'The platform item that the record is mapped to.';
comment on column mapping_issue.suggestion is 'The nearest platform item that no record is mapped to.';
comment on column mapping_issue.evidence is 'The reasons for the state: [{"reason", "ecommerceId", "id"}]. No names and no addresses.';
comment on column mapping_issue.units_in_stock is 'Units in all stores, or of all SKUs. Null for customers and platform items.';
comment on column mapping_issue.place is 'The position in lists: problems first, then by units sold, then by units in stock.';

create table mapping_count (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null,
  state text collate "C" not null,
  issues integer not null,
  primary key (service_id, kind, state)
);
comment on table mapping_count is 'The number of issues per kind and state, maintained by a trigger on mapping_issue, so that no request counts a million rows.';

create function count_mapping_issues() returns trigger language plpgsql as $$
begin
  if tg_op <> 'DELETE' then
    insert into mapping_count as c (service_id, kind, state, issues)
    select service_id, kind, state, count(*) from came group by 1, 2, 3 order by 1, 2, 3
    on conflict (service_id, kind, state) do update set issues = c.issues + excluded.issues;
  end if;
  if tg_op <> 'INSERT' then
    update mapping_count c set issues = c.issues - w.count
      from (select service_id, kind, state, count(*) from went group by 1, 2, 3) w
     where (c.service_id, c.kind, c.state) = (w.service_id, w.kind, w.state);
  end if;
  return null;
end $$;
comment on function count_mapping_issues is 'Maintains mapping_count, once per statement.';
create trigger mapping_issue_inserted after insert on mapping_issue referencing new table as came for each statement execute function count_mapping_issues();
create trigger mapping_issue_updated after update on mapping_issue referencing old table as went new table as came for each statement execute function count_mapping_issues();
create trigger mapping_issue_deleted after delete on mapping_issue referencing old table as went for each statement execute function count_mapping_issues();

create table mapping_fix (
  service_id integer not null references service on delete cascade,
  fix_id text collate "C" not null default gen_random_uuid()::text,
  changed_at timestamptz not null default clock_timestamp(),
  kind text collate "C" not null check (kind in ('stores', 'skus', 'customers')),
  record_id text collate "C" not null,
  before jsonb not null,
  after jsonb not null,
  username text not null,
  request_id text not null,
  undone_at timestamptz,
  batch_id text collate "C",
  primary key (service_id, fix_id)
);
create index mapping_fix_batch on mapping_fix (service_id, batch_id, fix_id) where batch_id is not null;
create index mapping_fix_changed on mapping_fix (service_id, changed_at, fix_id);
create index mapping_fix_record on mapping_fix (service_id, kind, record_id);
comment on table mapping_fix is 'Mappings that a fix changed. A fix can be undone for 90 days, unless the mapping has changed since.';
comment on column mapping_fix.batch_id is 'The batch of suggestions that were accepted together, so that one undo restores them. Null: a single fix.';
comment on column mapping_fix.before is 'The mapped fields before the fix; `after` has those after it.';

create index customer_ecommerce_id on customer (service_id, (coalesce(ecommerce_legacy_id, substring(ecommerce_admin_id from '[^/]*$')) collate "C"));
comment on index customer_ecommerce_id is 'Finds a customer by the platform''s legacy ID, which is also the end of the admin ID.';
