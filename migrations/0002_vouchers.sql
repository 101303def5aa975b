-- Gift vouchers. A balance is the sum of an append-only ledger; that it never falls below zero is a constraint, not a check.
create table voucher (
  service_id integer not null references service on delete cascade,
  number text collate "C" not null,
  -- Keyed, so that a stolen dump gives away no PIN; null while the back office has not made one.
  pin_hash bytea,
  state text collate "C" not null check (state in ('pending', 'active', 'locked', 'redeemed', 'expired', 'suspended')),
  currency text not null,
  original_amount numeric(16, 4) not null check (original_amount > 0),
  balance numeric(16, 4) not null check (balance >= 0),
  expiry_date date,
  locked_until timestamptz,
  created_at timestamptz not null default now(),
  primary key (service_id, number)
);

create table voucher_entry (
  service_id integer not null,
  number text collate "C" not null,
  entry integer not null,
  kind text collate "C" not null check (kind in ('issue', 'redeem', 'refund', 'expire')),
  amount numeric(16, 4) not null,
  order_number text,
  created_at timestamptz not null default now(),
  primary key (service_id, number, entry),
  foreign key (service_id, number) references voucher on delete cascade
);

-- The balance follows the ledger, in the same statement.
create function apply_voucher_entry() returns trigger
language plpgsql as $$
begin
  update voucher set balance = balance + new.amount where service_id = new.service_id and number = new.number;
  return null;
end $$;
create trigger voucher_entry_applied after insert on voucher_entry for each row execute function apply_voucher_entry();

-- The ledger is only ever added to.
create function refuse_voucher_entry_change() returns trigger
language plpgsql as $$
begin
  raise exception 'the voucher ledger is append-only';
end $$;
create trigger voucher_entry_append_only before update on voucher_entry for each row execute function refuse_voucher_entry_change();

-- Wrong PINs, kept for numbers that exist and for numbers that do not, so that the two cannot be told apart.
create table pin_guard (
  service_id integer not null references service on delete cascade,
  subject bytea not null,
  failures integer not null,
  refused_until timestamptz not null,
  primary key (service_id, subject)
);
create index pin_guard_refused_until on pin_guard (service_id, refused_until);
