-- Gift vouchers that a back office behind us keeps: whose validation of one is the newest, and who holds it. Such a back office ends the
-- validation before when it is asked for the next one, whoever asks; so it is only asked for a voucher that nobody holds here.
create table upstream_voucher (
  service_id integer not null references service on delete cascade,
  number text collate "C" not null,
  -- What the back office said when the voucher was validated last, less what was drawn since.
  currency text not null,
  original_amount numeric(16, 4) not null,
  used_amount numeric(16, 4) not null,
  available_amount numeric(16, 4) not null,
  expiry_date date,
  -- The newest validation, by its keyed hash; what the back office calls it, encrypted; and those it took the place of, the newest first.
  validation_hash bytea,
  upstream_validation bytea,
  validated_until timestamptz,
  superseded_hashes bytea[] not null default '{}',
  locked_until timestamptz,
  -- The account that holds it.
  held_by text,
  primary key (service_id, number),
  constraint upstream_voucher_validation
    check ((validation_hash is null) = (validated_until is null) and (validation_hash is null) = (upstream_validation is null)),
  constraint upstream_voucher_locked check ((locked_until is null) = (held_by is null))
);
-- The open locks of an account.
create index upstream_voucher_held on upstream_voucher (service_id, held_by, locked_until) where held_by is not null;

-- Vouchers that were sold as orders of such a back office, which makes number and PIN later and tells nobody but the receiver.
create table upstream_voucher_sale (
  service_id integer not null references service on delete cascade,
  order_number text collate "C" not null,
  -- As the back office knows the order and whom it is for; null where it does not tell, or has an order of somebody else's by this number.
  order_id text collate "C",
  customer_id text collate "C",
  gateway text not null,
  amount numeric(16, 4) not null,
  currency text not null,
  created_at timestamptz not null default now(),
  primary key (service_id, order_number)
);
