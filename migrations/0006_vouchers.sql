-- Gift vouchers: those of the embedded back office, each with a ledger, and the state of vouchers in external back offices.

create table voucher (
  service_id integer not null,
  number text collate "C" not null,
  pin_hash bytea,
  state text collate "C" not null check (state in ('pending', 'active', 'locked', 'redeemed', 'expired', 'suspended')),
  currency text not null,
  original_amount numeric(16, 4) not null check (original_amount > 0),
  balance numeric(16, 4) not null check (balance >= 0),
  expiry_date date,
  locked_until timestamptz,
  locked_by text,
  validation_hash bytea,
  validated_until timestamptz,
  superseded_hashes bytea[] not null default '{}',
  created_at timestamptz not null default now(),
  imported_entry integer,
  import_digest bytea,
  primary key (service_id, number),
  constraint voucher_within_original check (balance <= original_amount),
  constraint voucher_imported check ((imported_entry is null) = (import_digest is null)),
  constraint voucher_validation check ((validation_hash is null) = (validated_until is null))
);
create index voucher_locked_by on voucher (service_id, locked_by, locked_until) where state = 'locked';
create index voucher_owed on voucher (service_id, currency) include (balance, expiry_date)
  where balance > 0 and state in ('active', 'locked', 'suspended');
create index voucher_expiring on voucher (service_id, expiry_date) where state in ('active', 'locked');
comment on table voucher is
  'Gift vouchers of the embedded back office. Only the ledger (voucher_entry) changes balance, state and lock. The passage of time changes '
  'no row: readers treat an expired lock as none and a voucher after its last day as expired, until the next entry or the daily job records '
  'it.';
comment on column voucher.pin_hash is 'Null: no PIN opens the voucher.';
comment on column voucher.state is 'The permitted transitions are a table in src/domain/vouchers.';
comment on column voucher.original_amount is 'Issued amount and later loads.';
comment on column voucher.balance is 'Remaining amount: the sum of the ledger, never negative.';
comment on column voucher.expiry_date is 'Last day of use. Null: it does not expire.';
comment on column voucher.locked_until is 'End of the lock, which prevents other sales from using the voucher.';
comment on column voucher.locked_by is 'Account that locked the voucher.';
comment on column voucher.validation_hash is 'Newest validation. Only this one opens the voucher for a lock or an order. Null: it has been used.';
comment on column voucher.validated_until is
  'End of the validation, 24 hours after it was created. A lock extends the validation that it was made with.';
comment on column voucher.superseded_hashes is 'Previous validations, newest first. Their use is reported as superseded instead of unknown.';
comment on column voucher.imported_entry is
  'Last entry that an import wrote. A later entry means that the voucher has changed here. Null: the voucher was issued here.';
comment on column voucher.import_digest is
  'Digest of the imported content, with the PIN as a hash. Importing the same content again changes nothing.';
comment on index voucher_locked_by is 'Counts the locks of an account, which are limited.';
comment on index voucher_expiring is 'For the daily job.';

create table voucher_entry (
  service_id integer not null,
  number text collate "C" not null,
  entry integer not null,
  kind text collate "C" not null
    check (kind in ('issue', 'activate', 'lock', 'unlock', 'redeem', 'load', 'refund', 'expire', 'suspend', 'resume')),
  amount numeric(16, 4) not null,
  state text collate "C" not null check (state in ('pending', 'active', 'locked', 'redeemed', 'expired', 'suspended')),
  locked_until timestamptz,
  locked_by text,
  order_number text,
  username text,
  api_key text,
  created_at timestamptz not null default clock_timestamp(),
  primary key (service_id, number, entry),
  foreign key (service_id, number) references voucher on delete cascade,
  constraint voucher_entry_locked check ((state = 'locked') = (locked_until is not null)),
  constraint voucher_entry_amount check
    (case when kind in ('issue', 'load', 'refund') then amount > 0 when kind = 'redeem' then amount < 0 else amount = 0 end)
);
comment on table voucher_entry is 'Ledger of vouchers: each action and the resulting state. Append-only.';
comment on column voucher_entry.entry is 'From 1.';
comment on column voucher_entry.amount is 'Negative if money was redeemed. Zero if the action moved no money.';
comment on column voucher_entry.state is 'State after the action. So are the lock and its owner.';
comment on column voucher_entry.username is 'Account of the write. Null: an import, or the passage of time.';
comment on column voucher_entry.api_key is 'Name of the API key of the write.';
comment on column voucher_entry.order_number is 'Order that the voucher paid, was refunded from, or was sold with.';

create function apply_voucher_entry() returns trigger
language plpgsql as $$
begin
  update voucher
     set balance = balance + new.amount,
         original_amount = original_amount + case when new.kind = 'load' then new.amount else 0 end,
         state = new.state, locked_until = new.locked_until, locked_by = new.locked_by
   where service_id = new.service_id and number = new.number;
  return null;
end $$;
comment on function apply_voucher_entry is 'Updates the voucher in the statement that adds the ledger entry.';
create trigger voucher_entry_applied after insert on voucher_entry for each row execute function apply_voucher_entry();

create function reject_voucher_entry_update() returns trigger
language plpgsql as $$
begin
  raise exception 'the voucher ledger is append-only';
end $$;
comment on function reject_voucher_entry_update is 'Rejects updates of ledger entries.';
create trigger voucher_entry_append_only before update on voucher_entry for each row execute function reject_voucher_entry_update();

create function reject_voucher_entry_delete() returns trigger
language plpgsql as $$
begin
  if exists (select from voucher where service_id = old.service_id and number = old.number)
     and not exists (select from service where service_id = old.service_id and is_purgeable(service)) then
    raise exception 'the voucher ledger is append-only';
  end if;
  return old;
end $$;
comment on function reject_voucher_entry_delete is 'Rejects deletions of ledger entries unless the voucher or the service is deleted.';
create trigger voucher_entry_kept before delete on voucher_entry for each row execute function reject_voucher_entry_delete();

create table voucher_sale (
  service_id integer not null,
  number text collate "C" not null,
  gateway text,                     -- Null: unknown.
  order_number text collate "C",
  sender_name text,
  receiver_name text,
  receiver_email text,
  mobile text,
  delivery_date date,
  billing_address jsonb,
  created_at timestamptz not null default now(),
  primary key (service_id, number),
  unique (service_id, order_number),
  foreign key (service_id, number) references voucher on delete cascade
);
create index voucher_sale_sender on voucher_sale (service_id, lower(sender_name));
create index voucher_sale_receiver on voucher_sale (service_id, lower(normalize(receiver_email, NFC)));
comment on table voucher_sale is 'Details of a voucher that was sold through the API. The message to the receiver is only in the email, encrypted.';
comment on column voucher_sale.order_number is 'Unique, so that a repeated request without an Idempotency-Key is rejected.';
comment on column voucher_sale.receiver_email is 'Null, like the other personal fields, if the person was erased.';
comment on column voucher_sale.mobile is 'Mobile number of the receiver.';
comment on column voucher_sale.delivery_date is 'The email is not sent before this day.';

create table pin_guard (
  service_id integer not null references service on delete cascade,
  subject bytea not null,
  failures integer not null,
  blocked_until timestamptz not null,
  primary key (service_id, subject)
);
create index pin_guard_blocked_until on pin_guard (service_id, blocked_until);
comment on table pin_guard is
  'Wrong PINs per voucher number, also of numbers that do not exist, so that callers cannot distinguish the two. A row is deleted with the '
  'right PIN, or after a day without attempts.';
comment on column pin_guard.subject is 'Hash of the number.';
comment on column pin_guard.failures is 'Consecutive wrong PINs.';
comment on column pin_guard.blocked_until is 'Until then every PIN is rejected. The block grows with each wrong PIN, up to a day.';

create table upstream_voucher (
  service_id integer not null references service on delete cascade,
  number text collate "C" not null,
  currency text not null,
  original_amount numeric(16, 4) not null,
  used_amount numeric(16, 4) not null,
  available_amount numeric(16, 4) not null,
  expiry_date date,
  validation_hash bytea,
  upstream_validation bytea,
  validated_until timestamptz,
  superseded_hashes bytea[] not null default '{}',
  locked_until timestamptz,
  locked_by text,
  primary key (service_id, number),
  constraint upstream_voucher_validation
    check ((validation_hash is null) = (validated_until is null) and (validation_hash is null) = (upstream_validation is null)),
  constraint upstream_voucher_locked check ((locked_until is null) = (locked_by is null))
);
create index upstream_voucher_locked_by on upstream_voucher (service_id, locked_by, locked_until) where locked_by is not null;
comment on table upstream_voucher is
  'Gift vouchers of an external back office: newest validation and lock. Such a back office ends the previous validation whenever a new one '
  'is requested, so it is only called for vouchers that no account has locked here. A row is deleted when it is no longer needed.';
comment on column upstream_voucher.original_amount is
  'Amounts that the back office returned at the newest validation, minus what was redeemed here since.';
comment on column upstream_voucher.validation_hash is 'Newest validation, by the ID that Tillbridge issued. Null: it has been used.';
comment on column upstream_voucher.upstream_validation is 'ID of the validation in the back office, encrypted.';
comment on column upstream_voucher.superseded_hashes is 'Previous validations, newest first.';
comment on column upstream_voucher.locked_until is 'End of the lock. The back office has been informed of it, or is about to be.';
comment on column upstream_voucher.locked_by is 'Account that locked the voucher.';
comment on index upstream_voucher_locked_by is 'Counts the locks of an account, which are limited.';

create table upstream_voucher_sale (
  service_id integer not null references service on delete cascade,
  order_number text collate "C" not null,
  order_id text collate "C",
  customer_id text collate "C",
  gateway text,
  amount numeric(16, 4) not null,
  currency text not null,
  created_at timestamptz not null default now(),
  primary key (service_id, order_number)
);
comment on table upstream_voucher_sale is
  'Vouchers that were sold as orders of an external back office, which creates number and PIN later and sends them only to the receiver.';
comment on column upstream_voucher_sale.order_id is
  'ID of the order in the back office. Null: the back office does not return it, or another order had the number.';
comment on column upstream_voucher_sale.customer_id is 'Receiver, as a customer of the back office.';
