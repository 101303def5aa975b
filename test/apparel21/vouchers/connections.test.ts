import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../../src/database/db.ts'
import { lookUp, pin, vouchersOfTests } from './vouchers.ts'

const { simulator, api } = await vouchersOfTests()

test('voucher look-ups on a hanging back office hold no database connection', async () => {
  simulator.faults.add({ kind: 'latency', path: '/Voucher/*', seconds: 2 })
  const ask = (i: number) => {
    const of = String(6_500_000 + i)
    return i % 2 ? lookUp(api, of) : api.get(`/vouchers/${of}?amount=1.00`, { 'x-voucher-pin': pin })
  }
  const pending = Promise.all(Array.from({ length: 64 }, (_, i) => ask(i)))
  let isAnswered = false
  void pending.finally(() => {
    isAnswered = true
  })
  // Until all of them have begun; on a busy machine the first are answered before the last begin.
  for (let begun = 0; begun < 64 && !isAnswered; await delay(20)) begun = await api.db.run(sql`select from reservation`)
  const [locked] = await api.db.rows<{ open: number }>(sql`
    select count(*)::integer as open from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`)
  assert.deepEqual([locked?.open, api.db.pool.waitingCount], [0, 0])
  const begun = performance.now()
  assert.equal((await api.get('/stores')).status, 200)
  assert.equal((await api.get('/settings')).status, 200)
  // Less than a held connection would be waited for.
  assert.ok(performance.now() - begun < 1_900)
  const statuses = new Set((await pending).map(({ status }) => status))
  assert.ok(
    [...statuses].every(status => [403, 429, 503].includes(status)),
    [...statuses].join(),
  )
})
