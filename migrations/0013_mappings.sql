-- Mappings: what the e-commerce platform has, and what the mapping doctor finds of it (docs/decisions/0026).

create function near_form(said text) returns text
language sql immutable strict parallel safe return
  coalesce(nullif(ltrim(regexp_replace(lower(normalize(said collate "default", NFC)), '^gid://.*/|\s', '', 'g'), '0'), ''), '0');
comment on function near_form is
  'What of an identifier, a name or an address is left where case, blanks, zeros in front and the way in which a platform writes '
  'global identifiers do not count: two that are the same in this form are near to each other.';

create function address_form(email text) returns text
language sql immutable strict parallel safe return lower(normalize(email collate "default", NFC));
comment on function address_form is 'An e-mail address as it is compared: 7@ and 007@ are two people.';

create function likeness(own text[], there text) returns text
language sql immutable parallel safe return
  (select case when bool_or(o = there) then 'same'
               when bool_or(lower(o) = lower(there)) then 'case'
               when bool_or(regexp_replace(lower(o), '\s', '', 'g') = regexp_replace(lower(there), '\s', '', 'g')) then 'blanks'
               when bool_or(ltrim(lower(o), '0') = ltrim(lower(there), '0')) then 'leadingZeros'
               when bool_or(near_form(o) = near_form(there)) then 'form' end
     from unnest(own) o);
comment on function likeness is 'In what one of several identifiers differs from another one that is near to it. Null: none is near.';

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
  'What the e-commerce platform has, as its exports tell it: locations, by the kind of what they are here (stores), variants (skus), '
  'customers. A copy that the next whole file replaces; what it says of a customer goes when they are erased.';
comment on column ecommerce_item.item_key is 'What tells it from others of its kind: variants may share a SKU.';
comment on column ecommerce_item.ecommerce_id is 'What a mapping would say: the location, the SKU, the customer''s identifier.';
comment on column ecommerce_item.name is 'What it is called there.';
comment on column ecommerce_item.other is 'What else it may be known by: the name of a location, the barcode of a variant, the e-mail address of a customer.';
comment on column ecommerce_item.seen_at is 'When a file last had it.';

create table mapping_judgement (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null check (kind in ('stores', 'skus', 'customers')),
  changed_at timestamptz,
  listed_at timestamptz,
  listed integer not null default 0,
  judged integer not null default 0,
  to_judge integer not null default 0,
  primary key (service_id, kind)
);
comment on table mapping_judgement is 'When the mappings of a service were judged, and against what.';
comment on column mapping_judgement.changed_at is 'When all of them were last judged. Null: not yet.';
comment on column mapping_judgement.listed_at is 'When a file of the other side last came. Null: none has, so that nobody knows what is there.';
comment on column mapping_judgement.listed is 'What of the other side is known since then.';
comment on column mapping_judgement.judged is 'Of a judgement that is under way: what it has looked at, here and there, of `to_judge`.';

create table recent_sale (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null check (kind in ('stores', 'skus', 'customers')),
  name text collate "C" not null,
  units numeric not null,
  counted_at timestamptz not null,
  primary key (service_id, kind, name)
);
comment on table recent_sale is 'Units that were sold in 90 days, less what came back: by store number, SKU and customer. Counted anew when mappings are judged.';
comment on column recent_sale.counted_at is 'When the count began that it is of.';

create table mapping_finding (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null check (kind in ('stores', 'skus', 'customers')),
  side text collate "C" not null check (side in ('here', 'there')),
  id text collate "C" not null,
  state text collate "C" not null check (state in ('matched', 'missing', 'unclaimed', 'twice', 'orphan', 'nearMiss', 'unchecked')),
  ecommerce_id text collate "C",
  suggestion text collate "C",
  evidence jsonb not null default '[]',
  units_in_stock bigint,
  units_sold numeric,
  place text collate "C" not null generated always as (
    case state when 'matched' then '9' when 'unchecked' then '8' else '1' end
    || lpad((999999999999 - least(greatest(coalesce(units_sold, 0), 0), 999999999999)::bigint)::text, 12, '0')
    || lpad((999999999999 - least(greatest(coalesce(units_in_stock, 0), 0), 999999999999))::text, 12, '0')
    || case state when 'unclaimed' then 'b' else 'a' end || id) stored,
  primary key (service_id, kind, side, id)
);
create index mapping_finding_place on mapping_finding (service_id, kind, place);
create index mapping_finding_state on mapping_finding (service_id, kind, state, place);
create index mapping_finding_suggestion on mapping_finding (service_id, kind, suggestion) where suggestion is not null;
comment on table mapping_finding is 'What the mapping doctor has found of each store, SKU and customer, and of what the platform has and nobody here is.';
comment on column mapping_finding.side is 'Whose identifier `id` is: here the back office''s, there the e-commerce platform''s.';
comment on column mapping_finding.ecommerce_id is 'What it is mapped to.';
comment on column mapping_finding.suggestion is 'What it probably is: the nearest of what nobody else is mapped to.';
comment on column mapping_finding.evidence is 'Why it is in its state: [{"why", "ecommerceId", "id"}]. No names and no addresses.';
comment on column mapping_finding.units_in_stock is 'In all stores, or of all SKUs. Null where it has no stock: customers, and what is only there.';
comment on column mapping_finding.place is 'Where it stands in the lists: what is not well first, and of that what was sold most, and then what most is left of.';

create table mapping_count (
  service_id integer not null references service on delete cascade,
  kind text collate "C" not null,
  state text collate "C" not null,
  findings integer not null,
  primary key (service_id, kind, state)
);
comment on table mapping_count is 'How many findings of a kind are in which state, kept by a trigger of mapping_finding: who looks at them does not count a million.';

create function count_findings() returns trigger language plpgsql as $$
begin
  if tg_op <> 'DELETE' then
    insert into mapping_count as c (service_id, kind, state, findings)
    select service_id, kind, state, count(*) from came group by 1, 2, 3 order by 1, 2, 3
    on conflict (service_id, kind, state) do update set findings = c.findings + excluded.findings;
  end if;
  if tg_op <> 'INSERT' then
    update mapping_count c set findings = c.findings - w.count
      from (select service_id, kind, state, count(*) from went group by 1, 2, 3) w
     where (c.service_id, c.kind, c.state) = (w.service_id, w.kind, w.state);
  end if;
  return null;
end $$;
comment on function count_findings is 'Keeps mapping_count: once a statement, for all findings that it has written.';
create trigger mapping_finding_came after insert on mapping_finding referencing new table as came for each statement execute function count_findings();
create trigger mapping_finding_changed after update on mapping_finding referencing old table as went new table as came for each statement execute function count_findings();
create trigger mapping_finding_went after delete on mapping_finding referencing old table as went for each statement execute function count_findings();

create table mapping_fix (
  service_id integer not null references service on delete cascade,
  fix_id text collate "C" not null default gen_random_uuid()::text,
  changed_at timestamptz not null default clock_timestamp(),
  kind text collate "C" not null check (kind in ('stores', 'skus', 'customers')),
  id text collate "C" not null,
  before jsonb not null,
  after jsonb not null,
  username text not null,
  request_id text not null,
  undone_at timestamptz,
  primary key (service_id, fix_id)
);
create index mapping_fix_changed on mapping_fix (service_id, changed_at, fix_id);
create index mapping_fix_of on mapping_fix (service_id, kind, id);
comment on table mapping_fix is 'Mappings that were changed by the doctor, and can be undone: for 90 days, as long as nobody has changed them since.';
comment on column mapping_fix.before is 'The fields of the mapping as they were, and in `after` as they became.';

create index customer_ecommerce_id on customer (service_id, (coalesce(ecommerce_legacy_id, substring(ecommerce_admin_id from '[^/]*$')) collate "C"));
comment on index customer_ecommerce_id is 'By what a customer is in the e-commerce platform: the legacy form, which the admin form ends with.';
