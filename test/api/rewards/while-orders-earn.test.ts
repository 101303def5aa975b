import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { earnRewards, lockRewardAccount } from '../../../src/store/rewards/ledger.ts'
import { upsertRewardAccounts } from '../../../src/store/rewards/rewards.ts'
import { waitForBlockedConnections } from '../../support/postgres/hold-locks.ts'
import { createMember, getTierProgress } from '../../support/reward-member.ts'
import { startTestApi } from '../../support/service.ts'

const api = await startTestApi()
after(() => api.stop())

test('spend and tier earned during an account import are kept', async () => {
  const ann = await createMember(api)
  let imported: Promise<unknown> | undefined
  await api.db.transaction(async tx => {
    const account = await lockRewardAccount(tx, ann.service, 'c1')
    await earnRewards(tx, ann.service, account, { orderNumber: 'W1', amount: '600.00' })
    imported = upsertRewardAccounts(api.db, ann.service, [
      { id: 'a1', customerId: 'c1', programId: '1', joinDate: '2024-02-01' },
    ])
    await waitForBlockedConnections(api)
  })
  await imported
  const updated = await ann.getAccount()
  assert.deepEqual([...getTierProgress(updated), updated.joinDate], ['2', '3', '900.00', '2024-02-01'])
})
