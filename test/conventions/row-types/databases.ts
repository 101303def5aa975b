import assert from 'node:assert/strict'
import { addAccount, hashPassword } from '../../../src/store/accounts/accounts.ts'
import {
  countApiKeys,
  createApiKey,
  findApiKey,
  findApiKeyRecord,
  listApiKeyRecords,
  listApiKeys,
  listApiKeysOfService,
} from '../../../src/store/accounts/api-keys.ts'
import { listDeprecatedUses, recordDeprecatedUses } from '../../../src/store/accounts/last-used.ts'
import { addAuditEntry } from '../../../src/store/audit/audit.ts'
import { findByName, findMisplaced, isServedIn } from '../../../src/store/shards/misplaced-services.ts'
import {
  findMissingServices,
  findShardUrl,
  forwardAuditEntries,
  listServicesIn,
  listServicesWithPendingAudit,
  listShards,
  readMark,
  registerServices,
  storeShard,
} from '../../../src/store/shards/shards.ts'
import { addService } from '../../../src/store/tenancy/services.ts'
import type { TestApi } from '../../support/service.ts'

/** Adds a shard, with the control database as its database, with a service and API keys. Forwards an audit entry to it. */
export async function tourShards({ db, keys }: TestApi) {
  await storeShard(db, keys, 'toured', 'postgres://nobody@nowhere/x')
  assert.equal(await findShardUrl(db, keys, 'toured'), 'postgres://nobody@nowhere/x')
  const service = await addService(db, 'toured-elsewhere', {}, 'toured')
  assert.ok(service)
  assert.equal((await listShards(db))[0]?.services, 1)
  await addAccount(db, keys, 'toured', service, 'visitor')
  const newKey = { username: 'toured', name: 'web-1', scopes: ['stores:read'], stores: ['101'], expiresInDays: 1 }
  const apiKey = await createApiKey(db, keys, service, newKey)
  assert.ok(apiKey)
  assert.equal(await countApiKeys(db, service, 'toured'), 1)
  assert.equal((await listApiKeyRecords(db, service, 'toured')).length, 1)
  assert.equal((await listApiKeysOfService(db, service)).length, 1)
  assert.ok(await findApiKeyRecord(db, service, 'toured', 'web-1'))
  assert.ok(await findApiKey(db, 'toured', [hashPassword(keys, 'toured', apiKey)]))
  assert.equal((await listApiKeys(db)).length, 1)
  const use = { serviceId: service.id, username: 'toured', operation: 'GET /x', requests: 2 }
  await recordDeprecatedUses(db, [use])
  assert.equal((await listDeprecatedUses(db, service, 'toured'))[0]?.requests, 2)
  const entries = await listServicesIn(db)
  const renamedEntries = entries.map(entry => ({ ...entry, name: `${entry.name}-other` }))
  assert.equal((await registerServices(db, 'toured', renamedEntries)).length, renamedEntries.length)
  const [copy] = await findMisplaced(db, 'other', await findByName(db, ['toured-elsewhere']))
  assert.ok(copy && copy.assignedShard === 'toured' && (await isServedIn(db, copy)))
  assert.deepEqual(await findMissingServices(db, db, 'toured'), [])
  await readMark(db)
  await db.transaction(tx =>
    addAuditEntry(tx, service, { username: 'u', operation: 'toured', subject: '/x', body: {}, requestId: 'r' }),
  )
  assert.equal((await listServicesWithPendingAudit(db)).length, 1)
  await forwardAuditEntries(db, db, service.id, AbortSignal.timeout(60_000))
}
