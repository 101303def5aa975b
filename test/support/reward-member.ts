import assert from 'node:assert/strict'
import { Check } from 'typebox/value'
import { type Db, sql } from '../../src/database/db.ts'
import { RewardAccount } from '../../src/domain/rewards/rewards.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import {
  earnRewards,
  type LockedRewardAccount,
  lockRewardAccount,
  restoreRewards,
  reverseRewards,
} from '../../src/store/rewards/ledger.ts'
import { upsertPrograms, upsertRewardAccounts, upsertRewardLots } from '../../src/store/rewards/rewards.ts'
import type { Caller, TestApi } from './service.ts'

const program = { programId: '1', name: 'Retail Rewards' }
export const buildTier = (tierId: string, qualifySpend: string | null, overrides: object = {}) => ({
  program,
  tier: {
    programId: '1',
    tierId,
    name: `Tier ${tierId}`,
    sequence: Number(tierId),
    accrualSpend: '1.00',
    accrualPoints: 1,
    autoRewardPointThreshold: 300,
    autoRewardValue: '10.00',
    qualifySpend,
    qualifyMonths: 12,
    pointsExpiryMonths: 24,
    rewardExpiryMonths: 6,
    rewardExpiryDays: 1,
    ...overrides,
  },
})
const defaultTiers = [
  buildTier('1', '0.00'),
  buildTier('2', '500.00', { accrualPoints: 2 }),
  buildTier('3', '1500.00', { autoRewardValue: '15.00' }),
]

/** Creates a customer with a reward account in a new service. */
export async function createMember(
  api: TestApi,
  { tiers = defaultTiers, account = {}, timeZone = 'Australia/Melbourne' } = {},
) {
  const caller = await api.createService({ currency: 'AUD', timeZone, readsPerMinute: 'off' })
  const { service } = caller
  await upsertPrograms(api.db, service, tiers)
  await upsertCustomers(api.db, service, [{ id: 'c1', firstname: 'Ann', surname: 'Lee' }])
  await upsertRewardAccounts(api.db, service, [{ id: 'a1', customerId: 'c1', programId: '1', tierId: '1', ...account }])
  const changeLedger = (move: (tx: Db, account: LockedRewardAccount | undefined) => Promise<void>, db = api.db) =>
    db.transaction(async tx => move(tx, await lockRewardAccount(tx, service, 'c1')))
  return {
    shop: caller,
    service,
    earn: (orderNumber: string, amount: string, db = api.db) =>
      changeLedger((tx, locked) => earnRewards(tx, service, locked, { orderNumber, amount }), db),
    returnItems: (orderNumber: string, amount: string, db = api.db) =>
      changeLedger(
        (tx, locked) => reverseRewards(tx, service, locked, { orderNumber, returnNumber: `R-${orderNumber}`, amount }),
        db,
      ),
    cancelReturn: (orderNumber: string) =>
      changeLedger((tx, locked) =>
        restoreRewards(tx, service, locked, { orderNumber, returnNumber: `R-${orderNumber}` }),
      ),
    addLots: (...rows: object[]) =>
      upsertRewardLots(
        api.db,
        service,
        rows.map(row => ({ accountId: 'a1', kind: 'points', createdAt: '2026-01-05 10:00:00', ...row })),
      ),
    getAccount: () => getAccount(caller),
    listEntries: () => listEntries(api, service),
    checkLedger: () => checkLedger(api, caller),
    getToday: () => Temporal.Now.plainDateISO(timeZone).toString(),
  }
}

async function getAccount(caller: Caller): Promise<RewardAccount> {
  const { status, json } = await caller.get('/customers/c1/rewards')
  assert.equal(status, 200)
  assert.ok(Check(RewardAccount, json.data), JSON.stringify(json.data))
  return json.data
}

/** Formats a lot as `available of total`. */
export const formatLot = ({ available, total }: RewardAccount['points' | 'rewards'][number]) =>
  `${available} of ${total}`
/** Returns the available points and rewards, and the points to the next reward. */
export const getBalances = ({ availablePoints, availableRewards, pointsToNextReward }: RewardAccount) => [
  availablePoints,
  availableRewards,
  pointsToNextReward,
]
/** Returns the tier, the next tier, and the spend that is missing for it. */
export const getTierProgress = ({ tierId, nextTierId, spendToNextTier }: RewardAccount) => [
  tierId,
  nextTierId,
  spendToNextTier,
]

/** Lists the entries of an account's ledger, one line each. */
const listEntries = async (api: TestApi, service: Service) =>
  (
    await api.db.rows<{ text: string }>(sql`
      select concat_ws(' ', kind, trim_scale(amount), case when spend <> 0 then 'spend ' || trim_scale(spend) end, order_number, return_number) as text
        from reward_entry where service_id = ${service.id} order by entry`)
  ).map(({ text }) => text)

/** Asserts that balances are the sums of open lots, and that lots and debt are the sums of ledger entries. */
async function checkLedger(api: TestApi, caller: Caller) {
  const account = await getAccount(caller)
  const sum = (amounts: readonly (string | number)[]) =>
    amounts.reduce<number>((all, amount) => all + Math.round(Number(amount) * 100), 0)
  assert.equal(account.availablePoints * 100, sum(account.points.map(lot => lot.available)))
  assert.equal(sum([account.availableRewards]), sum(account.rewards.map(lot => lot.available)))
  for (const lot of [...account.points, ...account.rewards]) {
    assert.ok(Number(lot.available) >= 0)
    assert.equal(sum([lot.total]), sum([lot.redeemed, lot.pending, lot.available]))
  }
  const inconsistentLots = await api.db.rows(sql`
    select l.lot_id, l.total, l.consumed, e.* from reward_lot l
      left join lateral (select coalesce(sum(amount) filter (where amount > 0), 0) as granted, coalesce(-sum(amount) filter (where amount < 0), 0) as consumed,
                                bool_or(e.kind in ('earn', 'reward', 'restore', 'cancel')) as is_granted_here
                           from reward_entry e where (e.service_id, e.account_id, e.lot_kind, e.lot_id) = (l.service_id, l.account_id, l.kind, l.lot_id)) e on true
     where l.service_id = ${caller.service.id} and (l.consumed <> e.consumed or e.is_granted_here and l.total <> e.granted)`)
  assert.deepEqual(inconsistentLots, [], 'lots must match their ledger entries')
  const debt = await api.db.row<{ owed: string; ledger: string; earned: string; held: string }>(sql`
    select a.points_owed as owed,
           (select coalesce(sum(case kind when 'owe' then -amount when 'settle' then amount end), 0)::bigint from reward_entry where service_id = a.service_id) as ledger,
           (select coalesce(sum(amount) filter (where kind in ('earn', 'owe', 'cancel') or kind = 'reverse' and lot_kind = 'points'), 0)::bigint from reward_entry where service_id = a.service_id) as earned,
           (select coalesce(sum(amount) filter (where lot_kind = 'points'), 0) - coalesce(sum(amount) filter (where kind in ('convert', 'restore') or kind = 'redeem' and lot_kind = 'points'), 0)
              from reward_entry where service_id = a.service_id)::bigint - a.points_owed as held
      from reward_account a where service_id = ${caller.service.id}`)
  assert.equal(debt?.owed, debt?.ledger)
  assert.equal(debt?.earned, debt?.held, 'earned points must be held, converted or owed')
  if (Number(debt?.owed) > 0) assert.equal(account.availablePoints, 0)
  assert.ok(account.availablePoints < 300)
}
