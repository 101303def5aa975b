import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import { openImportShop, type Shop } from '../support/import-shop.ts'

let shop: Shop
before(async () => {
  shop = await openImportShop()
})
after(() => shop.close())

const listGateways = async () =>
  (await shop.queryRows('select name from payment_gateway order by name')).map(row => row.name)
const deleteGateways = () => shop.queryRows('delete from payment_gateway')
/** Lists the rejected lines as `number | columns | reason`. */
const listReasons = (rejectedFile = '') =>
  parse(rejectedFile, { relax_column_count: true })
    .slice(1)
    .map(cells => cells.slice(0, 3).join(' | '))

test('a CSV can have BOM, CRLF, blank lines and quoted line breaks', async () => {
  const file = '\ufeffid,"surname",code\r\n\r\n1,"O""Hara, jr",x\r\n2,Äß€𝄞,"y"\r\n"3",Z,'
  const { read, rejected } = await shop.importFile('customers', file)
  assert.deepEqual([read, rejected], [3, 0])
  assert.deepEqual(await shop.queryRows('select id, surname, code from customer order by id'), [
    { id: '1', surname: 'O"Hara, jr', code: 'x' },
    { id: '2', surname: 'Äß€𝄞', code: 'y' },
    { id: '3', surname: 'Z', code: null },
  ])
  const products = 'productId,productCode,name,description,colourId,skuId,sizeCode,price'
  await shop.importFile('products', `${products}\n1,1,N,"first\nsecond, ""third""",1,1,S,1\n`)
  assert.deepEqual(await shop.queryRows('select description from product'), [{ description: 'first\nsecond, "third"' }])
})

test('the columns of a file are resolved before the import', async () => {
  const getErrorMessage = async (kind: string, header: string, options = {}) => {
    const error = await shop.importFile(kind, `${header}\n`, options).then(
      () => assert.fail('the file was imported'),
      (fault: Error) => fault,
    )
    return error.message
  }
  const unknown = await getErrorMessage('stock', 'StoreNumber,skuid,freeStok,Colour,sku,sku')
  assert.match(unknown, /Column "StoreNumber" is unknown\. Is it storeNumber\?/)
  assert.match(unknown, /Column "skuid" is unknown\. Is it skuId\?/)
  assert.match(unknown, /Column "freeStok" is unknown\. Is it freeStock\?/)
  assert.match(unknown, /Column "Colour" is unknown\.\n/)
  assert.match(unknown, /Column sku occurs twice\./)
  assert.match(unknown, /Column storeNumber is missing\./)
  assert.match(unknown, /Columns \(\* is required\): storeNumber\*, sku, skuId, freeStock\*, buffer, updateTimeStamp\./)
  assert.match(unknown, /--map name=column/)
  const foreign = await getErrorMessage('stores', "Store No,Town,Street,Manager's zip")
  assert.match(foreign, /Column "Store No" is unknown\. Is it storeNumber\?/)
  assert.match(foreign, /^Suggested options: --map storeNumber='Store No' --map city=Town --map addressLine1=Street$/m)
  assert.match(await getErrorMessage('stock', 'storeNumber;skuId;freeStock'), /not separated by commas/)
  assert.match(await getErrorMessage('stores', '', { map: new Map([['nope', 'x']]) }), /is empty/)
  assert.match(await getErrorMessage('stores', 'a', { map: new Map([['nope', 'x']]) }), /column nope doesn't exist/)
  await assert.rejects(
    shop.importFile('shops', ''),
    /Import type shops doesn't exist\. Use one of: references, stores, /,
  )
})

test('a file column can fill two fields or none', async () => {
  const map = new Map([
    ['storeId', 'No'],
    ['storeNumber', 'No'],
  ])
  await shop.importFile('stores', 'No,Manager,name\n008,Lee,North\n', { map, ignore: ['Manager'] })
  assert.deepEqual(await shop.queryRows('select store_id, store_number from store'), [
    { store_id: '008', store_number: '008' },
  ])
})

test('a known column can be ignored by option', async () => {
  await shop.importFile('stores', 'storeId,storeNumber,name,code\n77,077,South,S\n', { ignore: ['code'] })
  assert.deepEqual(await shop.queryRows(`select name, code from store where store_id = '77'`), [
    { name: 'South', code: null },
  ])
  await assert.rejects(
    shop.importFile('stores', 'storeId,storeNumber,name\n77,077,South\n', { ignore: ['name'] }),
    /Column name is missing\./,
  )
})

test('a column known by a foreign name can be ignored by option', async () => {
  const file = 'Customer ID,Email\n1,a@example.com\n'
  await shop.importFile('ecommerce-customers', file, { ignore: ['Email'] })
  assert.deepEqual(await shop.queryRows('select ecommerce_id, other from ecommerce_item'), [
    { ecommerce_id: '1', other: null },
  ])
})

test('fields of records can be ignored in the same way', async () => {
  const record = { storeId: '78', storeNumber: '078', name: 'East', ecommerceLocationId: 'L', code: 'E' }
  await shop.importFile('stores', JSON.stringify(record), { file: 'stores.ndjson', ignore: ['code'] })
  assert.deepEqual(
    await shop.queryRows(
      `select name, code, ecommerce_location_id, to_char(changed_at, 'YYYY') >= '2026' as now from store where store_id = '78'`,
    ),
    [{ name: 'East', code: null, ecommerce_location_id: 'L', now: true }],
  )
})

test('ragged lines and stray quotation marks are rejected individually', async () => {
  const file = 'id,code,surname\n1,a,A,B\n2,b\n3,c"c,C\n4,"d"d,D\n5,"e,E\n6,"f",F\n7,g,G\n'
  const { inserted, rejectedFile } = await shop.importFile('staff', file)
  assert.equal(inserted, 2)
  const stray = 'A cell has a quotation mark inside. Put the cell in quotation marks, and double the ones inside.'
  assert.deepEqual(listReasons(rejectedFile), [
    '2 |  | The line must have 3 cells like the header, but has 4.',
    '3 |  | The line must have 3 cells like the header, but has 2.',
    `4 |  | ${stray}`,
    `5 |  | ${stray}`,
    '6 |  | A quotation mark in this line is not closed. Close it at the end of its cell.',
  ])
  assert.match(rejectedFile ?? '', /,3,"c""c",C\n/)
})

test('a line with invalid UTF-8 is rejected and kept byte by byte', async () => {
  await deleteGateways()
  const file = Buffer.concat([Buffer.from('name\nfirst\n'), Buffer.from('caf\xe9\n', 'latin1'), Buffer.from('café\n')])
  const { inserted, rejectedFile } = await shop.importFile('payment-gateways', file)
  assert.deepEqual([inserted, await listGateways()], [2, ['café', 'first']])
  assert.deepEqual(listReasons(rejectedFile), [
    '3 |  | The line must be valid UTF-8. Save the file as UTF-8, or set its encoding, such as --encoding windows-1252.',
  ])
  const bytes = await readFile(join(shop.directory, 'payment-gateways.csv.rejected.csv'))
  assert.ok(bytes.includes(Buffer.from('caf\xe9\n', 'latin1')))
})

test('a line over 1 MiB or with an open quotation is rejected', async () => {
  await deleteGateways()
  const giant = 'x'.repeat(3 * 1024 * 1024)
  // More than 1 MiB after the quotation mark that is never closed.
  const filler = Array.from({ length: 25_000 }, (_, i) => `g${i}`.padEnd(50, '-')).join('\n')
  const { read, inserted, rejectedFile } = await shop.importFile('customers', `id\na\n${giant}\n"b\n${filler}\n`)
  assert.deepEqual([read, inserted], [25_003, 25_001])
  assert.deepEqual(listReasons(rejectedFile), [
    '3 |  | The line must have at most 1 MiB.',
    '4 |  | A quotation mark in this line is not closed. Close it at the end of its cell.',
  ])
  assert.ok((rejectedFile?.length ?? 0) < 1000)
})

test('gzip is detected by its first bytes and damage by its end', async () => {
  await deleteGateways()
  const compressed = gzipSync('name\npacked\n')
  await shop.importFile('payment-gateways', compressed, { file: 'a.csv.gz' })
  await shop.importFile('payment-gateways', gzipSync('name\nunnamed\n'), { file: 'a.csv' })
  assert.deepEqual(await listGateways(), ['packed', 'unnamed'])
  await assert.rejects(
    shop.importFile('payment-gateways', compressed.subarray(0, -9), { file: 'a.csv.gz' }),
    /a\.csv\.gz can't be decompressed completely, because it is damaged/,
  )
})

test('a stream can arrive byte by byte', async () => {
  await deleteGateways()
  const bytes = gzipSync('\ufeffname\r\n"dröpped"\r\nby drop')
  await shop.importStream(
    'payment-gateways',
    [...bytes].map(byte => Buffer.from([byte])),
    'csv',
  )
  assert.deepEqual(await listGateways(), ['by drop', 'dröpped'])
})

test('NDJSON has the same columns with strict types', async () => {
  const lines = [
    { id: 'n1', saleDate: '2024-05-01T10:00', lineId: 'a', quantity: 2, price: '1.50', sku: null },
    { id: 'n2', saleDate: '2024-05-01', lineId: 'a', quantity: '1', price: 3 },
    { id: 3, saleDate: '2024-05-01', lineId: 'a', quantity: 1.0005, price: 2.99 },
    { id: 'n4', saleDate: '2024-05-01', lineId: 'a', quantity: 1, price: '1', Colour: 'x', sku: { a: 1 } },
    { id: 'n5', lineId: '\ud800', quantity: true, price: '1', saleDate: 'x\0' },
  ]
  const file = `${lines.map(line => JSON.stringify(line)).join('\n')}\n[1]\n{"id":\n\n`
  const { read, inserted, rejectedFile } = await shop.importFile('transactions', file, { file: 'sales.ndjson' })
  assert.deepEqual([read, inserted], [7, 2])
  const [third, fourth, fifth, ...laterLines] = (rejectedFile ?? '')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  assert.deepEqual(Object.keys(third), ['line', 'column', 'reason', 'id', 'saleDate', 'lineId', 'quantity', 'price'])
  assert.deepEqual([third.line, third.column, third.id], [3, 'id; quantity; price', 3])
  assert.match(
    third.reason,
    /^id must be text: write the number in quotation marks; quantity must have at most three decimals/,
  )
  assert.equal(fourth.column, 'Colour; sku')
  assert.match(fourth.reason, /^Colour doesn't exist; sku must be a single value, not an object or a list/)
  assert.deepEqual([fourth.sku, fifth.column], [{ a: 1 }, 'saleDate; lineId; quantity'])
  assert.deepEqual(laterLines, [
    { line: 6, column: '', reason: 'The line must be a JSON object. [1]' },
    { line: 7, column: '', reason: 'The line must be a JSON object. {"id":' },
  ])
  const [record] = await shop.queryRows(`select record from retail_transaction where id = 'n1'`)
  const { saleDate, total } = JSON.parse(record.record)
  assert.deepEqual([saleDate, total], ['2024-05-01 10:00:00', '3.00'])
})

test('300,000 lines are imported in less than 400 MB', async t => {
  const path = join(shop.directory, 'generate.ts')
  const toModuleUrl = (file: string) => JSON.stringify(fileURLToPath(new URL(`../../src/${file}`, import.meta.url)))
  await writeFile(
    path,
    `import { Readable } from 'node:stream'
     import { importFile } from ${toModuleUrl('import/import-file.ts')}
     import { openDatabase } from ${toModuleUrl('database/db.ts')}
     const db = openDatabase(${JSON.stringify(shop.connection)}, { statementTimeoutMs: 0 })
     function* file() {
       yield Buffer.from('id,saleDate,lineId,quantity,price,productName\\n')
       for (let i = 0; i < 300_000; i += 100) {
         let text = ''
         for (let n = i; n < i + 100; n++) text += \`m\${Math.floor(n / 3)},2024-05-01 10:00:00,\${n},1,2.50,A product with a name of usual length\\n\`
         yield Buffer.from(text)
       }
     }
     const began = performance.now()
     const source = { name: 'a stream', format: 'csv', stream: Readable.from(file()) }
     const { inserted } = await importFile(db, ${JSON.stringify(shop.service)}, 'transactions', source)
     const seconds = (performance.now() - began) / 1000
     await db.close()
     console.log(JSON.stringify({ inserted, perSecond: Math.round(inserted / seconds), megabytes: process.resourceUsage().maxRSS / 1024 }))`,
  )
  const child = spawn(process.execPath, [path], { stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.on('data', chunk => {
    out += chunk
  })
  await once(child, 'close')
  const { inserted, perSecond, megabytes } = JSON.parse(out)
  t.diagnostic(`${perSecond} lines/s, ${Math.round(megabytes)} MB`)
  assert.equal(inserted, 300_000)
  assert.ok(megabytes < 400, `${megabytes} MB`)
})
