import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mock } from 'node:test'
import { signInPerson } from '../../../src/auth/person-sign-in.ts'
import { createLink, createSessions } from '../../../src/auth/sessions.ts'
import { expireVouchers } from '../../../src/backoffice/embedded/vouchers/decisions.ts'
import { refundVoucher } from '../../../src/backoffice/embedded/vouchers/redeem.ts'
import { findNewestBackup } from '../../../src/backup/history.ts'
import { buildDoctorCommand } from '../../../src/commands/doctor/doctor.ts'
import { Command } from '../../../src/commands/terminal/command.ts'
import { loadRecordCount } from '../../../src/commands/terminal/export-types.ts'
import { deriveKeys } from '../../../src/crypto/keys.ts'
import { sql } from '../../../src/database/db.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { requireOneServer } from '../../../src/runtime/installation/require-one-server.ts'
import { findAccountRecord } from '../../../src/store/accounts/account-page.ts'
import { isLastAdmin, listAccounts } from '../../../src/store/accounts/accounts.ts'
import { deleteSecondFactor, insertSecondFactor, lockSecondFactor } from '../../../src/store/accounts/second-factors.ts'
import { listAlerts } from '../../../src/store/alerts/alerts.ts'
import { countToday } from '../../../src/store/audit/audit.ts'
import { findStoredBackOffice, lockStoredBackOffice } from '../../../src/store/backoffice/connections.ts'
import { replacePriceChanges } from '../../../src/store/catalog/price-changes.ts'
import { findMappedReferences } from '../../../src/store/catalog/references.ts'
import { findSkusById, findStockKey } from '../../../src/store/catalog/skus.ts'
import { findStaffMember, upsertStaff } from '../../../src/store/catalog/staff.ts'
import { findStoresById, findStoresByNumber } from '../../../src/store/catalog/stores.ts'
import { readCurrentPositions, readCurrentState } from '../../../src/store/change-feed/newest.ts'
import { purgeOldTombstones } from '../../../src/store/change-feed/purge-tombstones.ts'
import { updateSubscriptions } from '../../../src/store/customers/subscriptions.ts'
import { findOrderSkuIds, refreshStock } from '../../../src/store/inventory/fresh-stock.ts'
import { findExpiredReservations } from '../../../src/store/inventory/reservations.ts'
import { countJobs, leaseDueJobs, renewLeases } from '../../../src/store/jobs/jobs.ts'
import { beginChange } from '../../../src/store/lists/change-timestamp.ts'
import { withInitialLoad } from '../../../src/store/lists/initial-load.ts'
import { analyzeGrownTables } from '../../../src/store/lists/statistics.ts'
import { findPurgedAfter } from '../../../src/store/lists/tombstones.ts'
import {
  findMessageId,
  findQueuedEmail,
  isBeingSent,
  listEmails,
  lockUnsentEmail,
  retryEmails,
} from '../../../src/store/mail/emails.ts'
import { findMapping } from '../../../src/store/mappings/mappings.ts'
import { mapSkus } from '../../../src/store/mappings/writes.ts'
import { mergeImportedOrders } from '../../../src/store/orders/imported-orders.ts'
import { readCharges, readPickupStatus, readVoucherPayments } from '../../../src/store/orders/orders.ts'
import { replaceOwnSales } from '../../../src/store/orders/own-sales.ts'
import {
  findReceivableLines,
  findStoredReturn,
  findStoredReturnLines,
  payWithReturn,
  restoreExchangeCredit,
} from '../../../src/store/orders/returns.ts'
import { countShipments, findShipment, findShipmentByKey } from '../../../src/store/orders/shipments.ts'
import { findBuyers } from '../../../src/store/orders/transactions.ts'
import { eraseRemainingData } from '../../../src/store/privacy/erase-batch.ts'
import { erase, findErasureSummary } from '../../../src/store/privacy/erasure.ts'
import { exportPersonalData } from '../../../src/store/privacy/export.ts'
import {
  findRequestRecord,
  groupErrors,
  purgeRequestDays,
  readRequestPage,
} from '../../../src/store/request-log/requests.ts'
import {
  expireRedemptions,
  listDueRedemptions,
  listServicesWithDueRedemptions,
  lockDueRedemption,
} from '../../../src/store/rewards/redemptions.ts'
import { deleteService, lockService, startPurge } from '../../../src/store/service-deletion/deletion.ts'
import { purgeRows } from '../../../src/store/service-deletion/purge.ts'
import { countRemaining, markRotatedShard, reencrypt } from '../../../src/store/shards/secret-rotation.ts'
import { markDatabase } from '../../../src/store/shards/shards.ts'
import { readRequestIntervals } from '../../../src/store/stats/stats.ts'
import { countStates, readDatabaseBytes, readSyncStats } from '../../../src/store/stats/sync-status.ts'
import {
  findStaffIds,
  findTransactionsOfOtherSources,
  loadSoldSkus,
  loadStoreNumbers,
} from '../../../src/store/sync/export-lookups.ts'
import { findOpenReturns } from '../../../src/store/sync/open-returns.ts'
import { findReadAt } from '../../../src/store/sync/refreshes.ts'
import { removeUnseen } from '../../../src/store/sync/remove-unseen.ts'
import { advanceSyncs, findNeverSynced, findNewlyOverdue } from '../../../src/store/sync/schedule.ts'
import { findSyncedByEnvironment, readFinishedAt, recordSource } from '../../../src/store/sync/status.ts'
import { leaseSync, recordSeen } from '../../../src/store/sync/sync.ts'
import { listDeleting, listServices, readService } from '../../../src/store/tenancy/services.ts'
import { findCurrencyEffect, readSettings } from '../../../src/store/tenancy/settings.ts'
import { readEmails, readLedger, readVoucherPersons } from '../../../src/store/vouchers/ledger.ts'
import { purgeResponses } from '../../../src/store/writes/idempotency.ts'
import { claimInDoubtWrite, claimIntent, renewClaim } from '../../../src/store/writes/intents.ts'
import { getDatabaseEnvironment } from '../../support/database.ts'
import { addShipment } from '../../support/order-shop.ts'
import { addLogEntries } from '../../support/postgres/log-entries.ts'
import { createMember } from '../../support/reward-member.ts'
import type { TestApi } from '../../support/service.ts'
import { post, put } from '../../support/write.ts'
import { tourFiles } from './files.ts'
import { tourStaleStock } from './stock.ts'
import { tourWebhooks } from './webhooks.ts'

const newPerson = {
  issuer: 'https://login.example.com',
  subject: 'ann',
  username: 'ann@example.com',
  groups: ['staff'],
  stateHash: randomBytes(32),
}

/** Makes the calls that the driver contracts don't make: those of commands, jobs, imports and exports. */
export async function runTour(api: TestApi) {
  const { db, keys, service } = api
  await migrate(db)
  const sessions = createSessions(db, keys)
  const token = await sessions.openByLink(String(await createLink(db, keys, api.username)), '')
  await sessions.read(String(token))
  await signInPerson(db, newPerson, [{ group: 'staff', service: '*', role: 'visitor' }], randomUUID())
  await insertSecondFactor(db, api.username, { secret: randomBytes(32), step: 1, recoveryHashes: [] })
  await lockSecondFactor(db, api.username)
  await deleteSecondFactor(db, api.username)
  await listAccounts(db)
  await listServices(db)
  await readService(db, service.id)
  await tourDeletion(api)
  await findAccountRecord(db, service, api.username)
  await isLastAdmin(db, api.username, service)
  await readSettings(db, service)
  await lockStoredBackOffice(db, keys, service)
  await findStoredBackOffice(db, keys, service)
  await countJobs(db, service)
  await tourDoctor(api)
  await tourReencryption(api)

  await tourOpenWrite(api)
  await readCurrentPositions(db, service, ['customer', 'reward-account'])
  await readCurrentState(db, service, ['customer', 'reward-account'])
  const { data } = (await api.get('/changes?limit=1000&records=true')).json
  await findPurgedAfter(db, service, 'product', '2026-01-01T00:00:00Z')
  for (const kind of ['inventory', 'transaction']) {
    const { path } = data.find((change: { kind: string }) => change.kind === kind)
    assert.equal((await api.get(path)).status, 200)
  }
  assert.equal(await purgeOldTombstones(db, service, () => false), 0)
  await purgeResponses(db, () => false)

  await Promise.all([findSkusById, findStoresById, findStoresByNumber].map(find => find(db, service, [])))
  const [variant] = await db.rows<{ skuId: string }>(
    sql`select sku_id as "skuId" from variant where service_id = ${service.id} limit 1`,
  )
  assert.ok(variant)
  await db.transaction(tx => updateSubscriptions(tx, service))
  await findStockKey(db, service, variant.skuId)
  const changes = [{ from: '2099-12-26', price: '1.00' }]
  assert.equal((await replacePriceChanges(db, service, [{ ...variant, changes }])).changed, 1)
  await mapSkus(db, service, [{ ...variant, ecommerceSku: 'toured', ecommerceProductId: 'toured' }])
  await tourStaleStock(api)
  await findMapping(db, service, 'skus', variant.skuId)
  await withInitialLoad(db, service, 'staff', () =>
    upsertStaff(db, service, [{ id: '77', code: 'JSMITH', surname: 'Smith', updateTimeStamp: '2026-01-31 14:05:00' }]),
  )
  await findStaffMember(db, service, '77')
  await loadSoldSkus(db, service, [])
  await loadStoreNumbers(db, service)
  await findTransactionsOfOtherSources(db, service, [], '')
  await findStaffIds(db, service, ['77'])
  await db.run(sql`create table grown as select generate_series(1, 1000)`)
  await analyzeGrownTables(db)
  await db.run(sql`drop table grown`)

  const leasedSync = await leaseSync(db, service, 'customers')
  assert.ok(leasedSync)
  const lease = { sync: 'customers', run: leasedSync.run }
  const [firstCustomer, ...otherCustomers] = await db.rows<{ id: string }>(
    sql`select id from customer where service_id = ${service.id}`,
  )
  assert.ok(firstCustomer)
  await recordSeen(
    db,
    service,
    lease,
    'customer',
    otherCustomers.map(({ id }) => id),
  )
  const findExisting = async (ids: readonly string[]) => [...ids]
  await removeUnseen(db, service, { lease, list: 'customer', findExisting, onRemoved: async () => {} })
  await tourErasure(api)

  const syncs = [{ serviceId: service.id, sync: 'stock', intervalSeconds: 1 }]
  await readFinishedAt(db)
  for (const timeZone of ['UTC', 'Europe/London'])
    await db.transaction(tx => recordSource(tx, service, { source: 'apparel21 http://toured AU', timeZone }))
  await findSyncedByEnvironment(db)
  await findNeverSynced(db, service, ['stock'])
  await advanceSyncs(db, 'run-sync', syncs)
  await findNewlyOverdue(db, syncs)
  await readSyncStats(db)
  await loadRecordCount(db, service, 'stock')
  await findReadAt(db, service, 'transactions', '65432')
  assert.equal((await api.get('/syncs')).status, 200)
  for (const path of ['/stats', '/stats/back-office-calls']) assert.equal((await api.get(path)).status, 200)
  await tourFiles(api)
  await tourWebhooks(api)
  await tourRequestLog(api)
  assert.equal((await api.get('/search?q=smith')).status, 200)
  assert.equal((await api.get('/health')).status, 200)
  const [alert] = (await api.get('/alerts')).json.data
  assert.equal((await post(api, `/alerts/${alert.id}/resolve`, {})).status, 200)
  await countStates(db)
  await readDatabaseBytes(db)
  await listAlerts(db)
  await findNewestBackup(db)
  await requireOneServer(db)

  const [mail] = await listEmails(db, service, undefined, 1)
  assert.ok(mail, 'a voucher has an email')
  await findQueuedEmail(db, keys, service, mail.id)
  await retryEmails(db, service, mail.id)
  const accepted = await leaseDueJobs(db, { 'send-email': { free: 1, concurrencyPerService: undefined } }, 60)
  await renewLeases(
    db,
    accepted.map(({ lease: jobLease }) => jobLease),
    60,
  )

  await lockUnsentEmail(db, keys, service, mail.voucher)
  await countToday(db, service, 'POST /vouchers', `/vouchers/${mail.voucher}`)
  await readLedger(db, service, { number: mail.voucher, currency: 'AUD' })
  await readEmails(db, service, mail.voucher)
  await readVoucherPersons(db, service, mail.voucher)
  await expireVouchers(db)
  await findExpiredReservations(db)
  const none = { number: mail.voucher, maxAmount: 1n, orderNumber: 'none' }
  assert.equal(await db.transaction(tx => refundVoucher(tx, service, none)), 0n)
  await mergeImportedOrders(db, service, [])
  await findBuyers(db, service, 'W1')
  await findOpenReturns(db, service)
  await refreshStock(db, service, await findOrderSkuIds(db, service, 'none'), async () => [])
  const anyOrder = await db.row<{ id: string }>(
    sql`select id from sales_order where service_id = ${service.id} limit 1`,
  )
  await findShipment(db, service, await addShipment({ db }, { service }, anyOrder?.id ?? ''))
  await findShipmentByKey(db, service, { id: anyOrder?.id ?? '' }, 'none')
  const noOrder = { id: '', number: '', customerId: '', pickupStoreNumber: null, currency: 'AUD', decimals: 2 }
  await Promise.all([readVoucherPayments(db, service, noOrder), readCharges(db, service, noOrder)])
  await Promise.all([readPickupStatus(db, service, noOrder), countShipments(db, service, noOrder)])
  await db.transaction(async tx => {
    const anyReturn = await tx.row<{ id: string }>(
      sql`select id from sales_return where service_id = ${service.id} limit 1`,
    )
    await findStoredReturnLines(tx, service, anyReturn?.id ?? '')
    await payWithReturn(tx, service, { id: anyReturn?.id ?? '' }, { orderId: 'none', credit: '1.00' })
    assert.equal((await restoreExchangeCredit(tx, service, { ...noOrder, id: 'none' }, '1.00'))?.amount, '1.00')
  })
  const [store] = (await api.get('/stores?limit=1')).json.data
  assert.equal((await put(api, `/stores/${store.storeNumber}`, { inventoryBuffer: store.inventoryBuffer })).status, 200)
  await findCurrencyEffect(db, service, service.settings.currency, { currency: 'XAF' })
  const mapped = { type: 'newsletter', yes: '1', no: '2' }
  await findMappedReferences(db, service, { subscriptionMapping: { email: mapped } })
  await db.transaction(async tx =>
    replaceOwnSales(tx, service, await beginChange(tx, service, ['retail_transaction']), ['none']),
  )
  await Promise.all([findStoredReturn(db, service, { number: '' }), findReceivableLines(db, service, '')])
  assert.equal((await api.get('/orders/transactions/search?updated_after=2020-01-01&asc=true')).status, 200)

  const { earn, returnItems, cancelReturn, ...member } = await createMember(api)
  await earn('order', '400.00')
  await returnItems('order', '100.00')
  await cancelReturn('order')
  await tourRedemptions(api, member)
}

type Member = Awaited<ReturnType<typeof createMember>>

/** Confirms a redemption, and lets another one expire. */
async function tourRedemptions(
  { db }: TestApi,
  { shop, service, addLots }: Pick<Member, 'shop' | 'service' | 'addLots'>,
) {
  await addLots({ kind: 'reward', lotId: 'r1', total: '10.00' })
  const path = '/rewards/accounts/a1/redemptions'
  const [confirmed, expired] = [randomUUID(), randomUUID()]
  for (const requestId of [confirmed, expired])
    assert.equal((await post(shop, path, { requestId, amount: '1.00' })).status, 201)
  assert.equal((await post(shop, `${path}/${confirmed}/confirm`, {})).status, 200)
  await db.run(sql`update reward_redemption set expires_at = now() where service_id = ${service.id}`)
  assert.deepEqual(await listServicesWithDueRedemptions(db), [service.id])
  const due = await listDueRedemptions(db, service)
  assert.equal(await lockDueRedemption(db, service, expired), 'pending')
  await db.transaction(tx => expireRedemptions(tx, service, due))
}

/** Exports and erases a customer who bought a voucher and returned some items of an order. */
async function tourErasure({ db, keys, service }: TestApi) {
  const buyer = await db.row<{ id: string }>(sql`
    select customer_id as id from sales_order join sales_return r using (service_id)
     where service_id = ${service.id} and r.order_id = sales_order.id and customer_id is not null limit 1`)
  assert.ok(buyer)
  await db.run(
    sql`update customer set email = receiver_email from voucher_sale s where s.service_id = ${service.id} and customer.id = ${buyer.id}`,
  )
  await exportPersonalData(db, service, buyer.id)
  await findErasureSummary(db, service, buyer.id)
  await db.transaction(tx => erase(tx, service, buyer.id, () => {}))
  await eraseRemainingData(db, keys, service, buyer.id)
  const mail = await db.row<{ id: string }>(sql`select subject as id from job where name = 'erase-email-file' limit 1`)
  assert.ok(mail)
  await isBeingSent(db, service, mail.id)
  await findMessageId(db, service, mail.id)
}

/** Runs `tillbridge doctor`. Restores the exit code, because the doctor reports that test databases aren't durable. */
async function tourDoctor({ database }: TestApi) {
  const { env, exitCode } = process
  const consoleLog = mock.method(console, 'log', () => {})
  process.env = { ...env, ...getDatabaseEnvironment(database), DATABASE_READ_URL: database.connection }
  await buildDoctorCommand(new Command()).parseAsync([], { from: 'user' })
  process.env = env
  process.exitCode = exitCode
  consoleLog.mock.restore()
}

/** Encrypts all values with another secret, in a transaction that is rolled back. */
async function tourReencryption({ db, keys }: TestApi) {
  const newer = { ...deriveKeys(randomBytes(32)), otherKeys: [keys] }
  const undone = new Error('rolled back')
  const rotation = db.transaction(async tx => {
    await markDatabase(tx, keys, null)
    await markRotatedShard(tx, newer)
    assert.ok(await reencrypt(tx, newer, () => {}))
    assert.equal((await countRemaining(tx, newer)).encrypted, 0)
    throw undone
  })
  await assert.rejects(rotation, undone)
}

/** Deletes a service with all its rows. */
async function tourDeletion({ db, createService }: TestApi) {
  const { service } = await createService()
  await lockService(db, service)
  assert.equal((await listDeleting(db)).length, 1)
  assert.ok(await startPurge(db, service))
  await db.run(
    sql`insert into tombstone (service_id, kind, id, changed_at) values (${service.id}, 'store', '1', now())`,
  )
  await purgeRows(db, service, () => {}, new AbortController().signal)
  await deleteService(db, service)
}

/** Leaves a write open, repeats it from another caller, and reconciles it. */
async function tourOpenWrite({ db, keys, service }: TestApi) {
  const requested = { operation: 'POST /orders', params: {}, body: {}, username: '', requestId: '' }
  const [id, token, other] = [randomUUID(), randomUUID(), randomUUID()]
  const intent = { id, token, keyHash: undefined, requestHash: Buffer.from('a'), requested }
  assert.equal(await claimIntent(db, keys, service, intent), 'new')
  assert.equal(await claimIntent(db, keys, service, { ...intent, token: other }), 'running')
  assert.equal(await renewClaim(db, service, intent), true)
  await db.run(sql`update intent set claimed_until = now(), next_check_at = now()`)
  assert.equal((await claimInDoubtWrite(db, keys))?.id, id)
}

/** Logs requests and finds them. */
async function tourRequestLog({ db, service }: TestApi) {
  await addLogEntries(db, service, [{ requestId: 'toured' }])
  assert.ok(await findRequestRecord(db, service, 'toured'))
  assert.ok((await readRequestPage(db, service, { request_id: 'toured' }, undefined, { limit: 1 })).end)
  await addLogEntries(db, service, [
    { status: 422, code: 'invalid_body', fields: ['/surname'] },
    { status: 404, code: 'not_found' },
  ])
  assert.ok((await groupErrors(db, service, {})).length >= 2)
  assert.ok(Number((await readRequestIntervals(db, service, '24h')).at(-1)?.rejected) >= 2)
  assert.equal(await purgeRequestDays(db, [service], () => false), 0)
}
