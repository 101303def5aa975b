import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { forwardAudit } from '../../src/jobs/forward-audit.ts'
import type { JobRun } from '../../src/jobs/job.ts'
import { insertService } from '../../src/store/shards/shards.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import { createTestDatabase } from '../support/database.ts'

const [control, shard] = await Promise.all([createTestDatabase(), createTestDatabase()])
after(() => Promise.all([control.drop(), shard.drop()]))

test('audit entries wait until the shard has the service', async () => {
  const service = await addService(control.db, 'luma')
  assert.ok(service)
  await control.db.run(sql`insert into shard (name, url) values ('eu', 'x')`)
  await control.db.run(sql`update service set shard_name = 'eu' where service_id = ${service.id}`)
  await control.db.run(sql`
    insert into audit (service_id, id, changed_at, record) values (${service.id}, 'one', now(), '{"username":"ann","operation":"POST /accounts"}')`)
  const runForwardAudit = () =>
    forwardAudit(async () => shard)({ db: control.db, signal: AbortSignal.timeout(20_000) } as JobRun)
  const countEntries = ({ db }: typeof shard) => db.run(sql`select from audit where service_id = ${service.id}`)
  await assert.rejects(runForwardAudit(), /Service \d+ is missing in its shard/)
  assert.deepEqual([await countEntries(control), await countEntries(shard)], [1, 0])
  await insertService(shard.db, service)
  await runForwardAudit()
  assert.deepEqual([await countEntries(control), await countEntries(shard)], [0, 1])
})
