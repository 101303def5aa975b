import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { assertProblem } from '../../support/problem.ts'
import { lockVoucher } from '../../support/voucher-shop.ts'
import { put, withKey } from '../../support/write.ts'
import { countValidations, getValidationId, number, pin, startVoucherFixture } from './vouchers.ts'

const { simulator, api } = await startVoucherFixture()

test('an account at its voucher limit is rejected before another validation ends', async () => {
  const account = await api.createAccount('visitor')
  const otherValidationId = await getValidationId(api)
  await api.db.run(sql`
    insert into upstream_voucher (service_id, number, currency, original_amount, used_amount, available_amount, locked_until, locked_by)
    select ${api.service.id}, 'held-' || n, 'AUD', 1, 0, 1, now() + interval '100 s', ${account.username} from generate_series(1, 1000) n`)
  const before = countValidations(simulator)
  for (const headers of [{}, withKey(), { prefer: 'tx=rollback' }])
    assertProblem(await put(account, `/vouchers/${number}/lock`, { pin }, headers), 'rate_limited', api.baseUrl)
  assert.equal(countValidations(simulator), before)
  assert.equal((await lockVoucher(api, number, otherValidationId)).status, 200)
})
