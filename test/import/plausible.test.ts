import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { importAndWait } from '../support/import-and-wait.ts'
import { startTestApi, type TestApi } from '../support/service.ts'

/** Values that can't be true are rejected or remarked, in every import type that has such values. */

let api: TestApi
before(async () => {
  api = await startTestApi({ role: 'admin' })
})
after(() => api.stop())

const future = `${new Date().getUTCFullYear() + 3}-01-01`

/** Imports a file. Returns the reasons of its rejected lines and its notes. */
async function importFile(type: string, columns: string, ...lines: string[]) {
  const run = await importAndWait(api, type, `${columns}\n${lines.join('\n')}\n`)
  assert.equal(run.state, 'ok', run.detail)
  const groups = run.rejected ? (await api.get(`${run.path}/rejected`)).json.data : []
  return {
    reasons: groups.map(({ column, reason, numbers }: Record<string, unknown>) => [column, reason, numbers]),
    notes: run.notes.map(({ note, count }: { note: string; count: number }) => `${count} ${note}`),
  }
}

test('negative prices are rejected and raised prices remarked', async () => {
  const columns = 'productId,productCode,name,colourId,skuId,sizeCode,price,originalPrice,preorderDate,updateTimeStamp'
  const { reasons, notes } = await importFile(
    'products',
    columns,
    'P1,P1,A,C1,S1,S,-3.00,,,',
    'P2,P2,A,C2,S2,S,3.00,-4.00,,',
    'P3,P3,A,C3,S3,S,3.00,2.00,,',
    `P4,P4,A,C4,S4,S,3.00,3.00,3026-01-01,${future}`,
  )
  assert.deepEqual(reasons, [
    ['price', 'must be at least 0', [2]],
    ['originalPrice', 'must be at least 0', [3]],
  ])
  assert.deepEqual(notes.sort(), [
    '1 originalPrice is less than price',
    '1 preorderDate is more than 100 years ahead: check the date format',
    '1 updateTimeStamp is in the future: check the date format',
  ])
})

test('dates of customers that cannot be true are rejected or remarked', async () => {
  const { reasons, notes } = await importFile(
    'customers',
    'id,surname,dateOfBirth,startDate',
    `C1,Smith,${future},`,
    'C2,Smith,1899-12-30,',
    `C3,Smith,1985-06-01,${future}`,
    'C4,Smith,0000-00-00,1970-01-01',
  )
  assert.deepEqual(reasons, [['dateOfBirth', "can't be in the future", [2]]])
  assert.deepEqual(notes.sort(), [
    '1 dateOfBirth is more than 120 years ago: check the date format',
    '1 placeholder such as NULL or #N/A: read as an empty cell',
    '1 startDate is before 1980: check the date format',
    '1 startDate is in the future: check the date format',
  ])
  assert.equal((await api.get('/customers/C4')).json.data.dateOfBirth, null)
})

test('stock, vouchers, rewards and sales have their own limits', async () => {
  await importFile('stores', 'storeId,storeNumber,name', '1,001,North')
  const stock = await importFile(
    'stock',
    'storeNumber,skuId,freeStock,updateTimeStamp',
    `001,S3,9300000000002,${future}`,
  )
  assert.deepEqual(stock.reasons, [['freeStock', 'must be at most 2147483647', [2]]])
  const vouchers = await importFile(
    'vouchers',
    'number,pin,balance,originalAmount,status,expiryDate',
    'V1,1,-1.00,,,',
    'V2,1,5.00,,redeemed,',
    'V3,1,5.00,10.00,pending,',
    'V4,1,5.00,10.00,,2226-01-01',
  )
  assert.equal(vouchers.reasons.length, 3)
  assert.deepEqual(vouchers.notes, ['1 expiryDate is more than 100 years ahead: check the date format'])
  const programs = await importFile(
    'reward-programs',
    'programId,programName,tierId,tierName,tierSequence,accrualSpend',
    '1,Club,1,Basic,1,-10.00',
    '2,Club,1,Basic,1,10.00',
  )
  assert.deepEqual(programs.reasons, [['accrualSpend', 'must be at least 0', [2]]])
  await importFile('reward-accounts', 'id,customerId,programId', 'A1,C3,2')
  const lots = await importFile(
    'reward-lots',
    'accountId,kind,lotId,createdAt,total,redeemed,pending,expiryDate',
    'A1,points,1,2026-01-05,-5,,,',
    'A1,points,2,2026-01-05,10,8,3,',
    'A1,reward,3,2026-01-05,10.00,,,2026-01-04',
    `A1,points,4,${future},10,,,`,
  )
  assert.deepEqual(lots.reasons, [
    ['total', 'must be at least 0', [2]],
    ['total', 'must be at least the sum of redeemed and pending', [3]],
    ['expiryDate', "can't be before createdAt", [4]],
  ])
  assert.deepEqual(lots.notes, ['1 createdAt is in the future: check the date format'])
  const sales = await importFile('transactions', 'id,lineId,saleDate,quantity,price', `T1,1,${future},0,5.00`)
  assert.deepEqual(sales.notes.sort(), ['1 quantity is 0', '1 saleDate is in the future: check the date format'])
})

test('errors of spreadsheets are rejected in text cells', async () => {
  const errors = ['#REF!', '#VALUE!', '#NAME?', '#DIV/0!', '#NUM!', '########']
  const { reasons } = await importFile('staff', 'id,code,surname', ...errors.map((error, i) => `${i},A${i},${error}`))
  const reason = 'is an error of a spreadsheet. Correct its cell, and export the file again'
  assert.deepEqual(reasons, [['surname', reason, [2, 3, 4, 5, 6, 7]]])
})

test('texts that an export damaged are remarked and kept', async () => {
  const { reasons, notes } = await importFile(
    'stores',
    'storeId,storeNumber,name',
    '2,002,M&uuml;ller &amp; Co',
    '3,003,MÃ¼ller',
    '4,004,Oâ€™Neil',
    '5,005,Château Ângela & Co',
  )
  assert.deepEqual(reasons, [])
  assert.deepEqual(notes.sort(), [
    '1 HTML character reference such as &amp;: kept, check the export',
    '2 text that was decoded twice, such as Ã¼: kept, check the export',
  ])
  assert.equal((await api.get('/stores/003')).json.data.name, 'MÃ¼ller')
})

test('files that are not CSV are rejected with their format', async () => {
  const importForDetail = async (content: string) => (await importAndWait(api, 'customers', content)).detail
  assert.match(await importForDetail('[{"id":"1"}]\n'), /^The file is JSON, not CSV\. /)
  assert.match(
    await importForDetail('<!DOCTYPE html><html><body>Sign in</body></html>\n'),
    /^The file must be CSV, but it is a web page or XML/,
  )
  assert.match(await importForDetail('"id" ,surname\n1,Smith\n'), /^The file has an unreadable header\. .*quot/)
})
