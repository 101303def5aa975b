-- What orders and returns did to the lots of reward accounts: an append-only ledger, which the lots follow in the same statement.
-- `redeemed` of a lot stays what the feeds say was used elsewhere; `taken` is what was used here, the sum of the ledger. So importing
-- the same file again neither gives back what was taken, nor takes it twice.
alter table reward_lot add column taken numeric(16, 4) not null default 0 check (taken >= 0);
alter table reward_lot drop constraint reward_lot_check;
alter table reward_lot add constraint reward_lot_check check (redeemed + taken + pending <= total);

-- Points of returned orders that were used up before they could be taken back; what is earned next settles them.
alter table reward_account add column points_owed bigint not null default 0 check (points_owed >= 0);

create table reward_entry (
  service_id integer not null,
  account_id text collate "C" not null,
  entry bigint generated always as identity,
  kind text collate "C" not null check (kind in ('earn', 'settle', 'convert', 'reward', 'return', 'reverse', 'restore', 'owe', 'cancel')),
  lot_kind text collate "C",
  lot_id text collate "C",
  -- The reward that converted points have become.
  into_lot_id text collate "C",
  -- What the lot is given, or less than zero: what is taken from it.
  amount numeric(16, 4) not null,
  -- What an order cost, or less than zero: what came back of it.
  spend numeric(16, 4) not null default 0,
  order_number text collate "C" not null,
  return_number text collate "C",
  created_at timestamptz not null default now(),
  check ((lot_kind is null) = (lot_id is null)),
  primary key (service_id, account_id, entry),
  foreign key (service_id, account_id) references reward_account on delete cascade,
  foreign key (service_id, account_id, lot_kind, lot_id) references reward_lot on delete cascade
);
create index reward_entry_order on reward_entry (service_id, account_id, order_number);
create index reward_entry_lot on reward_entry (service_id, account_id, lot_kind, lot_id);
create index reward_entry_into on reward_entry (service_id, account_id, into_lot_id) where into_lot_id is not null;

create function apply_reward_entry() returns trigger
language plpgsql as $$
begin
  if new.lot_id is not null then
    update reward_lot set total = total + greatest(new.amount, 0), taken = taken - least(new.amount, 0)
     where service_id = new.service_id and account_id = new.account_id and kind = new.lot_kind and lot_id = new.lot_id;
  end if;
  if new.kind in ('owe', 'settle') then
    update reward_account set points_owed = points_owed + case new.kind when 'owe' then -new.amount else new.amount end
     where service_id = new.service_id and id = new.account_id;
  end if;
  return null;
end $$;
create trigger reward_entry_applied after insert on reward_entry for each row execute function apply_reward_entry();

create function refuse_reward_entry_change() returns trigger
language plpgsql as $$
begin
  raise exception 'the reward ledger is append-only';
end $$;
create trigger reward_entry_append_only before update on reward_entry for each row execute function refuse_reward_entry_change();
