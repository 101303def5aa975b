import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { soak } from '../../soak/soak.ts'
import { sql } from '../../src/db.ts'
import type { Verdict } from '../../trials/verdict.ts'
import { freshDatabase } from '../support/database.ts'
import { checkout, run } from '../support/processes.ts'

const failed = (verdicts: readonly Verdict[]) => verdicts.filter(({ holds }) => !holds)

test('after changes and faults at random our tables are as the back office, and every write is there once; the judge sees what is not', async t => {
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-soak-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  const { connection, drop } = await freshDatabase()
  t.after(drop)
  const soaked = await soak({
    seed: 5,
    seconds: 6,
    shoppers: 4,
    release: '2025.1',
    connection,
    directory,
    sizes: { stores: 4, styles: 12, persons: 40, vouchers: 6 },
  })
  t.after(soaked.close)
  const verdicts = await soaked.judge()
  assert.deepEqual(failed(verdicts), [])
  assert.ok(verdicts.length >= 30, `${verdicts.length}`)
  assert.ok([...soaked.faults.values()].reduce((sum, times) => sum + times, 0) > 10)

  const { db, service, simulator } = soaked.world
  const deeds = (kind: string) => soaked.deeds.find(deed => deed.kind === kind && deed.answer.status < 300)?.answer.json
  const order = deeds('order')?.data?.id ?? assert.fail('no order was placed')
  await db.run(sql`delete from sales_order where service_id = ${service.id} and id = ${order}`)
  await db.run(sql`update stock set record = regexp_replace(record, '"freeStock":[-0-9]+', '"freeStock":999')
    where ctid = (select ctid from stock where service_id = ${service.id} limit 1)`)
  const [person] = simulator.state.persons.values()
  assert.ok(person)
  person.surname = 'Spoilt'
  simulator.state.orders.set(-1, { ...(simulator.state.orders.get(Number(order)) ?? assert.fail()), id: -1 })
  const seen = failed(await soaked.judge()).map(({ fact }) => fact.split(':')[0])
  for (const fact of ['customers', 'stock', 'orders here', 'orders at the back office'])
    assert.ok(seen.includes(fact), `${fact} is not among ${seen}`)
})

test('the soak says how it is run', async () => {
  const { code, out } = await run(['--help'], {}, { program: [process.execPath, join(checkout, 'soak/run.ts')] })
  assert.equal(code, 0)
  assert.match(out, /--seed <number>[\s\S]*Examples:[\s\S]*npm run soak -- --seed 7/)
})
