import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { ExportType } from '../../../src/backoffice/apparel21/export-files/files.ts'
import { importExport } from '../../../src/backoffice/apparel21/export-files/import.ts'
import { type Database, openDatabase } from '../../../src/database/db.ts'
import { openImportShop, type Shop } from '../../support/import-shop.ts'

let shop: Shop
before(async () => {
  shop = await openImportShop()
})
after(() => shop.close())

const head = 'PERIDX,PERSON_CODE,FIRSTNAME,SURNAME,EMAIL,DOB,PRIVACY,RETAIL_REP\r\n'

/** Imports text or bytes as an export of the given type. Returns the counts and the content of the rejected file. */
async function importText(text: string | Buffer, db: Database = shop.db, kind: ExportType = 'customers') {
  const name = `${kind}_1.csv`
  const path = join(shop.directory, name)
  await writeFile(path, text)
  const rejectedFile = `${path}.rejected.ndjson`
  const file = { type: kind, name, path, rejectedPath: rejectedFile }
  const { notes, ...counts } = await importExport(db, shop.service, file, new AbortController().signal)
  return { ...counts, rejectedFile: await readFile(rejectedFile, 'utf8').catch(() => undefined) }
}

test("a person keeps the export's time unless it is unreadable", async () => {
  const columns = 'PERIDX,PERSON_CODE,FIRSTNAME,SURNAME,RETAIL_REP,LAST_UPDATED\r\n'
  await importText(`${columns}90,Z1,Zoe,Lee,Yes,6/05/2024 4:32:15 PM\r\n91,Z2,Zac,Lee,No,lately\r\n`)
  const rows = await shop.queryRows(`
    select id, to_char(changed_at, 'YYYY-MM-DD HH24:MI:SS') as at from customer union all
    select id, to_char(changed_at, 'YYYY-MM-DD HH24:MI:SS') from staff order by id`)
  const times = rows.map(({ id, at }) => [id, at < '2025' ? at : 'now'])
  const saleDate = '2024-05-06 16:32:15'
  assert.deepEqual(times, [
    ['90', saleDate],
    ['90', saleDate],
    ['91', 'now'],
  ])
})

test('dates and times of an export are read in every documented form', async () => {
  await importText(
    'PERIDX,PERSON_CODE,FIRSTNAME,SURNAME,DOB,CREATED_DATE\r\n70,D1,Dee,Lee,29/02/1980,25/03/2021 10:00:00 AM\r\n71,D2,Don,Lee,1980-02-29T00:00:00,2021-03-25\r\n',
  )
  const people = await shop.queryRows(
    `select date_of_birth::text as born, start_date::text as started from customer where id in ('70', '71')`,
  )
  const dates = { born: '1980-02-29', started: '2021-03-25 00:00:00' }
  assert.deepEqual(people, [dates, dates])
  await importText(
    'TRANSACTION_ID,SALE_DATE,SKUIDX,QUANTITY,PRICE\r\nD1,26/05/2024,1,1,5.00\r\nD2,26/05/2024 4:05:06 PM,1,1,5.00\r\nD3,2024-05-26T16:05:06,1,1,5.00\r\n',
    shop.db,
    'orders',
  )
  const sales = await shop.queryRows(
    `select sale_date::text as sold from retail_transaction where id in ('D1', 'D2', 'D3') order by id`,
  )
  assert.deepEqual(
    sales.map(({ sold }) => sold),
    ['2024-05-26 00:00:00', '2024-05-26 16:05:06', '2024-05-26 16:05:06'],
  )
})

test('an export that is not UTF-8 is decoded with its letters intact', async () => {
  const windows = Buffer.from(`${head}80,W1,René,Müller,,,Yes,No\r\n`, 'latin1')
  const wide = Buffer.from(`\ufeff${head}81,W2,Zoë,Groß,,,Yes,No\r\n`, 'utf16le')
  const [first, second] = [await importText(windows), await importText(wide)]
  assert.deepEqual([first.inserted, second.inserted, first.error ?? second.error], [1, 1, undefined])
  const rows = await shop.queryRows(`select firstname, surname from customer where id in ('80', '81') order by id`)
  assert.deepEqual(rows, [
    { firstname: 'René', surname: 'Müller' },
    { firstname: 'Zoë', surname: 'Groß' },
  ])
})

test('rejected export lines become records with our columns', async () => {
  const { read, inserted, rejected, rejectedFile } = await importText(
    `${head}1,A1,Ann,"Lee, jr",a@example.com,,Yes,No\r\n2,B1,Bo,Lee,A@example.com,,Yes,No\r\n3,C1,Cy,Lee,,1990-02-30,maybe,No\r\n`,
  )
  assert.deepEqual([read, inserted, rejected], [3, 1, 2])
  const duplicate = { code: 'B1', firstname: 'Bo', surname: 'Lee', email: 'A@example.com', privacy: 'Yes' }
  const invalidPerson = { code: 'C1', firstname: 'Cy', surname: 'Lee', dateOfBirth: '1990-02-30', privacy: 'maybe' }
  assert.deepEqual(
    rejectedFile
      ?.trim()
      .split('\n')
      .map(line => JSON.parse(line)),
    [
      { line: 2, column: 'email', reason: 'belongs to another customer: A@example.com', id: '2', ...duplicate },
      {
        line: 3,
        column: 'dateOfBirth; privacy',
        reason: 'dateOfBirth must be an existing date: YYYY-MM-DD; privacy must be true, false, yes, no, y, n, 1 or 0',
        id: '3',
        ...invalidPerson,
      },
    ],
  )
})

test('an export that cannot be read to its end reports the cause', async () => {
  const { error } = await importText(`${head}"4,D1,Di,Lee,,,,\r\n`)
  assert.match(error ?? '', /^customers_1\.csv can't be read: Quote Not Closed/)
})

test('a database outage does not count as an error of the export', async t => {
  const unreachable = openDatabase('postgres://127.0.0.1:1/none')
  t.after(() => unreachable.close())
  await assert.rejects(importText(`${head}5,E1,Ed,Lee,,,,\r\n`, unreachable), /The database is unavailable/)
})
