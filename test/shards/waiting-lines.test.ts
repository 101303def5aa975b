import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { forwardAudit } from '../../src/jobs/forward-audit.ts'
import type { JobRun } from '../../src/jobs/job.ts'
import { insertService } from '../../src/store/shards/shards.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import { createTestDatabase } from '../support/database.ts'

const [control, data] = await Promise.all([createTestDatabase(), createTestDatabase()])
after(() => Promise.all([control.drop(), data.drop()]))

test('audit entries wait until the shard has the service', async () => {
  const service = await addService(control.db, 'luma')
  assert.ok(service)
  await control.db.run(sql`insert into shard (name, url) values ('eu', 'x')`)
  await control.db.run(sql`update service set shard_name = 'eu' where service_id = ${service.id}`)
  await control.db.run(sql`
    insert into audit (service_id, id, changed_at, record) values (${service.id}, 'one', now(), '{"username":"ann","operation":"POST /accounts"}')`)
  const forward = () =>
    forwardAudit(async () => data)({ db: control.db, signal: AbortSignal.timeout(20_000) } as JobRun)
  const entries = ({ db }: typeof data) => db.run(sql`select from audit where service_id = ${service.id}`)
  await assert.rejects(forward(), /Service \d+ is missing in its shard/)
  assert.deepEqual([await entries(control), await entries(data)], [1, 0])
  await insertService(data.db, service)
  await forward()
  assert.deepEqual([await entries(control), await entries(data)], [0, 1])
})
