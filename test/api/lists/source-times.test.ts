import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { importFile } from '../../../src/import/import-file.ts'
import { openSource } from '../../../src/import/sources/file.ts'
import { paginate } from '../../support/paginate.ts'
import { type Caller, startTestApi } from '../../support/service.ts'

const api = await startTestApi({ settings: { timeZone: 'Australia/Melbourne' } })
const directory = mkdtempSync(join(tmpdir(), 'tillbridge-times-'))
after(async () => {
  await api.stop()
  await rm(directory, { recursive: true })
})

async function importLines(kind: string, lines: readonly string[], to: Caller = api) {
  const path = join(directory, `${kind}.csv`)
  await writeFile(path, lines.join('\n'))
  const summary = await importFile(api.db, to.service, kind, await openSource(path), {
    rejectedPath: `${path}.rejected.csv`,
  })
  assert.equal(summary.rejected, 0)
}

const readTimes = async (path: string, from: Caller = api) =>
  Object.fromEntries(
    (await from.get(path)).json.data.map((record: { id: string; updateTimeStamp: string }) => [
      record.id,
      record.updateTimeStamp,
    ]),
  )

/** Asserts that a local time of the service is within a minute of now. */
function assertNow(timestamp: string) {
  const now = Temporal.Now.plainDateTimeISO('Australia/Melbourne')
  const seconds = Temporal.PlainDateTime.from(timestamp.replace(' ', 'T')).until(now).total('seconds')
  assert.ok(Math.abs(seconds) < 60, timestamp)
}

test('records of every type carry the time from their file', async () => {
  const toTime = (day: string) => `2025-${day} 09:30:00`
  await importLines('stores', ['storeId,storeNumber,name,updateTimeStamp', `1,1,Collins Street,${toTime('01-10')}`])
  await importLines('staff', ['id,code,surname,updateTimeStamp', `7,JS,Smith,${toTime('02-10')}`])
  await importLines('products', [
    'productId,productCode,name,colourId,skuId,sizeCode,price,updateTimeStamp',
    `p1,P1,Hoodie,c1,k1,S,10.00,${toTime('03-10')}`,
    `p1,P1,Hoodie,c1,k2,M,10.00,${toTime('03-10')}`,
    `p2,P2,Shirt,c2,k3,M,10.00,${toTime('03-09')}`,
  ])
  await importLines('stock', [
    'storeNumber,sku,freeStock,updateTimeStamp',
    `1,k1,3,${toTime('04-10')}`,
    `1,k2,4,${toTime('04-09')}`,
  ])
  await importLines('customers', ['id,surname,updateTimeStamp', `1,Lee,${toTime('05-10')}`, `2,Ray,${toTime('05-09')}`])
  await importLines('transactions', [
    'id,saleDate,lineId,quantity,price,updateTimeStamp',
    `t1,2025-06-01 12:00:00,1,1,5.00,${toTime('06-10')}`,
    `t1,2025-06-01 12:00:00,2,1,5.00,${toTime('06-10')}`,
    't2,2025-06-02 12:00:00,1,1,5.00,',
  ])
  assert.deepEqual(await readTimes('/products'), { p1: toTime('03-10'), p2: toTime('03-09') })
  assert.deepEqual(await readTimes('/inventory'), { '1-k1': toTime('04-10'), '1-k2': toTime('04-09') })
  assert.deepEqual(await readTimes('/customers/search'), { 1: toTime('05-10'), 2: toTime('05-09') })
  assert.deepEqual(await readTimes('/orders/transactions/search'), { t1: toTime('06-10'), t2: '2025-06-02 12:00:00' })
  // The records of stores and staff contain no timestamp.
  assert.equal((await paginate(api, '/stores')).asOf, '2025-01-09T22:30:00.000000Z')
  assert.equal((await paginate(api, '/staff')).asOf, '2025-02-09T22:30:00.000000Z')
})

test('an imported history can be filtered by time', async () => {
  const caller = await api.createService()
  const days = Array.from({ length: 366 }, (_, i) => Temporal.PlainDate.from('2024-01-01').add({ days: i }).toString())
  const history = days.map((day, i) => `t${i},${day} 15:00:00,1,1,5.00`)
  await importLines('transactions', ['id,saleDate,lineId,quantity,price', ...history.reverse()], caller)
  const march = '/orders/transactions/search?updated_after=2024-03-01&updated_before=2024-04-01'
  const { records } = await paginate(caller, march)
  assert.deepEqual(
    records.map(record => (record as unknown as { saleDate: string }).saleDate.slice(0, 10)),
    days.filter(day => day.startsWith('2024-03')),
  )
  assert.equal((await paginate(caller, '/orders/transactions/search?updated_after=2024-12-01')).ids.length, 31)
})

test('an unchanged import keeps its time; a change without one uses now', async () => {
  const caller = await api.createService({ timeZone: 'Australia/Melbourne' })
  const header = 'id,surname,updateTimeStamp'
  const sourceTime = '2025-05-10 09:30:00'
  await importLines('customers', [header, `1,Lee,${sourceTime}`, `2,Ray,${sourceTime}`, `3,Fox,${sourceTime}`], caller)
  await importLines(
    'customers',
    [header, '1,Lee,2025-08-01 10:00:00', `2,Rays,${sourceTime}`, '3,Foxe,2025-06-01 10:00:00'],
    caller,
  )
  const { 1: same, 2: now, 3: later } = await readTimes('/customers/search', caller)
  assert.deepEqual([same, later], [sourceTime, '2025-06-01 10:00:00'])
  assertNow(now)
})

test('a future source time becomes the current time', async () => {
  const caller = await api.createService({ timeZone: 'Australia/Melbourne' })
  await importLines('customers', ['id,surname,updateTimeStamp', '1,Lee,2999-01-01 00:00:00'], caller)
  assertNow((await readTimes('/customers/search', caller))[1])
})
