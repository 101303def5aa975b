-- Customers: who buys, and what they have agreed to.

create function name_key(surname text, firstname text) returns text
language sql immutable parallel safe
return left(btrim(translate(lower(normalize(coalesce(surname, '') || ' ' || coalesce(firstname, ''), NFKD)),
  U&'\2019\0300\0301\0302\0303\0304\0306\0307\0308\030A\030B\030C\0326\0327\0328', '''')), 200);
comment on function name_key is
  'A name as a directory has it, surname first, to be compared: without case, accents (the marks of Latin letters) and kinds of apostrophe. Of a name of thousands of characters its beginning, as an index takes no more.';

create table customer (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamptz not null,
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
create index customer_name on customer (service_id, (name_key(surname, firstname) collate "C"), id);
create index customer_joined_store on customer (service_id, joined_store_id) where joined_store_id is not null;
comment on table customer is 'Customers, as GET /customers and /customers/search show them: those of the back office, and those that were made here.';
comment on column customer.changed_at is 'The stamp.';
comment on column customer.record is 'Without the e-commerce identifiers and the closing brace: one of the lists has to leave them out.';
comment on column customer.ecommerce_ids is 'What closes the record where it shows the e-commerce identifiers.';
comment on column customer.code is 'What the back office knows them by; it need not be unique.';
comment on column customer.start_date is 'When they joined.';
comment on column customer.privacy is 'True: no marketing. So it is until somebody consents; a subscription is consent.';
comment on column customer.reference_values is 'The value of each type of reference: {"favouriteStore": "4411"}. What it says is in the table reference.';
comment on column customer.loyalty_code is 'Of the loyalty programme, as the back office tells it.';
comment on column customer.joined_store_id is 'Where they signed up; the record shows its code.';
comment on column customer.ecommerce_admin_id is 'As the platform''s API writes it: gid://shop/Customer/6477890125896.';
comment on column customer.ecommerce_legacy_id is 'The same in the legacy form: 6477890125896.';
comment on index customer_email is
  'No two customers share an address. Addresses that differ only in case, or in how an accent is encoded (NFC, NFD), are the same.';

comment on index customer_name is 'Whom a name may be of; in the order of a directory.';

create table former_customer (
  service_id integer not null references service on delete cascade,
  id text collate "C" not null,
  left_at timestamptz not null default clock_timestamp(),
  ecommerce_admin_id text,
  ecommerce_legacy_id text,
  email_subscription boolean not null,
  sms_subscription boolean not null,
  joined_store_id text collate "C",
  primary key (service_id, id)
);
comment on table former_customer is
  'Customers whom the back office has no more, and who have left the list (docs/decisions/0015): what only we know of them, should they '
  'come back. What they bought stays where it is.';

create table erasure (
  service_id integer not null references service on delete cascade,
  customer_id text collate "C" not null,
  erased_at timestamptz not null default clock_timestamp(),
  done_at timestamptz,
  primary key (service_id, customer_id)
);
comment on table erasure is
  'Customers who were erased (docs/decisions/0015). The identifier is nobody''s any more: no import gives it to anybody, and what comes '
  'in later under it is nobody''s.';
comment on column erasure.erased_at is 'When they left the list, and no further write could be of them.';
comment on column erasure.done_at is 'When the last place that named them was emptied. Null: a job is about it.';

create function refuse_erased() returns trigger
language plpgsql as $$
begin
  if exists (select from added join erasure e on e.service_id = added.service_id and e.customer_id = added.id) then
    raise exception 'the customer was erased' using errcode = 'integrity_constraint_violation', constraint = 'customer_erased';
  end if;
  return null;
end $$;
comment on function refuse_erased is
  'Whoever was erased does not come back. Looked at after the row is there: by then an erasure that took away an earlier one is committed.';
create trigger customer_erased after insert on customer referencing new table as added for each statement execute function refuse_erased();

create table consent_change (
  service_id integer not null,
  customer_id text collate "C" not null,
  change bigint generated always as identity,
  channel text collate "C" not null check (channel in ('marketing', 'email', 'sms')),
  old_value boolean,
  new_value boolean not null check (new_value is distinct from old_value),
  at timestamptz not null default clock_timestamp(),
  username text not null,
  request_id text not null,
  primary key (service_id, customer_id, change)
);
comment on table consent_change is
  'What each customer has agreed to, change by change: the proof that consent was given, and when it was withdrawn. Only added to. '
  'Writes leave it; imports do not, having neither a user nor a request. It stays when a customer leaves, and goes when they are erased.';
comment on column consent_change.channel is '`marketing` is the inverse of the customer''s privacy.';
comment on column consent_change.old_value is 'Whether it was agreed to before. Null: the customer is new.';

create function refuse_consent_change() returns trigger
language plpgsql as $$
begin
  if tg_op = 'DELETE' and (not exists (select from service where service_id = old.service_id and not is_purgeable(service))
     or exists (select from erasure where service_id = old.service_id and customer_id = old.customer_id)) then
    return old;
  end if;
  raise exception 'the consent record is append-only';
end $$;
comment on function refuse_consent_change is 'What was agreed to is never changed, and never deleted unless the customer is erased, or the whole service goes.';
create trigger consent_change_append_only before update or delete on consent_change for each row execute function refuse_consent_change();
