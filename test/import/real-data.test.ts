import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Accounts, importOrder } from './real-data/accounts.ts'
import type { AuditResult } from './real-data/audit.ts'
import { findSkipReason } from './real-data/convert.ts'
import { sumTallies } from './real-data/tally.ts'
import { auditInThread, convertInThread } from './real-data/thread.ts'

const skip = findSkipReason()

/** Asserts that the counts of a source match the published numbers. */
function assertCounts(counts: Record<string, number> | undefined, published: Record<string, number>) {
  assert.ok(counts)
  const actual = Object.fromEntries(Object.keys(published).map(name => [name, counts[name]]))
  assert.deepEqual(actual, published)
}

describe('a shop with real data', { skip }, () => {
  let folder: string
  let accounts: Accounts
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tillbridge-real-data-'))
    accounts = await convertInThread(folder)
  })
  after(() => rm(folder, { recursive: true }))
  const findFile = (name: string) => accounts.files.find(written => written.file === name)

  test('every source is read completely', () => {
    assertCounts(accounts.linesRead, {
      'uci-online-retail/online_retail.csv.gz': 541_909,
      'magento-apparel/variants.csv': 1_847,
      'adventureworks/customers.csv': 18_148,
      'adventureworks/sales.csv': 56_046,
      'adventureworks/returns.csv': 1_809,
      'adventureworks/products.csv': 293,
      'adventureworks/Store.csv': 701,
      'adventureworks/Employee.csv': 290,
      'adventureworks/EmailAddress.csv': 19_972,
      'adventureworks/Address.csv': 19_614,
      'adventureworks/BusinessEntityAddress.csv': 19_614,
      'adventureworks/StateProvince.csv': 181,
      'adventureworks/CountryRegion.csv': 238,
    })
  })

  test('each line becomes one row of an import file', () => {
    const { returns, returnTransactions } = accounts.counts.adventureworks
    assert.deepEqual(Object.fromEntries(accounts.files.map(({ file: path, rows }) => [path, rows])), {
      'references.csv': 22,
      'stores.csv': 701,
      'store-mapping.csv': 5,
      'staff.csv': 290,
      'products-magento.csv': 1_847,
      'products-adventureworks.csv': 293,
      'products-uci.csv': 4_070,
      'sku-mapping.csv': 293,
      'stock-magento.csv': 1_847 * 5,
      'customers-adventureworks.csv': 18_148,
      'customers-uci.csv': 4_372,
      'customer-mapping.csv': 18_148,
      'transactions-adventureworks.csv': 56_046 + (returnTransactions ?? 0),
      'transactions-uci.csv.gz': 541_909,
    })
    assert.equal(returns, 1_809)
  })

  test('the British shop has the published invoices, credit notes and customers', () => {
    assertCounts(accounts.counts.uci, {
      invoices: 25_900,
      creditNotes: 3_836,
      stockCodes: 4_070,
      customers: 4_372,
      countries: 38,
      largestInvoice: 1_114,
      largestQuantity: 80_995,
      giftVoucherRows: 34,
    })
  })

  test("the British shop's anomalies match the published counts", () => {
    assertCounts(accounts.counts.uci, {
      negativeRows: 10_624,
      negativeRowsOutsideCreditNotes: 1_336,
      rowsWithoutCustomer: 135_080,
      rowsWithoutDescription: 1_454,
      rowsAtPriceZero: 2_515,
      rowsAtNegativePrice: 2,
      exactDuplicates: 5_268,
      overReturns: 892,
      returnsWithoutSale: 813,
      caseCollisions: 112,
      // Codes that differ in case are counted separately, and a missing description counts as a description.
      stylesWithSeveralCodes: 299,
      codesWithSeveralDescriptions: 1_324,
      rowsBeyondAscii: 32,
    })
  })

  test("anomalies missing from the British shop's README are counted", () => {
    assertCounts(accounts.counts.uci, {
      creditNoteRows: 9_288,
      rowsBeyondCurrency: 4,
      rowsBackInTime: 0,
      invoicesNotAdjacent: 1,
      invoicesWithSeveralTimes: 43,
      rowsAtAnotherTimeThanTheirInvoice: 2_025,
      badDebtInvoices: 3,
      nonProductRows: 2_915,
      codesWithoutDescription: 112,
      customersInSeveralCountries: 8,
    })
  })

  test('the British shop sold 5,176,450 units for 9,747,747.93', () => {
    const { quantity, value, beyondCurrency } = findFile('transactions-uci.csv.gz') ?? {}
    assert.deepEqual(
      { quantity, value, beyondCurrency },
      { quantity: '5176450', value: '974774793', beyondCurrency: 4 },
    )
  })

  test('orders and returns match the published counts without excess returns', () => {
    assertCounts(accounts.counts.adventureworks, {
      orders: 25_164,
      buyers: 17_416,
      unitsSold: 84_174,
      returns: 1_809,
      unitsReturned: 1_828,
      unitsWithoutSale: 0,
      // Two returns of two units are of products that were only sold one by one, so each is split over two orders.
      returnsSpreadOverOrders: 2,
      returnTransactions: 1_811,
    })
    assert.equal(findFile('transactions-adventureworks.csv')?.quantity, String(84_174 - 1_828))
  })

  test('stores, staff and customers match the published counts', () => {
    assertCounts(accounts.counts.adventureworks, {
      storesWithAddress: 701,
      addressesBeyondAscii: 970,
      staffWithEmail: 290,
      staffCodes: 290,
      models: 119,
      withoutTitle: 130,
      // 90 customers have accented names; 39 of them have accented email addresses.
      namesBeyondAscii: 90,
      emailsBeyondAscii: 39,
      emailsTwice: 0,
    })
  })

  test('the catalogue has its styles and all stock spread over stores', () => {
    assertCounts(accounts.counts.magento, { styles: 147, units: 184_700 })
    assert.equal(findFile('stock-magento.csv')?.quantity, '184700')
  })

  test('every SKU comes from one source', () => {
    assertCounts(accounts.counts.shop, { skusInTwoSources: 0 })
    assert.equal(accounts.records.skus, 1_847 + 293 + 4_070)
  })
  describe('imported data paginated over HTTPS', () => {
    let auditResult: AuditResult
    before(async () => {
      auditResult = await auditInThread(folder, accounts)
    })

    test('the import reads every line of every file', () => {
      for (const { file: path, rows } of accounts.files) assert.equal(auditResult.summaries[path]?.read, rows, path)
    })

    test('the import rejects and reports only the four sub-penny lines', () => {
      const rejected = accounts.files.filter(({ file: path }) => auditResult.summaries[path]?.rejected)
      assert.deepEqual(
        rejected.map(({ file: path }) => path),
        ['transactions-uci.csv.gz'],
      )
      assert.equal(auditResult.summaries['transactions-uci.csv.gz']?.rejected, 4)
      assert.equal(auditResult.rejected.transactions.lines, 4)
      for (const reason of Object.keys(auditResult.reasons))
        assert.match(reason, /must have at most 2 decimals, like GBP$/)
    })

    test('the import remarks only the doubtful values of the sources', () => {
      const expected: Record<string, Record<string, number>> = {
        // Two lines of the British shop adjust bad debt with a negative price.
        'transactions-uci.csv.gz': { 'price is negative: returns have a negative quantity': 2 },
        // Names of variants contain &trade;.
        'products-magento.csv': { 'HTML character reference such as &amp;: kept, check the export': 174 },
      }
      for (const [name, { notes }] of Object.entries(auditResult.summaries))
        assert.deepEqual(notes, expected[name] ?? {}, name)
    })

    for (const kind of importOrder)
      test(`${kind}: the lists equal the files except for rejected lines`, () => {
        assert.deepEqual(
          sumTallies(auditResult.listedTallies[kind], auditResult.rejected[kind]),
          auditResult.expected[kind],
        )
      })

    test('units and money match the totals of the sources', () => {
      const files = accounts.files.filter(({ kind }) => kind === 'transactions')
      const sumOfFiles = (column: 'quantity' | 'value') =>
        files.reduce((total, account) => total + BigInt(account[column]), 0n)
      const { quantity, value } = sumTallies(auditResult.listedTallies.transactions, auditResult.rejected.transactions)
      assert.deepEqual({ quantity, value }, { quantity: sumOfFiles('quantity'), value: sumOfFiles('value') })
    })

    test('each record is listed once on full pages', () => {
      const { stores, staff, products, stock, customers, transactions } = accounts.records
      const expected = {
        '/stores': stores,
        '/staff': staff,
        '/products': products,
        '/inventory': stock,
        '/customers/search': customers,
        '/orders/transactions/search': transactions,
      }
      for (const [path, records] of Object.entries(expected))
        assert.deepEqual(
          auditResult.listed[path],
          { records, different: records, pages: Math.ceil(records / 100), longestPage: 100 },
          path,
        )
    })

    test('each line is in its transaction once and matches the total', () => {
      assert.equal(auditResult.linesTwice, 0)
      assert.equal(auditResult.wrongTotals, 0)
    })
  })
})
