-- Gift vouchers: our own, each with a ledger, and what is known of those that a back office behind us keeps.

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
  'Gift vouchers of the embedded back office. Balance, state and lock follow the ledger (voucher_entry), and nothing else changes them. '
  'Time alone moves no row: until the next step, or the daily job, writes it down, whoever reads a voucher takes a lock that has run out '
  'for none, and a voucher past its last day for expired.';
comment on column voucher.pin_hash is 'Null: no PIN opens it.';
comment on column voucher.state is 'Which step leads from one to another is a table of src/domain.';
comment on column voucher.balance is 'What can still be drawn: the sum of the ledger, and never below zero.';
comment on column voucher.expiry_date is 'The last day on which it can be used. Null: it never expires.';
comment on column voucher.locked_until is 'Until when somebody holds it, so that no other sale can draw on it.';
comment on column voucher.locked_by is 'The account that holds it.';
comment on column voucher.validation_hash is 'The newest validation: only it opens the voucher, for a lock or an order. Null once it is spent.';
comment on column voucher.validated_until is 'For 24 hours; a lock keeps the validation that it was made with alive for longer.';
comment on column voucher.superseded_hashes is
  'The validations before, the newest first: who comes with one is told that it opens nothing any more, and not that it never did.';
comment on column voucher.imported_entry is
  'The last entry that an import wrote: with a later one, something has happened to the voucher here. Null: it was issued here.';
comment on column voucher.import_digest is 'Of what the import said, the PIN by its hash: who says it again changes nothing.';
comment on index voucher_locked_by is 'How many an account holds: there is a limit.';
comment on index voucher_expiring is 'What the daily job looks at.';

create table voucher_entry (
  service_id integer not null,
  number text collate "C" not null,
  entry integer not null,
  kind text collate "C" not null
    check (kind in ('issue', 'activate', 'lock', 'unlock', 'redeem', 'refund', 'expire', 'suspend', 'resume')),
  amount numeric(16, 4) not null,
  state text collate "C" not null check (state in ('pending', 'active', 'locked', 'redeemed', 'expired', 'suspended')),
  locked_until timestamptz,
  locked_by text,
  order_number text,
  created_at timestamptz not null default clock_timestamp(),
  primary key (service_id, number, entry),
  foreign key (service_id, number) references voucher on delete cascade,
  constraint voucher_entry_locked check ((state = 'locked') = (locked_until is not null)),
  constraint voucher_entry_amount check
    (case kind when 'issue' then amount > 0 when 'refund' then amount > 0 when 'redeem' then amount < 0 else amount = 0 end)
);
comment on table voucher_entry is 'The ledger of a voucher: each step that it took, and what that led to. Only added to.';
comment on column voucher_entry.entry is 'From 1 on.';
comment on column voucher_entry.amount is 'Below zero for what was drawn; zero for a step that moves no money.';
comment on column voucher_entry.state is 'After the step; so are the lock and its holder.';
comment on column voucher_entry.order_number is 'The order that drew on it, or was given back to it, or that it was sold with.';

create function apply_voucher_entry() returns trigger
language plpgsql as $$
begin
  update voucher
     set balance = balance + new.amount, state = new.state, locked_until = new.locked_until, locked_by = new.locked_by
   where service_id = new.service_id and number = new.number;
  return null;
end $$;
comment on function apply_voucher_entry is 'Lets the voucher follow its ledger, in the statement that adds the entry.';
create trigger voucher_entry_applied after insert on voucher_entry for each row execute function apply_voucher_entry();

create function refuse_voucher_entry_change() returns trigger
language plpgsql as $$
begin
  raise exception 'the voucher ledger is append-only';
end $$;
comment on function refuse_voucher_entry_change is 'An entry of a voucher''s ledger is never changed.';
create trigger voucher_entry_append_only before update on voucher_entry for each row execute function refuse_voucher_entry_change();

create function refuse_voucher_entry_delete() returns trigger
language plpgsql as $$
begin
  if exists (select from voucher where service_id = old.service_id and number = old.number)
     and not exists (select from service where service_id = old.service_id and is_purgeable(service)) then
    raise exception 'the voucher ledger is append-only';
  end if;
  return old;
end $$;
comment on function refuse_voucher_entry_delete is 'An entry goes with its voucher, or with the whole service.';
create trigger voucher_entry_kept before delete on voucher_entry for each row execute function refuse_voucher_entry_delete();

create table voucher_sale (
  service_id integer not null,
  number text collate "C" not null,
  gateway text,                     -- Null: nobody said how it was paid.
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
comment on table voucher_sale is
  'What was said when a voucher was bought through the API. The words to its receiver are not here but in the mail, encrypted.';
comment on column voucher_sale.order_number is 'An order is sold once: that there is one by this number refuses a repeat without an Idempotency-Key.';
comment on column voucher_sale.receiver_email is 'Null, as the others that name somebody: they were erased.';
comment on column voucher_sale.mobile is 'The receiver''s.';
comment on column voucher_sale.delivery_date is 'The receiver is told nothing before this day.';

create table pin_guard (
  service_id integer not null references service on delete cascade,
  subject bytea not null,
  failures integer not null,
  refused_until timestamptz not null,
  primary key (service_id, subject)
);
create index pin_guard_refused_until on pin_guard (service_id, refused_until);
comment on table pin_guard is
  'Wrong PINs, for numbers that exist and for numbers that do not, so that the two cannot be told apart. They are forgotten with the '
  'right PIN, or when nobody has tried for a day.';
comment on column pin_guard.subject is 'The hash of the number.';
comment on column pin_guard.failures is 'In a row.';
comment on column pin_guard.refused_until is 'Until then no PIN opens the number: after some wrong ones, for longer with each, a day at most.';

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
  'Gift vouchers that a back office behind us keeps: whose validation of one is the newest, and who holds it. Such a back office ends the '
  'validation before when it is asked for the next one, whoever asks; so it is only asked for a voucher that nobody holds here. A row '
  'goes when nobody can have any use for it.';
comment on column upstream_voucher.original_amount is 'The amounts: what the back office said at the newest validation, less what was drawn here since.';
comment on column upstream_voucher.validation_hash is 'The newest validation, by the id that we gave. Null once it is spent.';
comment on column upstream_voucher.upstream_validation is 'What the back office calls it, encrypted.';
comment on column upstream_voucher.superseded_hashes is 'The validations before, the newest first.';
comment on column upstream_voucher.locked_until is 'Our lock; the back office has been told of it, or is about to be.';
comment on column upstream_voucher.locked_by is 'The account that holds it.';
comment on index upstream_voucher_locked_by is 'How many an account holds: there is a limit.';

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
  'Vouchers that were sold as orders of a back office behind us, which makes number and PIN later and tells nobody but the receiver.';
comment on column upstream_voucher_sale.order_id is 'What the back office calls the order. Null where it does not tell, or where another order turned out to have the number.';
comment on column upstream_voucher_sale.customer_id is 'The receiver, as the back office knows them.';
