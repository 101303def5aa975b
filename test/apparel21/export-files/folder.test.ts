import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { pino } from 'pino'
import type { Simulator } from '../../../simulator/control/handle.ts'
import { startSimulator } from '../../../simulator/simulator.ts'
import { scanFolder } from '../../../src/backoffice/apparel21/export-files/files.ts'
import { importExport } from '../../../src/backoffice/apparel21/export-files/import.ts'
import { type BackOffices, openBackOffices } from '../../../src/backoffice/back-offices.ts'
import { runSyncIfReady } from '../../../src/backoffice/run-sync.ts'
import { deriveKeys } from '../../../src/crypto/keys.ts'
import { type Database, sql } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { openFolder } from '../../../src/import/sources/open-source.ts'
import { buildBackOfficeJobs } from '../../../src/jobs/jobs.ts'
import { startWorker, type Worker } from '../../../src/jobs/worker.ts'
import { listAlerts, resolveAlertsOfKind } from '../../../src/store/alerts/alerts.ts'
import { setBackOffice } from '../../../src/store/backoffice/connections.ts'
import { addService } from '../../../src/store/tenancy/services.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { waitUntil } from '../../support/processes.ts'
import { openExportFolder } from './export-folder.ts'

const keys = deriveKeys(randomBytes(32))
const log = pino({ level: 'silent' })
const folder = mkdtempSync(join(tmpdir(), 'tillbridge-exports-'))
const { pathTo, listFolder, addFile } = openExportFolder(folder)

let simulator: Simulator
let database: TestDatabase
let db: Database
let luma: Service
let offices: BackOffices
let worker: Worker

const fetchExport = async (kind: string) => (await fetch(`${simulator.controlUrl}/export/${kind}.csv`)).text()
/** Makes the import job due until it has moved the file out of the folder. */
const importFile = (name: string) =>
  waitUntil(
    async () => {
      await db.run(sql`update job set due_at = now() where name = 'import-exports'`)
      return !existsSync(pathTo(name))
    },
    `${name} is imported`,
    30_000,
  )
const count = async (table: 'customer' | 'staff' | 'retail_transaction') => {
  const tables = { customer: sql`customer`, staff: sql`staff`, retail_transaction: sql`retail_transaction` }
  return (
    await db.row<{ n: number }>(sql`select count(*)::integer as n from ${tables[table]} where service_id = ${luma.id}`)
  )?.n
}

before(async () => {
  simulator = await startSimulator({ sizes: { persons: 40 } })
  database = await createTestDatabase()
  db = database.db
  const created = await addService(db, 'luma', { currency: 'AUD' })
  assert.ok(created)
  luma = created
  await setBackOffice(db, keys, luma, { driver: 'apparel21', url: simulator.url, country: 'AU', exportFolder: folder })
  offices = await openBackOffices({ db, keys, defaults: { driver: 'embedded' }, log })
  const driver = offices.getDriver(luma)
  for (const name of ['references', 'stores', 'products', 'reward-programs', 'customers']) {
    const sync = driver.syncs.find(candidate => candidate.name === name)
    assert.ok(sync)
    assert.ok('result' in (await runSyncIfReady(db, luma, driver, sync)))
  }
  const { 'import-exports': job } = buildBackOfficeJobs(offices)
  assert.ok(job)
  await db.run(sql`insert into job (service_id, name) values (${luma.id}, 'import-exports')`)
  worker = startWorker({ db, keys, log, mailTransport: { send: async () => {} } }, { 'import-exports': job })
})
after(async () => {
  await worker?.stop(5_000)
  offices?.close()
  await database?.drop()
  await simulator?.close()
  rmSync(folder, { recursive: true })
})

describe('exports of a back office', () => {
  beforeEach(() => resolveAlertsOfKind(db, luma.id, 'export_file_rejected'))

  test('an export folder replaces the API as the source of sales', () => {
    const names = offices.getDriver(luma).syncs.map(({ name }) => name)
    assert.ok(names.includes('customers') && !names.includes('transactions'))
  })

  test('a customer file adds staff and fields that the API lacks', async () => {
    const [person] = simulator.state.persons.values()
    assert.ok(person)
    const original = await db.row<{ surname: string }>(
      sql`update customer set surname = 'Newer' where id = ${String(person.id)} returning surname`,
    )
    assert.equal(original?.surname, 'Newer')
    const file = await fetchExport('customers')
    addFile('customers_20260203T101500Z.csv', file)
    await importFile('customers_20260203T101500Z.csv')
    assert.deepEqual(listFolder('done'), ['customers_20260203T101500Z.csv'])
    const row = await db.row<{ surname: string; joined: string }>(
      sql`select surname, joined_store_id as joined from customer where id = ${String(person.id)}`,
    )
    assert.deepEqual(row, { surname: 'Newer', joined: String(person.joinedStoreId) })
    const reps = [...simulator.state.persons.values()].filter(({ retailRep }) => retailRep).length
    assert.ok(reps > 0)
    assert.equal(await count('staff'), reps)
    assert.deepEqual(await listAlerts(db), [])
  })

  test('an unknown customer is imported completely; unflagged staff are removed', async () => {
    const [head = '', ...lines] = (await fetchExport('customers')).split('\r\n')
    const columns = head.split(',')
    const rep = lines.find(line => line.split(',')[columns.indexOf('RETAIL_REP')] === 'Yes') ?? ''
    const formerRep = rep.split(',')
    formerRep[columns.indexOf('RETAIL_REP')] = 'No'
    const fresh = columns.map(
      name =>
        ({ PERIDX: '99001', PERSON_CODE: 'NEWNE00', FIRSTNAME: 'Nia', SURNAME: 'New', PRIVACY: 'No' })[name] ?? '',
    )
    addFile('customers_20260204T101500Z.csv', `${[head, formerRep.join(','), fresh.join(',')].join('\r\n')}\r\n`)
    await importFile('customers_20260204T101500Z.csv')
    const customer = await db.row<{ firstname: string; privacy: boolean }>(
      sql`select firstname, privacy from customer where id = '99001'`,
    )
    assert.deepEqual(customer, { firstname: 'Nia', privacy: false })
    const staff = await db.row<{ active: boolean }>(sql`select active from staff where id = ${formerRep[0]}`)
    assert.equal(staff?.active, false)
  })

  test('a sales file imports lines, stores and products and is idempotent', async () => {
    const file = await fetchExport('orders')
    const sales = new Set(
      file
        .trim()
        .split('\r\n')
        .slice(1)
        .map(line => line.split(',')[0]),
    )
    addFile('orders_20260203T104500Z.csv', file)
    await importFile('orders_20260203T104500Z.csv')
    assert.deepEqual(await listAlerts(db), [])
    assert.equal(await count('retail_transaction'), sales.size)
    const [sale] = simulator.state.transactions
    const record = await db.row<{ record: string }>(
      sql`select record from retail_transaction where id = ${String(sale?.id)}`,
    )
    const saleRecord = JSON.parse(record?.record ?? '{}')
    assert.equal(saleRecord.lines.length, sale?.lines.length)
    assert.equal(saleRecord.storeNumber, String(simulator.state.stores.get(sale?.storeId ?? 0)?.number))
    assert.ok(saleRecord.storeName && saleRecord.lines[0].productName && saleRecord.lines[0].sku)

    const loadNewestTimestamp = () =>
      db.row<{ at: string }>(sql`select max(changed_at)::text as at from retail_transaction`)
    const lastImport = await loadNewestTimestamp()
    addFile('orders_20260203T104500Z.csv', file)
    await importFile('orders_20260203T104500Z.csv')
    assert.deepEqual(await loadNewestTimestamp(), lastImport)
    assert.ok(listFolder('done').includes('orders_20260203T104500Z.csv.1'), 'the first file is kept')
  })

  test('a file left by a killed process is imported again without harm', async () => {
    const file = await fetchExport('orders')
    addFile('orders_20260205T104500Z.csv', file)
    await worker.stop(5_000)
    const place = openFolder(folder)
    const { scan } = await scanFolder(place, undefined)
    const [leftFile] = (await scanFolder(place, scan)).complete
    assert.equal(leftFile?.name, 'orders_20260205T104500Z.csv')
    if (leftFile)
      await importExport(
        db,
        luma,
        { ...leftFile, ...(await place.fetch(leftFile.name, leftFile.version)) },
        new AbortController().signal,
      )
    const saleCount = await count('retail_transaction')
    worker = startWorker(
      { db, keys, log, mailTransport: { send: async () => {} } },
      { 'import-exports': buildBackOfficeJobs(offices)['import-exports'] as never },
    )
    await importFile('orders_20260205T104500Z.csv')
    assert.equal(await count('retail_transaction'), saleCount)
    assert.deepEqual(await listAlerts(db), [])
  })

  test('a sale from the API keeps its lines', async () => {
    const [sale] = simulator.state.transactions
    const id = String(sale?.id)
    const record = await db.row<{ record: string }>(
      sql`update retail_transaction set record = replace(record, '"id":"x1"', '"id":"15882"') where id = ${id} returning record`,
    )
    addFile('orders_20260206T104500Z.csv', await fetchExport('orders'))
    await importFile('orders_20260206T104500Z.csv')
    assert.deepEqual(await db.row(sql`select record from retail_transaction where id = ${id}`), record)
  })

  test('rejected lines are stored with reasons and raise an alert', async () => {
    const head = 'ACCOUNT_ID,PERIDX,PROGRAM_ID,TIER_ID,JOIN_DATE,POINTS'
    const [account] = simulator.state.accounts.values()
    const good = `${account?.id},${account?.personId},${account?.programId},${account?.tierId},2026-01-02,5`
    addFile('rewards_20260203T110000Z.csv', `${head}\r\n${good}\r\n77001,${account?.personId},1,1,2026-02-30,5\r\n`)
    await importFile('rewards_20260203T110000Z.csv')
    const [, rejectedFile = ''] = listFolder('failed').filter(name => name.startsWith('rewards_20260203'))
    assert.match(
      readFileSync(pathTo('failed', rejectedFile), 'utf8'),
      /"joinDate","reason":"must be an existing date.*"77001"/,
    )
    assert.equal(await db.run(sql`select from reward_account where id = ${String(account?.id)}`), 1)
    const [alert] = await listAlerts(db)
    assert.deepEqual([alert?.kind, alert?.subject], ['export_file_rejected', 'rewards_20260203T110000Z.csv'])
    assert.match(alert?.detail ?? '', /^1 of 2 lines were rejected/)
  })

  test('a file with unknown columns moves to failed with a reason', async () => {
    addFile('customers_20260207T101500Z.csv', 'name;place\r\nJo;here\r\n')
    await importFile('customers_20260207T101500Z.csv')
    assert.ok(listFolder('failed').includes('customers_20260207T101500Z.csv'))
    assert.match((await listAlerts(db))[0]?.detail ?? '', /must have the columns PERIDX, FIRSTNAME, SURNAME\.$/)
  })

  test('growing files and files with other names are ignored', async () => {
    const growing = 'customers_20260208T101500Z.csv'
    const [head] = (await fetchExport('customers')).split('\r\n')
    writeFileSync(pathTo(growing), `${head}\r\n`)
    writeFileSync(pathTo('notes.txt'), 'mine')
    const place = openFolder(folder)
    const first = await scanFolder(place, undefined)
    assert.deepEqual([first.complete, first.isGrowing], [[], true])
    writeFileSync(pathTo(growing), `${head}\r\n\r\n`)
    const second = await scanFolder(place, first.scan)
    assert.deepEqual([second.complete, second.isGrowing], [[], true])
    const third = await scanFolder(place, second.scan)
    assert.deepEqual(
      third.complete.map(({ name }) => name),
      [growing],
    )
    await importFile(growing)
    assert.ok(existsSync(pathTo('notes.txt')))
  })
})
