import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ImportOptions } from '../../src/import/import-file.ts'
import { openImportShop, type Shop } from '../support/import-shop.ts'

let shop: Shop
before(async () => {
  shop = await openImportShop()
})
after(() => shop.close())

/** Imports sales with these cells in a column. Returns each stored value, or undefined if the line was rejected. */
async function readColumn(column: string, cells: readonly string[], options: ImportOptions = {}) {
  const columns = ['saleDate', 'quantity', 'price']
  const defaults: Record<string, string> = { saleDate: '2024-05-26', quantity: '1', price: '1' }
  const set = new Map(columns.filter(name => name !== column).map(name => [name, defaults[name] ?? '']))
  if (options.dateFormat !== undefined) set.set('saleDate', '01.02.2024')
  if (column === 'saleDate') set.delete('saleDate')
  const lines = cells.map((cell, i) => `${column}${i},1,"${cell}"\n`)
  await shop.queryRows('delete from retail_transaction')
  await shop.importFile('transactions', `id,lineId,${column}\n${lines.join('')}`, { set, ...options })
  const rows = await shop.queryRows('select id, record from retail_transaction')
  const stored = new Map(rows.map(({ id, record }) => [id, JSON.parse(record)]))
  return cells.map((_, i) => {
    const sale = stored.get(`${column}${i}`)
    return sale && (sale[column] ?? sale.lines[0][column])
  })
}

test('numbers use a decimal point unless a comma is configured', async () => {
  assert.deepEqual(await readColumn('quantity', ['1.0', '1.500', '-0.735', '+2', '1.2345', '1,5', '1e3', '1.']), [
    ...[1, 1.5, -0.735, 2],
    ...[undefined, undefined, undefined, undefined],
  ])
  const withComma = await readColumn(
    'quantity',
    ['1,0', '1.500', '1.234.567,25', '12.34', "1'000", '1\u00a0000,5', '1 00'],
    {
      decimal: ',',
    },
  )
  assert.deepEqual(withComma, [1, 1500, 1_234_567.25, undefined, 1000, 1000.5, undefined])
  assert.deepEqual(await readColumn('price', ['1,234.50', '1234.5', '12,34'], { decimal: '.' }), [
    '1234.50',
    '1234.50',
    undefined,
  ])
})

test('a number with a comma is rejected with the suitable options', async () => {
  const prices = ['1,50', '1.234,50', '0,735', '1,234.50', '1,234,567', '1,000']
  const lines = prices.map((price, i) => `c${i},1,2024-05-26,1,"${price}"\n`)
  const { rejections } = await shop.importFile('transactions', `id,lineId,saleDate,quantity,price\n${lines.join('')}`)
  assert.deepEqual(
    rejections.map(({ firstMessage: text, numbers }) => [text, ...numbers]),
    [
      ['must have a decimal point, not a comma. To read such numbers, use --decimal ,', 2, 3, 4],
      ["can't have a comma between thousands. To read such numbers, use --decimal .", 5, 6],
      ['has an ambiguous comma. Use --decimal . if it separates thousands, or --decimal , if it precedes decimals', 7],
    ],
  )
})

test('a unit price keeps four decimals without unnecessary zeros', async () => {
  assert.deepEqual(await readColumn('price', ['1.599', '0.0049', '1.5000', '007', '1.00001', '1.50000']), [
    ...['1.599', '0.0049', '1.50', '7.00', undefined, '1.50'],
  ])
})

test('dates follow their format and nonexistent ones are rejected', async () => {
  const readDates = (dateFormat: string, ...cells: string[]) => readColumn('saleDate', cells, { dateFormat })
  assert.deepEqual(await readDates('DD.MM.YYYY', '26.05.2024', '26.05.2024 14:05', '26.5.2024', '31.02.2024'), [
    '2024-05-26 00:00:00',
    '2024-05-26 14:05:00',
    undefined,
    undefined,
  ])
  assert.deepEqual(
    await readDates('M/D/YY H:MM AM', '12/1/10 8:26 PM', '12/1/10 12:26 am', '1/2/70', '13/1/10 8:26 AM'),
    ['2010-12-01 20:26:00', '2010-12-01 00:26:00', '1970-01-02 00:00:00', undefined],
  )
  assert.deepEqual(
    await readDates('DD-MMM-YYYY HH:MM:SS', '03-Mar-2024 10:20:30', '03-MARCH-2024 10:20:61', '03-Foo-2024'),
    ['2024-03-03 10:20:30', undefined, undefined],
  )
})

test("NDJSON uses JSON numbers and the file's text options", async () => {
  const line = { id: 'n', saleDate: '2024-05-26', lineId: '1', quantity: 1.234, price: '1.000,5' }
  await shop.importFile('transactions', `${JSON.stringify(line)}\n`, { file: 'n.ndjson', decimal: ',' })
  const [row] = await shop.queryRows(`select record from retail_transaction where id = 'n'`)
  const { lines, total } = JSON.parse(row.record)
  assert.deepEqual([lines[0].quantity, lines[0].price, total], [1.234, '1000.50', '1234.62'])
})

test('a file with mixed encodings stops the import', async () => {
  const buildLines = (letter: string) => Array.from({ length: 6_000 }, (_, i) => `${letter}${i},plain text\n`).join('')
  const file = Buffer.concat([
    Buffer.from(`name,code\n`),
    Buffer.from('caf\xe9,x\n', 'latin1'),
    Buffer.from(`${buildLines('a')}café,x\n`),
  ])
  const remarks: string[] = []
  await assert.rejects(
    shop.importFile('payment-gateways', file, { ignore: ['code'], onRemark: text => remarks.push(text) }),
    /begins as Windows-1252 and continues as UTF-8/,
  )
  assert.equal(remarks.length, 1)
})

test("a Windows-1252 letter is decoded even at the file's end", async () => {
  for (const end of ['', '\n', '\r\n', 'x\r\n']) {
    await shop.queryRows('delete from payment_gateway')
    const remarks: string[] = []
    const file = Buffer.from(`name\ncaf\xe9${end}`, 'latin1')
    await shop.importFile('payment-gateways', file, { onRemark: text => remarks.push(text) })
    assert.deepEqual(await shop.queryRows('select name from payment_gateway'), [{ name: `café${end.trim()}` }])
    assert.match(remarks.join(), /is not UTF-8. It is read as Windows-1252 with low confidence/)
  }
})
