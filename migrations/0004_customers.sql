-- Customers and their consent.

create function customer_name_key(surname text, firstname text) returns text
language sql immutable parallel safe
return left(btrim(fold_text(coalesce(surname, '') || ' ' || coalesce(firstname, ''))), 200);
comment on function customer_name_key is
  'Returns a name for comparison and sorting, surname first: lowercase, without diacritics of Latin letters, with one kind of apostrophe. '
  'Cut to 200 characters, because an index entry has a size limit.';

create table customer (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamptz not null,
  source_changed_at timestamp,
  privacy_changed_at timestamp,
  email_subscription_changed_at timestamp,
  sms_subscription_changed_at timestamp,
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
create index customer_mapped on customer (service_id, id) where ecommerce_admin_id is not null or ecommerce_legacy_id is not null;
create index customer_unmapped on customer (service_id, id) where ecommerce_admin_id is null and ecommerce_legacy_id is null;
create unique index customer_email on customer (service_id, lower(normalize(email, NFC)));
create index customer_name on customer (service_id, (customer_name_key(surname, firstname) collate "C"), id);
create index customer_search on customer using gin (search_words(
  service_id, coalesce(firstname, '') || ' ' || coalesce(surname, '') || ' ' || coalesce(email, ''),
  coalesce(phone_home, '') || ',' || coalesce(phone_mobile, '') || ',' || coalesce(phone_work, '')));
create index customer_joined_store on customer (service_id, joined_store_id) where joined_store_id is not null;
comment on table customer is 'Customers, as GET /customers and /customers/search show them: from the back office, or created here.';
comment on column customer.source_changed_at is 'When the content last changed in its source, or was written: local time of the service. Older lines of files are skipped.';
comment on column customer.privacy_changed_at is 'The same time of this flag: an older line can''t give consent that was withdrawn later.';
comment on column customer.email_subscription_changed_at is 'The same time of this flag: an older line can''t give consent that was withdrawn later.';
comment on column customer.sms_subscription_changed_at is 'The same time of this flag: an older line can''t give consent that was withdrawn later.';
comment on column customer.changed_at is 'Change timestamp.';
comment on column customer.record is 'Without the e-commerce identifiers and the closing brace, because one of the lists leaves them out.';
comment on column customer.ecommerce_ids is 'End of the record in lists that show the e-commerce identifiers, with the closing brace.';
comment on column customer.code is 'The back office''s code. Not necessarily unique.';
comment on column customer.start_date is 'When they became a customer.';
comment on column customer.privacy is 'True: no marketing. True until the customer consents; a subscription is consent.';
comment on column customer.reference_values is
  'Reference value ID by type: {"favouriteStore": "4411"}. Code and name are in the table reference.';
comment on column customer.loyalty_code is 'Code of the loyalty program, from the back office.';
comment on column customer.joined_store_id is 'Store where they signed up. The record shows its code.';
comment on column customer.ecommerce_admin_id is 'In the format of the platform''s API: gid://shop/Customer/6477890125896.';
comment on column customer.ecommerce_legacy_id is 'The same ID in the legacy format: 6477890125896.';
comment on index customer_email is
  'Two customers cannot share an email address. Addresses that differ only in case or in Unicode normalization (NFC, NFD) are equal.';

comment on index customer_name is 'Search by name, sorted by surname.';

create table former_customer (
  service_id integer not null references service on delete cascade,
  id text collate "C" not null,
  removed_at timestamptz not null default clock_timestamp(),
  ecommerce_admin_id text,
  ecommerce_legacy_id text,
  email_subscription boolean not null,
  sms_subscription boolean not null,
  joined_store_id text collate "C",
  primary key (service_id, id)
);
comment on table former_customer is
  'Customers that the back office has deleted, removed from the list (contributing/decisions/0015): fields that only Tillbridge has, in case the '
  'customer comes back. Their orders and sales stay.';

create table erasure (
  service_id integer not null references service on delete cascade,
  customer_id text collate "C" not null,
  erased_at timestamptz not null default clock_timestamp(),
  completed_at timestamptz,
  primary key (service_id, customer_id)
);
comment on table erasure is
  'Erased customers (contributing/decisions/0015). The identifier is never used again: imports cannot create a customer with it, and later sales '
  'with it have no customer.';
comment on column erasure.erased_at is 'When the customer left the list. Later writes cannot refer to them.';
comment on column erasure.completed_at is 'When the last personal data was deleted. Null: a job is still working on it.';

create function reject_erased_customer() returns trigger
language plpgsql as $$
begin
  if exists (select from added join erasure e on e.service_id = added.service_id and e.customer_id = added.id) then
    raise exception 'the customer was erased' using errcode = 'integrity_constraint_violation', constraint = 'customer_erased';
  end if;
  return null;
end $$;
comment on function reject_erased_customer is
  'Rejects customers that were erased. Checks after the insert: an erasure that deleted an earlier row is committed by then.';
create trigger customer_erased after insert on customer referencing new table as added for each statement execute function reject_erased_customer();

create table consent_change (
  service_id integer not null,
  customer_id text collate "C" not null,
  change_number bigint generated always as identity,
  channel text collate "C" not null check (channel in ('marketing', 'email', 'sms')),
  old_value boolean,
  new_value boolean not null check (new_value is distinct from old_value),
  changed_at timestamptz not null default clock_timestamp(),
  username text not null,
  request_id text not null,
  primary key (service_id, customer_id, change_number)
);
comment on table consent_change is
  'History of consent per customer: evidence of when it was given and withdrawn. Append-only. Written by API writes, imports and syncs. '
  'An import that creates a customer writes nothing. It stays when a customer leaves, and is deleted when they are erased.';
comment on column consent_change.channel is '`marketing` is the inverse of the customer''s privacy.';
comment on column consent_change.old_value is 'Consent before the change. Null: the customer is new.';

create function reject_consent_modification() returns trigger
language plpgsql as $$
begin
  if tg_op = 'DELETE' and (not exists (select from service where service_id = old.service_id and not is_purgeable(service))
     or exists (select from erasure where service_id = old.service_id and customer_id = old.customer_id)) then
    return old;
  end if;
  raise exception 'the consent record is append-only';
end $$;
comment on function reject_consent_modification is
  'Rejects updates of the consent history, and deletions unless the customer was erased or the service is purgeable.';
create trigger consent_change_append_only before update or delete on consent_change for each row execute function reject_consent_modification();
