import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { runCommand, runSuccessfully } from '../support/processes.ts'
import type { Accounts } from './real-data/accounts.ts'
import { type AuditResult, runAudit } from './real-data/audit.ts'
import { openShop } from './real-data/shop.ts'
import { sumTallies } from './real-data/tally.ts'
import { convertUci } from './real-data/uci.ts'

// A generated file with the peculiarities of the real data, so that this test doesn't need the real data.

const lines = [
  ['900001', '10001A', 'RED LANTERN', 6, '2010-12-01 08:26:00', '2.55', '17001.0', 'United Kingdom'],
  ['900001', '10001a', 'BLUE LANTERN', 2, '2010-12-01 08:26:00', '3.39', '17001.0', 'United Kingdom'],
  // A duplicate line counts as a second line.
  ['900002', '20002', 'TIN "BOX", LARGE', 1, '2010-12-01 08:28:00', '7.65', '17002.0', 'France'],
  ['900002', '20002', 'TIN "BOX", LARGE', 1, '2010-12-01 08:28:00', '7.65', '17002.0', 'France'],
  // The largest sale, and the most expensive one, which has no customer. Both are returned.
  ['900003', '30003', 'PAPER CRAFT, LITTLE BIRDIE', 80_995, '2010-12-02 09:15:00', '2.08', '17003.0', 'United Kingdom'],
  [
    'C900004',
    '30003',
    'PAPER CRAFT, LITTLE BIRDIE',
    -80_995,
    '2010-12-02 09:27:00',
    '2.08',
    '17003.0',
    'United Kingdom',
  ],
  ['A900005', 'B', 'Adjust bad debt', 1, '2010-12-03 14:50:00', '11062.06', '', 'United Kingdom'],
  ['A900006', 'B', 'Adjust bad debt', 1, '2010-12-03 14:51:00', '-11062.06', '', 'United Kingdom'],
  // A free item without a name, and a stock correction.
  ['900007', '40004', '', 3, '2010-12-04 10:00:00', '0.0', '', 'United Kingdom'],
  ['900008', '40004', 'thrown away', -240, '2010-12-04 10:05:00', '0.0', '', 'United Kingdom'],
  // A return without a sale.
  ['C900009', '10001A', 'RED LANTERN', -1, '2010-12-05 11:00:00', '2.55', '17004.0', 'Cura\u00e7ao'],
  // A tenth of a penny.
  ['900010', 'PADS', 'PADS TO MATCH ALL CUSHIONS', 1, '2010-12-06 12:00:00', '0.001', '17001.0', 'Australia'],
] as const

let folder: string
let accounts: Accounts
let auditResult: AuditResult
let shop: Awaited<ReturnType<typeof openShop>>
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tillbridge-made-up-'))
  const source = join(folder, 'uci-online-retail')
  await mkdir(source)
  const toCell = (value: string | number) => `"${String(value).replaceAll('"', '""')}"`
  const header = 'InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country'
  const text = [header, ...lines.map(line => line.map(toCell).join())].join('\n')
  await writeFile(join(source, 'online_retail.csv.gz'), gzipSync(`${text}\n`))
  const linesRead = {}
  const { files, counts, skus, customers, transactions } = await convertUci({
    from: folder,
    to: folder,
    linesRead,
  })
  const none = { stores: 0, staff: 0, stock: 0 }
  accounts = {
    linesRead,
    files,
    records: Object.assign(none, { products: skus.size, skus: skus.size, customers, transactions }),
    counts: { uci: counts, adventureworks: {}, magento: {}, shop: {} },
  }
  shop = await openShop()
  auditResult = await runAudit(shop, accounts, folder)
})
after(async () => {
  await shop?.close()
  await rm(folder, { recursive: true, force: true })
})

test('generated data contains the counted anomalies', () => {
  assert.partialDeepStrictEqual(accounts.counts.uci, {
    largestQuantity: 80_995,
    exactDuplicates: 1,
    caseCollisions: 1,
    returnsWithoutSale: 1,
    rowsAtPriceZero: 2,
    rowsAtNegativePrice: 1,
    rowsWithoutCustomer: 4,
    rowsWithoutDescription: 1,
    rowsBeyondCurrency: 1,
    negativeRowsOutsideCreditNotes: 1,
    badDebtInvoices: 2,
    creditNotes: 2,
    customersInSeveralCountries: 1,
  })
})

test('generated data is imported completely and listed as in the file', () => {
  for (const { file, rows } of accounts.files) assert.equal(auditResult.summaries[file]?.read, rows, file)
  assert.equal(auditResult.rejected.transactions.lines, 1)
  for (const reason of Object.keys(auditResult.reasons)) assert.match(reason, /must have at most 2 decimals, like GBP$/)
  for (const kind of ['products', 'customers', 'transactions'] as const)
    assert.deepEqual(
      sumTallies(auditResult.listedTallies[kind], auditResult.rejected[kind]),
      auditResult.expected[kind],
      kind,
    )
  assert.deepEqual([auditResult.linesTwice, auditResult.wrongTotals], [0, 0])
  const { records } = accounts
  assert.equal(auditResult.listed['/products']?.different, records.products)
  // The invoice with only a price below a penny is rejected.
  assert.equal(auditResult.listed['/orders/transactions/search']?.different, records.transactions - 1)
})

test('tests without real data report it and fail if configured', async () => {
  const program = [process.execPath, '--input-type=module', '-e'] as const
  const script = `import { findSkipReason } from ${JSON.stringify(new URL('real-data/convert.ts', import.meta.url).href)}
    console.log(findSkipReason())`
  const wrong = await runCommand([script], { REAL_DATA_DIR: join(folder, 'nowhere') }, { program })
  assert.equal(wrong.code, 1)
  assert.match(wrong.err, /REAL_DATA_DIR: the real data is not in .*nowhere/)
  assert.equal(await runSuccessfully([script], { REAL_DATA_DIR: folder }, { program }), 'false\n')
})
