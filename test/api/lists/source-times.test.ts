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

async function sync(kind: string, lines: readonly string[], to: Caller = api) {
  const path = join(directory, `${kind}.csv`)
  await writeFile(path, lines.join('\n'))
  const summary = await importFile(api.db, to.service, kind, await openSource(path), {
    rejectedPath: `${path}.rejected.csv`,
  })
  assert.equal(summary.rejected, 0)
}

const timesOf = async (path: string, from: Caller = api) =>
  Object.fromEntries(
    (await from.get(path)).json.data.map((record: { id: string; updateTimeStamp: string }) => [
      record.id,
      record.updateTimeStamp,
    ]),
  )

/** Within a minute of now, on the service's wall. */
function assertNow(timestamp: string) {
  const now = Temporal.Now.plainDateTimeISO('Australia/Melbourne')
  const seconds = Temporal.PlainDateTime.from(timestamp.replace(' ', 'T')).until(now).total('seconds')
  assert.ok(Math.abs(seconds) < 60, timestamp)
}

test('records of every type carry the time from their file', async () => {
  const at = (day: string) => `2025-${day} 09:30:00`
  await sync('stores', ['storeId,storeNumber,name,updateTimeStamp', `1,1,Collins Street,${at('01-10')}`])
  await sync('staff', ['id,code,surname,updateTimeStamp', `7,JS,Smith,${at('02-10')}`])
  await sync('products', [
    'productId,productCode,name,colourId,skuId,sizeCode,price,updateTimeStamp',
    `p1,P1,Hoodie,c1,k1,S,10.00,${at('03-10')}`,
    `p1,P1,Hoodie,c1,k2,M,10.00,${at('03-10')}`,
    `p2,P2,Shirt,c2,k3,M,10.00,${at('03-09')}`,
  ])
  await sync('stock', ['storeNumber,sku,freeStock,updateTimeStamp', `1,k1,3,${at('04-10')}`, `1,k2,4,${at('04-09')}`])
  await sync('customers', ['id,surname,updateTimeStamp', `1,Lee,${at('05-10')}`, `2,Ray,${at('05-09')}`])
  await sync('transactions', [
    'id,saleDate,lineId,quantity,price,updateTimeStamp',
    `t1,2025-06-01 12:00:00,1,1,5.00,${at('06-10')}`,
    `t1,2025-06-01 12:00:00,2,1,5.00,${at('06-10')}`,
    't2,2025-06-02 12:00:00,1,1,5.00,',
  ])
  assert.deepEqual(await timesOf('/products'), { p1: at('03-10'), p2: at('03-09') })
  assert.deepEqual(await timesOf('/inventory'), { '1-k1': at('04-10'), '1-k2': at('04-09') })
  assert.deepEqual(await timesOf('/customers/search'), { 1: at('05-10'), 2: at('05-09') })
  assert.deepEqual(await timesOf('/orders/transactions/search'), { t1: at('06-10'), t2: '2025-06-02 12:00:00' })
  // Stores and staff show no time of their own.
  assert.equal((await paginate(api, '/stores')).asOf, '2025-01-09T22:30:00.000000Z')
  assert.equal((await paginate(api, '/staff')).asOf, '2025-02-09T22:30:00.000000Z')
})

test('an imported history can be filtered by time', async () => {
  const caller = await api.createService()
  const days = Array.from({ length: 366 }, (_, i) => Temporal.PlainDate.from('2024-01-01').add({ days: i }).toString())
  const history = days.map((day, i) => `t${i},${day} 15:00:00,1,1,5.00`)
  await sync('transactions', ['id,saleDate,lineId,quantity,price', ...history.reverse()], caller)
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
  const bulkExport = '2025-05-10 09:30:00'
  await sync('customers', [header, `1,Lee,${bulkExport}`, `2,Ray,${bulkExport}`, `3,Fox,${bulkExport}`], caller)
  await sync(
    'customers',
    [header, '1,Lee,2025-08-01 10:00:00', `2,Rays,${bulkExport}`, '3,Foxe,2025-06-01 10:00:00'],
    caller,
  )
  const { 1: same, 2: now, 3: later } = await timesOf('/customers/search', caller)
  assert.deepEqual([same, later], [bulkExport, '2025-06-01 10:00:00'])
  assertNow(now)
})

test('a future source time becomes the current time', async () => {
  const caller = await api.createService({ timeZone: 'Australia/Melbourne' })
  await sync('customers', ['id,surname,updateTimeStamp', '1,Lee,2999-01-01 00:00:00'], caller)
  assertNow((await timesOf('/customers/search', caller))[1])
})
