-- Holding a gift voucher. A voucher's state follows its ledger, as its balance does: each step is an entry, and says what it leads to.
alter table voucher
  -- The newest validation, by its keyed hash, and the ones it took the place of, the newest first.
  add column validation_hash bytea,
  add column validated_until timestamptz,
  add column superseded_hashes bytea[] not null default '{}',
  -- The account that holds it.
  add column held_by text,
  add constraint voucher_within_original check (balance <= original_amount),
  add constraint voucher_validation check ((validation_hash is null) = (validated_until is null));

-- The open locks of an account.
create index voucher_held on voucher (service_id, held_by, locked_until) where state = 'locked';
-- What the daily job has to look at.
create index voucher_expiring on voucher (service_id, expiry_date) where state in ('active', 'locked');

alter table voucher_entry
  drop constraint voucher_entry_kind_check,
  add constraint voucher_entry_kind_check
    check (kind in ('issue', 'activate', 'lock', 'unlock', 'redeem', 'refund', 'expire', 'suspend', 'resume')),
  alter column created_at set default clock_timestamp(),
  add column state text collate "C",
  add column locked_until timestamptz,
  add column held_by text;

-- What earlier versions have written: an issue, what was drawn since, and nothing of a suspension.
alter table voucher_entry disable trigger user;
update voucher_entry set entry = 3 where kind = 'redeem';
insert into voucher_entry (service_id, number, entry, kind, amount, locked_until, created_at)
select service_id, number, 2, 'lock', 0, created_at, created_at from voucher_entry where kind = 'redeem';
insert into voucher_entry (service_id, number, entry, kind, amount)
select service_id, number, 4, 'suspend', 0 from voucher where state = 'suspended';
update voucher_entry e
   set state = case e.kind when 'lock' then 'locked' when 'suspend' then 'suspended'
                           else case when e.kind = 'redeem' and v.state = 'redeemed' then 'redeemed' else 'active' end end
  from voucher v where v.service_id = e.service_id and v.number = e.number;
alter table voucher_entry enable trigger user;

alter table voucher_entry
  alter column state set not null,
  add constraint voucher_entry_state_check check (state in ('pending', 'active', 'locked', 'redeemed', 'expired', 'suspended')),
  add constraint voucher_entry_locked check ((state = 'locked') = (locked_until is not null)),
  add constraint voucher_entry_amount check
    (case kind when 'issue' then amount > 0 when 'refund' then amount > 0 when 'redeem' then amount < 0 else amount = 0 end);

-- Balance and state follow the ledger, in the same statement.
create or replace function apply_voucher_entry() returns trigger
language plpgsql as $$
begin
  update voucher
     set balance = balance + new.amount, state = new.state, locked_until = new.locked_until, held_by = new.held_by
   where service_id = new.service_id and number = new.number;
  return null;
end $$;

-- An entry goes with its voucher only, and that with its service.
create function refuse_voucher_entry_delete() returns trigger
language plpgsql as $$
begin
  if exists (select from voucher where service_id = old.service_id and number = old.number) then
    raise exception 'the voucher ledger is append-only';
  end if;
  return old;
end $$;
create trigger voucher_entry_kept before delete on voucher_entry for each row execute function refuse_voucher_entry_delete();

-- What was said when a voucher was bought through the API. What its receiver is told stands encrypted, with the mail.
create table voucher_sale (
  service_id integer not null,
  number text collate "C" not null,
  gateway text not null,
  order_number text collate "C",
  sender_name text not null,
  receiver_name text not null,
  receiver_email text not null,
  mobile text,
  delivery_date date,
  billing_address jsonb not null,
  created_at timestamptz not null default now(),
  primary key (service_id, number),
  unique (service_id, order_number),
  foreign key (service_id, number) references voucher on delete cascade
);
