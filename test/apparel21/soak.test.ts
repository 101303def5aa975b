import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gone } from '../../scenarios/soak/client.ts'
import { soak } from '../../scenarios/soak/soak.ts'
import type { Verdict } from '../../scenarios/support/verdict.ts'
import { sql } from '../../src/database/db.ts'
import { freshDatabase } from '../support/database.ts'
import { checkout, run } from '../support/processes.ts'

const failed = (verdicts: readonly Verdict[]) => verdicts.filter(({ holds }) => !holds)

test('after changes, faults and kills at random our tables are as the back office, and every write is there once; the judge sees what is not', async t => {
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-soak-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  const { connection, drop } = await freshDatabase()
  t.after(drop)
  const soaked = await soak({
    seed: 5,
    seconds: 6,
    shoppers: 4,
    release: '2025.1',
    backOffice: 'apparel21',
    databaseUrl: connection,
    directory,
    sizes: { stores: 4, styles: 12, persons: 40, vouchers: 6 },
  })
  t.after(soaked.close)
  const verdicts = await soaked.judge()
  assert.deepEqual(failed(verdicts), [])
  assert.ok(verdicts.length >= 30, `${verdicts.length}`)
  assert.ok([...soaked.faults.values()].reduce((sum, times) => sum + times, 0) > 10)
  assert.match(soaked.killed, /api-1 [1-9]|api-2 [1-9]/)

  const { db, service, simulator = assert.fail() } = soaked.world
  const done = (kind: string) =>
    soaked.deeds.find(deed => deed.kind === kind && deed.answer.status < 300) ?? assert.fail(`no ${kind} was done`)
  const order = done('order').answer.json.data?.id ?? assert.fail()
  await db.run(sql`delete from sales_order where service_id = ${service.id} and id = ${order}`)
  await db.run(sql`update stock set record = regexp_replace(record, '"freeStock":[-0-9]+', '"freeStock":999')
    where ctid = (select ctid from stock where service_id = ${service.id} limit 1)`)
  const [person] = simulator.state.persons.values()
  assert.ok(person)
  person.surname = 'Spoilt'
  simulator.state.orders.set(-1, { ...(simulator.state.orders.get(Number(order)) ?? assert.fail()), id: -1 })
  // Made at the back office for somebody who never came back, and not here.
  const { key, answer } = done('customer')
  answer.status = gone
  await db.run(sql`update customer set email = null where service_id = ${service.id} and email = ${`${key}@soak.test`}`)
  await db.run(sql`
    insert into intent (service_id, id, operation, request_hash, request, token, claimed_until, next_check_at)
    values (${service.id}, gen_random_uuid(), 'POST /orders', '', '', gen_random_uuid(), now() + interval '1 hour', now() + interval '1 hour')`)
  const seen = failed(await soaked.judge()).map(({ fact }) => fact)
  for (const fact of [
    'customers: the list',
    'stock: ',
    'orders here: ',
    'orders at the back office: ',
    'customers: what is there, what is here',
    'no write is left open',
  ])
    assert.ok(
      seen.some(each => each.startsWith(fact)),
      `${fact} is not among ${seen}`,
    )
})

test('the soak says how it is run', async () => {
  const { code, out } = await run(
    ['--help'],
    {},
    { program: [process.execPath, join(checkout, 'scenarios/soak/run.ts')] },
  )
  assert.equal(code, 0)
  assert.match(out, /--seed <number>[\s\S]*Examples:[\s\S]*npm run soak -- --seed 7/)
})
