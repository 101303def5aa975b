-- What each customer has agreed to, change by change: the proof that consent was given, and when it was withdrawn.
create table consent_change (
  service_id integer not null references service on delete cascade,
  customer_id text collate "C" not null,
  change bigint generated always as identity,
  -- `marketing` is the inverse of the customer's privacy.
  channel text collate "C" not null check (channel in ('marketing', 'email', 'sms')),
  -- Whether it was agreed to before (null: the customer is new) and is now.
  old_value boolean,
  new_value boolean not null check (new_value is distinct from old_value),
  at timestamptz not null default clock_timestamp(),
  username text not null,
  request_id text not null,
  primary key (service_id, customer_id, change)
);

-- The record is only ever added to; it goes with its service, and not with a customer.
create function refuse_consent_change() returns trigger
language plpgsql as $$
begin
  if tg_op = 'DELETE' and not exists (select from service where service_id = old.service_id) then
    return old;
  end if;
  raise exception 'the consent record is append-only';
end $$;
create trigger consent_change_append_only before update or delete on consent_change for each row execute function refuse_consent_change();

-- An accent may be written as one character or as two (NFC, NFD): to who reads it, it is one e-mail address.
drop index customer_email;
create unique index customer_email on customer (service_id, lower(normalize(email, NFC)));
