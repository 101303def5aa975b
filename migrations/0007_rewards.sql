-- Rewards: programmes with their tiers and gifts, and what each customer has of points, rewards and gifts.
--
-- Programmes, accounts and lots come by feeds. What is earned and taken back here, with the embedded back office, is a ledger of its own
-- (reward_entry): importing the same file again neither gives back what was taken, nor takes it twice.

create table reward_program (
  service_id integer not null references service on delete cascade,
  program_id text collate "C" not null,
  name text not null,
  description text,
  primary key (service_id, program_id)
);
comment on table reward_program is 'Rewards programmes, as GET /rewards/programs shows them.';

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
  'The tiers of a programme: what is earned in each, and what it takes to be in it. A span of months and days counts the months first; '
  'of nothing, or of zero, sets no limit.';
comment on column reward_tier.sequence is 'The lowest tier first.';
comment on column reward_tier.accrual_spend is 'Each time that so much is spent ...';
comment on column reward_tier.accrual_points is '... so many points are earned.';
comment on column reward_tier.auto_reward_point_threshold is 'Of so many points ...';
comment on column reward_tier.auto_reward_value is '... a reward of this value is made.';
comment on column reward_tier.qualify_spend is 'What has to be spent to reach the tier. Null: it is not reached by spending, nor lost by it.';
comment on column reward_tier.qualify_months is 'The span for which the tier is kept, whatever is spent.';
comment on column reward_tier.points_expiry_months is 'The span for which points that are earned can be used.';
comment on column reward_tier.reward_expiry_months is 'The span for which a reward that is made can be used.';

create table reward_gift (
  service_id integer not null,
  program_id text collate "C" not null,
  gift_id text collate "C" not null,
  name text not null,
  styles text[] not null default '{}',
  primary key (service_id, program_id, gift_id),
  foreign key (service_id, program_id) references reward_program on delete cascade
);
comment on table reward_gift is 'What a gift lot of an account can be.';
comment on column reward_gift.styles is 'The product codes that the shopper may choose from.';

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
  'A customer''s account in a programme, as GET /customers/:id/rewards shows it. Balances are the sums of its open lots. Who moves its '
  'points holds this row first: moves come one after the other.';
comment on column reward_account.changed_at is 'The stamp: also of its lots, and of what else it shows. That a lot expires is no change.';
comment on column reward_account.customer_id is 'A customer when it came, who may have left the list since: no foreign key.';
comment on column reward_account.tier_locked_until_date is 'The tier is kept until this day, whatever is spent.';
comment on column reward_account.qualifying_spend is 'What was spent in the qualifying period: it decides on the tier.';
comment on column reward_account.points_owed is
  'Points of returned orders that were used up before they could be taken back. What is earned next settles them.';

create table reward_lot (
  service_id integer not null,
  account_id text collate "C" not null,
  kind text collate "C" not null check (kind in ('points', 'reward', 'gift')),
  lot_id text collate "C" not null,
  created_at timestamp not null,
  description text,
  total numeric(16, 4) not null check (total >= 0),
  redeemed numeric(16, 4) not null default 0 check (redeemed >= 0),
  taken numeric(16, 4) not null default 0 check (taken >= 0),
  pending numeric(16, 4) not null default 0 check (pending >= 0),
  gift_id text collate "C",
  expiry_date date,
  check (redeemed + taken + pending <= total),
  primary key (service_id, account_id, kind, lot_id),
  foreign key (service_id, account_id) references reward_account on delete cascade
);
comment on table reward_lot is
  'What an account was given at one time, with an expiry of its own. What is left of it: total less redeemed, taken and pending. '
  'Of those that are open what expires first is used first.';
comment on column reward_lot.description is 'Why it was given, in words.';
comment on column reward_lot.total is 'Points, or the value of a reward; 1 for a gift.';
comment on column reward_lot.redeemed is 'What was used elsewhere, as the feeds tell it.';
comment on column reward_lot.taken is 'What was taken here: the sum of the ledger, which no feed touches.';
comment on column reward_lot.pending is 'What is about to be used, as the feeds tell it.';
comment on column reward_lot.expiry_date is 'The last day on which it can be used. Null: it never expires.';

create table reward_entry (
  service_id integer not null,
  account_id text collate "C" not null,
  entry bigint generated always as identity,
  kind text collate "C" not null check (kind in ('earn', 'settle', 'convert', 'reward', 'return', 'reverse', 'restore', 'owe', 'cancel')),
  lot_kind text collate "C",
  lot_id text collate "C",
  into_lot_id text collate "C",
  amount numeric(16, 4) not null,
  spend numeric(16, 4) not null default 0,
  not_taken numeric(16, 4) not null default 0,
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
comment on table reward_entry is 'The ledger of a reward account: what orders and returns did to its lots. Entries are not changed; the lots follow them.';
comment on column reward_entry.kind is
  'earn: an order has earned points. settle: points that were owed are taken. convert: points become a reward. reward: that reward. '
  'return: part of an order came back. reverse: points, or an unused reward, are taken back for it. restore: the points of that reward '
  'are given again. owe: points that could not be taken back. cancel: the return is cancelled, and what it took is given again.';
comment on column reward_entry.lot_id is 'The lot that is filled or emptied. Null: the entry moves no lot.';
comment on column reward_entry.into_lot_id is 'The reward that converted points have become.';
comment on column reward_entry.amount is 'Points, or value, that the lot is given; below zero, what is taken from it, or owed.';
comment on column reward_entry.spend is 'What an order cost, which counts towards the next tier; below zero, what came back of it.';
comment on column reward_entry.not_taken is
  'What of the spend that came back the account had no more, since a feed had begun it anew; below zero, where the return is cancelled: '
  'that gives again what was taken.';

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
comment on function apply_reward_entry is 'Lets lots, and what is owed, follow the ledger, in the statement that adds the entry.';
create trigger reward_entry_applied after insert on reward_entry for each row execute function apply_reward_entry();

create function refuse_reward_entry_change() returns trigger
language plpgsql as $$
begin
  raise exception 'the reward ledger is append-only';
end $$;
comment on function refuse_reward_entry_change is
  'An entry of a reward ledger is never changed. Nothing keeps it from being deleted: it goes with its lot or its account.';
create trigger reward_entry_append_only before update on reward_entry for each row execute function refuse_reward_entry_change();
