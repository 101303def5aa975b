-- Rewards: programs with tiers and gifts, and each customer's points, rewards and gifts.
--
-- Programs, accounts and lots come from syncs and imports. The embedded back office records earned and reversed points in a separate ledger
-- (reward_entry). Therefore importing the same file again neither restores consumed points nor consumes them twice.

create table reward_program (
  service_id integer not null references service on delete cascade,
  program_id text collate "C" not null,
  name text not null,
  description text,
  primary key (service_id, program_id)
);
comment on table reward_program is 'Rewards programs, as GET /rewards/programs shows them.';

create table reward_tier (
  service_id integer not null,
  program_id text collate "C" not null,
  tier_id text collate "C" not null,
  name text not null,
  sequence integer not null,
  accrual_spend numeric(16, 4),
  accrual_points integer,
  auto_reward_point_threshold integer,
  auto_reward_value numeric(16, 4),
  qualify_spend numeric(16, 4),
  qualify_months integer,
  qualify_days integer,
  points_expiry_months integer,
  points_expiry_days integer,
  reward_expiry_months integer,
  reward_expiry_days integer,
  primary key (service_id, program_id, tier_id),
  foreign key (service_id, program_id) references reward_program on delete cascade
);
comment on table reward_tier is
  'Tiers of a program: earning rate and qualification. A period of months and days counts the months first. A period of null or zero is '
  'unlimited.';
comment on column reward_tier.sequence is 'Order of the tiers, lowest first.';
comment on column reward_tier.accrual_spend is 'Amount that earns accrual_points.';
comment on column reward_tier.accrual_points is 'Points earned per accrual_spend.';
comment on column reward_tier.auto_reward_point_threshold is 'Points that are converted into a reward.';
comment on column reward_tier.auto_reward_value is 'Value of that reward.';
comment on column reward_tier.qualify_spend is 'Spend that reaches the tier. Null: spend neither reaches nor keeps it.';
comment on column reward_tier.qualify_months is 'Period for which the tier is kept, whatever is spent.';
comment on column reward_tier.points_expiry_months is 'Period in which earned points can be used.';
comment on column reward_tier.reward_expiry_months is 'Period in which a reward can be used.';

create table reward_gift (
  service_id integer not null,
  program_id text collate "C" not null,
  gift_id text collate "C" not null,
  name text not null,
  styles text[] not null default '{}',
  primary key (service_id, program_id, gift_id),
  foreign key (service_id, program_id) references reward_program on delete cascade
);
comment on table reward_gift is 'Gifts that a gift lot of an account can refer to.';
comment on column reward_gift.styles is 'Product codes that the shopper can choose from.';

create table reward_account (
  service_id integer not null,
  id text collate "C" not null,
  changed_at timestamptz not null,
  customer_id text collate "C" not null,
  program_id text collate "C" not null,
  tier_id text collate "C",
  tier_locked_until_date date,
  join_date date,
  qualifying_spend numeric(16, 4) not null default 0,
  points_owed bigint not null default 0 check (points_owed >= 0),
  primary key (service_id, id),
  unique (service_id, customer_id),
  foreign key (service_id, program_id) references reward_program on delete cascade,
  foreign key (service_id, program_id, tier_id) references reward_tier
);
create index reward_account_changed on reward_account (service_id, changed_at, id);
comment on table reward_account is
  'A customer''s account in a program, as GET /customers/:id/rewards shows it. Balances are the sums of its open lots. Transactions that '
  'move points lock this row first, so that they run one after another.';
comment on column reward_account.changed_at is
  'Change timestamp, also of its lots and of everything else in the record. The expiry of a lot is not a change.';
comment on column reward_account.customer_id is
  'Customer when the account was loaded. No foreign key, because they may have left the list.';
comment on column reward_account.tier_locked_until_date is 'The tier is kept until this day, whatever is spent.';
comment on column reward_account.qualifying_spend is 'Spend in the qualifying period, which decides the tier.';
comment on column reward_account.points_owed is
  'Points of returned orders that were used before they could be taken back. Points earned next are offset against them.';

create table reward_lot (
  service_id integer not null,
  account_id text collate "C" not null,
  kind text collate "C" not null check (kind in ('points', 'reward', 'gift')),
  lot_id text collate "C" not null,
  created_at timestamp not null,
  description text,
  total numeric(16, 4) not null check (total >= 0),
  redeemed numeric(16, 4) not null default 0 check (redeemed >= 0),
  consumed numeric(16, 4) not null default 0 check (consumed >= 0),
  pending numeric(16, 4) not null default 0 check (pending >= 0),
  gift_id text collate "C",
  expiry_date date,
  check (redeemed + consumed + pending <= total),
  primary key (service_id, account_id, kind, lot_id),
  foreign key (service_id, account_id) references reward_account on delete cascade
);
comment on table reward_lot is
  'Points, a reward or a gift that an account received at one time, with its own expiry. Available: total less redeemed, consumed and '
  'pending. Open lots are used in the order of their expiry.';
comment on column reward_lot.description is 'Why it was granted, as text.';
comment on column reward_lot.total is 'Points, or the value of a reward; 1 for a gift.';
comment on column reward_lot.redeemed is 'Used elsewhere, according to the back office.';
comment on column reward_lot.consumed is 'Used or taken back here: the sum of the ledger. No sync changes it.';
comment on column reward_lot.pending is 'Reserved for use, according to the back office.';
comment on column reward_lot.expiry_date is 'Last day of use. Null: it does not expire.';

create table reward_entry (
  service_id integer not null,
  account_id text collate "C" not null,
  entry bigint generated always as identity,
  kind text collate "C" not null check (kind in ('earn', 'settle', 'convert', 'reward', 'return', 'reverse', 'restore', 'owe', 'cancel', 'redeem')),
  lot_kind text collate "C",
  lot_id text collate "C",
  into_lot_id text collate "C",
  amount numeric(16, 4) not null,
  spend numeric(16, 4) not null default 0,
  unrecovered_spend numeric(16, 4) not null default 0,
  order_number text collate "C",
  return_number text collate "C",
  request_id uuid,
  created_at timestamptz not null default now(),
  check ((lot_kind is null) = (lot_id is null)),
  check (kind <> 'redeem' or request_id is not null),
  check (kind in ('redeem', 'settle') or request_id is null),
  check ((order_number is null) = (request_id is not null)),
  primary key (service_id, account_id, entry),
  foreign key (service_id, account_id) references reward_account on delete cascade,
  foreign key (service_id, account_id, lot_kind, lot_id) references reward_lot on delete cascade
);
create index reward_entry_order on reward_entry (service_id, account_id, order_number);
create index reward_entry_lot on reward_entry (service_id, account_id, lot_kind, lot_id);
create index reward_entry_into on reward_entry (service_id, account_id, into_lot_id) where into_lot_id is not null;
comment on table reward_entry is
  'Ledger of reward accounts: effects of orders and returns on lots. Append-only; a trigger updates the lots.';
comment on column reward_entry.kind is
  '`earn`: an order earned points. `settle`: owed points were taken from a lot. `convert`: points became a reward. `reward`: that reward. `return`: '
  'part of an order was returned. `reverse`: points or an unused reward are taken back for it. `restore`: the points of that reward are '
  'granted again. `owe`: points that could not be taken back. `cancel`: the return was cancelled, and its points are granted again. '
  '`redeem`: a redemption was confirmed.';
comment on column reward_entry.order_number is 'Null for a redemption, which has a request_id.';
comment on column reward_entry.request_id is
  'Redemption that debits the lot. `settle`: the redemption that has ended without using its points, so that they pay what is owed.';
comment on column reward_entry.lot_id is 'Lot that is credited or debited. Null: the entry changes no lot.';
comment on column reward_entry.into_lot_id is 'Reward that the points were converted into.';
comment on column reward_entry.amount is 'Points or value credited to the lot; negative if debited, or owed.';
comment on column reward_entry.spend is 'Amount of an order that counts towards the next tier; negative for a return.';
comment on column reward_entry.unrecovered_spend is
  'Part of the returned spend that the account no longer had, because a sync had reset it. Negative if the return is cancelled.';

create function apply_reward_entry() returns trigger
language plpgsql as $$
begin
  if new.lot_id is not null then
    update reward_lot set total = total + greatest(new.amount, 0), consumed = consumed - least(new.amount, 0)
     where service_id = new.service_id and account_id = new.account_id and kind = new.lot_kind and lot_id = new.lot_id;
  end if;
  if new.kind in ('owe', 'settle') then
    update reward_account set points_owed = points_owed + case new.kind when 'owe' then -new.amount else new.amount end
     where service_id = new.service_id and id = new.account_id;
  end if;
  return null;
end $$;
comment on function apply_reward_entry is 'Updates lots and owed points in the statement that adds the ledger entry.';
create trigger reward_entry_applied after insert on reward_entry for each row execute function apply_reward_entry();

create function reject_reward_entry_update() returns trigger
language plpgsql as $$
begin
  raise exception 'the reward ledger is append-only';
end $$;
comment on function reject_reward_entry_update is
  'Rejects updates of ledger entries. Deletion is permitted: an entry is deleted with its lot or account.';
create trigger reward_entry_append_only before update on reward_entry for each row execute function reject_reward_entry_update();

create table reward_redemption (
  service_id integer not null references service on delete cascade,
  request_id uuid not null,
  account_id text collate "C" not null,
  lot_kind text collate "C" not null check (lot_kind in ('points', 'reward')),
  amount numeric(16, 4) not null check (amount > 0),
  status text collate "C" not null check (status in ('submitting', 'pending', 'confirming', 'cancelling', 'confirmed', 'cancelled', 'expired')),
  username text not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  primary key (service_id, request_id)
);
create index reward_redemption_account on reward_redemption (service_id, account_id);
create index reward_redemption_username on reward_redemption (service_id, username, expires_at) where status not in ('confirmed', 'cancelled', 'expired');
create index reward_redemption_expires on reward_redemption (expires_at) where status not in ('confirmed', 'cancelled', 'expired');
comment on table reward_redemption is
  'Points or rewards that a client has reserved, by the request ID of the client. Changed only while the reward account is locked, or under '
  'the write lock of the request ID if another back office keeps the account. Therefore account_id has no foreign key.';
comment on column reward_redemption.status is
  '`submitting`, `confirming` and `cancelling`: the request to the back office is in flight or its outcome is unknown. A pending redemption '
  'past expires_at reserves nothing, even before the job marks it as expired.';
comment on column reward_redemption.username is 'Account that made the redemption. Its pending redemptions are limited.';
comment on index reward_redemption_account is 'For the erasure of a customer.';
comment on index reward_redemption_expires is 'For the job that ends redemptions.';

create table reward_redemption_part (
  service_id integer not null,
  account_id text collate "C" not null,
  lot_kind text collate "C" not null,
  lot_id text collate "C" not null,
  request_id uuid not null,
  amount numeric(16, 4) not null check (amount > 0),
  primary key (service_id, account_id, lot_kind, lot_id, request_id),
  foreign key (service_id, request_id) references reward_redemption on delete cascade,
  foreign key (service_id, account_id, lot_kind, lot_id) references reward_lot on delete cascade
);
create index reward_redemption_part_request on reward_redemption_part (service_id, request_id);
comment on table reward_redemption_part is
  'Amounts that pending redemptions have reserved from lots. Deleted when the redemption ends: confirmed amounts are entries of the ledger.';
