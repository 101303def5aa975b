import assert from 'node:assert/strict'
import { addAuditEntry } from '../../../src/store/audit/audit.ts'
import { copiesAmong, entriesNamed, isThere } from '../../../src/store/shards/copies.ts'
import {
  adopt,
  databaseUrl,
  entriesOf,
  handOnAll,
  keepDatabase,
  listDatabases,
  missingFrom,
  readMark,
  servicesWithLines,
} from '../../../src/store/shards/shards.ts'
import { addService } from '../../../src/store/tenancy/services.ts'
import type { TestService } from '../../support/service.ts'

/** A database is made known, and a line of the audit handed on to it: here it is the same one. */
export async function askDataDatabases({ db, keys }: TestService) {
  await keepDatabase(db, keys, 'toured', 'postgres://nobody@nowhere/x')
  assert.equal(await databaseUrl(db, keys, 'toured'), 'postgres://nobody@nowhere/x')
  const service = await addService(db, 'toured-elsewhere', {}, 'toured')
  assert.ok(service)
  assert.equal((await listDatabases(db))[0]?.services, 1)
  const entries = await entriesOf(db)
  const strange = entries.map(each => ({ ...each, name: `${each.name}-other` }))
  assert.equal((await adopt(db, 'toured', strange)).length, strange.length)
  const [copy] = await copiesAmong(db, 'other', await entriesNamed(db, ['toured-elsewhere']))
  assert.ok(copy && copy.place === 'toured' && (await isThere(db, copy)))
  assert.deepEqual(await missingFrom(db, db, 'toured'), [])
  await readMark(db)
  await db.transaction(tx =>
    addAuditEntry(tx, service, { username: 'u', operation: 'toured', subject: '/x', body: {}, requestId: 'r' }),
  )
  assert.equal((await servicesWithLines(db)).length, 1)
  await handOnAll(db, db, service.id, AbortSignal.timeout(60_000))
}
