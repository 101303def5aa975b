import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../../src/database/db.ts'
import { lookUp, pin, startVoucherFixture } from './vouchers.ts'

const { simulator, api } = await startVoucherFixture()

test('voucher look-ups on a hanging back office hold no database connection', async () => {
  simulator.faults.add({ kind: 'latency', path: '/Voucher/*', seconds: 2 })
  const openVoucher = (i: number) => {
    const voucherNumber = String(6_500_000 + i)
    return i % 2
      ? lookUp(api, voucherNumber)
      : api.get(`/vouchers/${voucherNumber}?amount=1.00`, { 'x-voucher-pin': pin })
  }
  const pending = Promise.all(Array.from({ length: 64 }, (_, i) => openVoucher(i)))
  let isFinished = false
  void pending.finally(() => {
    isFinished = true
  })
  // Wait until all have begun. On a busy machine, the first end before the last begin.
  for (let begun = 0; begun < 64 && !isFinished; await delay(20)) begun = await api.db.run(sql`select from reservation`)
  const [locked] = await api.db.rows<{ open: number }>(sql`
    select count(*)::integer as open from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`)
  assert.deepEqual([locked?.open, api.db.pool.waitingCount], [0, 0])
  const begun = performance.now()
  assert.equal((await api.get('/stores')).status, 200)
  assert.equal((await api.get('/settings')).status, 200)
  // A request that waited for a held connection would take longer.
  assert.ok(performance.now() - begun < 1_900)
  const statuses = new Set((await pending).map(({ status }) => status))
  assert.ok(
    [...statuses].every(status => [403, 429, 503].includes(status)),
    [...statuses].join(),
  )
})
