import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countRows, type SyncFixture, startSyncFixtureFor } from './sync-fixture.ts'

const listAccountIds = ({ simulator }: SyncFixture) => [...simulator.state.accounts.keys()].sort(compareAsText)
const compareAsText = (a: number, b: number) => (String(a) < String(b) ? -1 : 1)
const countAccounts = (fixture: SyncFixture, id: number) => countRows(fixture, 'reward_account', `id = '${id}'`)
const countTombstones = (fixture: SyncFixture, id: number) =>
  countRows(fixture, 'tombstone', `kind = 'reward-account' and id = '${id}'`)
const makeAllDue = ({ shop }: SyncFixture) =>
  shop.queryRows(`update sync_refresh set due = true where sync = 'reward-accounts'`)

test('an account missing upstream is removed and later ones are stored', async t => {
  const fixture = await startSyncFixtureFor(t)
  await fixture.syncAll()
  const [removed = 0, ...otherIds] = listAccountIds(fixture)
  const last = otherIds.at(-1) ?? 0
  fixture.simulator.state.accounts.delete(removed)
  fixture.simulator.change({ kind: 'edit-account', id: last, fields: { joined: '2020-02-02' } })
  await makeAllDue(fixture)
  const result = await fixture.sync('reward-accounts')
  assert.equal(result?.removed, 1)
  assert.deepEqual([await countAccounts(fixture, removed), await countTombstones(fixture, removed)], [0, 1])
  assert.equal(await countRows(fixture, 'reward_account', `id = '${last}' and join_date = '2020-02-02'`), 1)
  assert.equal(await countRows(fixture, 'sync_refresh', `sync = 'reward-accounts' and (due or id = '${removed}')`), 0)
})

test('an account is never removed if the programs are missing too', async t => {
  const fixture = await startSyncFixtureFor(t)
  await fixture.syncAll()
  const before = await countRows(fixture, 'reward_account')
  fixture.simulator.faults.add({ kind: 'error', status: 404, code: 5008, path: '/Rewards/*' })
  await makeAllDue(fixture)
  await fixture.sync('reward-accounts')
  assert.equal(await countRows(fixture, 'reward_account'), before)
})

test("a person's current account replaces the previous one", async t => {
  const fixture = await startSyncFixtureFor(t)
  await fixture.syncAll()
  const { accounts, accountsByPerson: accountOfPerson } = fixture.simulator.state
  for (const [at, isThere] of [true, false].entries()) {
    const [id = 0] = listAccountIds(fixture).slice(at)
    const before = accounts.get(id)
    assert.ok(before)
    const now = { ...before, id: 10 + at }
    if (!isThere) accounts.delete(id)
    accounts.set(now.id, now)
    accountOfPerson.set(now.personId, now)
    fixture.simulator.change({ kind: 'edit-person', id: now.personId, fields: { jobTitle: 'x' } })
    for (const sync of ['customers', 'reward-accounts', 'customers', 'reward-accounts']) await fixture.sync(sync)
    assert.deepEqual(
      [await countAccounts(fixture, id), await countTombstones(fixture, id), await countAccounts(fixture, now.id)],
      [0, 1, 1],
    )
  }
})

test('an account with a new tier is stored with it', async t => {
  const fixture = await startSyncFixtureFor(t)
  await fixture.syncAll()
  const [id = 0] = listAccountIds(fixture)
  const account = fixture.simulator.state.accounts.get(id)
  const [program] = fixture.simulator.state.programs.values()
  const [tier] = program?.tiers ?? []
  assert.ok(account && program && tier)
  program.tiers.push({ ...tier, id: 77, name: 'Platinum', sequence: 77 })
  account.tierId = 77
  fixture.simulator.change({ kind: 'edit-person', id: account.personId, fields: { jobTitle: 'x' } })
  await fixture.sync('customers')
  const result = await fixture.sync('reward-accounts')
  assert.equal(result?.rejected, 0)
  assert.equal(await countRows(fixture, 'reward_account', `id = '${id}' and tier_id = '77'`), 1)
})

test('an account rejected by the database is retried within an hour', async t => {
  const fixture = await startSyncFixtureFor(t)
  const [id = 0] = listAccountIds(fixture)
  const account = fixture.simulator.state.accounts.get(id)
  assert.ok(account)
  const { tierId } = account
  account.tierId = 88
  await fixture.syncAll()
  const countRefreshes = (where: string) =>
    countRows(fixture, 'sync_refresh', `sync = 'reward-accounts' and id = '${id}' and ${where}`)
  assert.deepEqual([await countAccounts(fixture, id), await countRefreshes('read_at is null and not due')], [0, 1])
  account.tierId = tierId
  await fixture.sync('reward-accounts')
  assert.equal(await countAccounts(fixture, id), 0)
  await fixture.shop.queryRows(`update sync_refresh set refreshed_at = refreshed_at - interval '1 hour'`)
  await fixture.sync('reward-accounts')
  assert.deepEqual([await countAccounts(fixture, id), await countRefreshes('read_at is not null')], [1, 1])
})
