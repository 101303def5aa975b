import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { renderExampleFile, renderImportFormats } from '../../src/import/formats/document.ts'
import type { ImportSummary } from '../../src/import/import-file.ts'
import { ImportError } from '../../src/import/pipeline/import-error.ts'
import { lockImportType } from '../../src/import/pipeline/import-type-lock.ts'
import { importTypes } from '../../src/import/pipeline/import-types.ts'
import { importTypeNames, openImportShop, type Shop } from '../support/import-shop.ts'

let shop: Shop
before(async () => {
  shop = await openImportShop()
})
after(() => shop.close())

const getCounts = ({ read, inserted, changed, unchanged, rejected }: ImportSummary) => [
  read,
  inserted,
  changed,
  unchanged,
  rejected,
]
const loadCustomer = async (id: string) =>
  (await shop.queryRows(`select record, email, surname from customer where id = '${id}'`))[0]

/** Builds the documented example file in the service's currency. */
const buildExampleFile = (kind: keyof typeof importTypes) =>
  renderExampleFile(importTypes[kind]).replaceAll('AUD', shop.service.settings.currency)

test('the documented example of every type is imported idempotently', async () => {
  for (const kind of importTypeNames) {
    const { rejected, rejectedFile } = await shop.importFile(kind, buildExampleFile(kind))
    assert.deepEqual([kind, rejected, rejectedFile], [kind, 0, undefined])
  }
  const original = await shop.dumpTables()
  for (const kind of importTypeNames)
    assert.deepEqual([kind, ...getCounts(await shop.importFile(kind, buildExampleFile(kind)))], [kind, 2, 0, 0, 2, 0])
  assert.equal(await shop.dumpTables(), original)
})

test('the pages of the import formats match the code', async () => {
  const pages = Object.entries(renderImportFormats())
  assert.equal(pages.length, importTypeNames.length + 1)
  for (const [path, text] of pages) {
    const page = await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
    assert.ok(page === text, `${path} is stale: run \`npm run docs\`.`)
    const required = [...text.matchAll(/^\| `\w+` \| (yes|°?) \|/gm)].map(([, mark]) => mark === 'yes')
    assert.deepEqual(required, required.toSorted().reverse(), `${path}: required columns come first`)
  }
})

test('an absent column keeps, an empty cell clears, an empty flag keeps', async () => {
  await shop.importFile('customers', 'id,surname,email,privacy,references\n1,Smith,a@example.com,false,brand=7\n')
  await shop.importFile('customers', 'id,surname\n1,Smythe\n')
  const record = JSON.parse(`${(await loadCustomer('1')).record}}`)
  assert.deepEqual([record.surname, record.contact.email, record.privacy], ['Smythe', 'a@example.com', false])
  assert.equal(record.references.brand.referenceValueId, '7')
  await shop.importFile('customers', 'id,email,privacy,references\n1,,,\n')
  const cleared = JSON.parse(`${(await loadCustomer('1')).record}}`)
  assert.deepEqual([cleared.contact.email, cleared.privacy, cleared.references], [null, false, {}])
})

test("all errors of a line are reported under the file's names", async () => {
  const file =
    'id,Verkauft,lineId,quantity,price,channel,customerId\n1,2023-02-30,1,1.5kg,2.99999,phone,\n2,2023-02-28,1,1,2.99,web,\n'
  const map = new Map([['saleDate', 'Verkauft']])
  const { rejected, rejectedFile } = await shop.importFile('transactions', file, { map })
  assert.equal(rejected, 1)
  const [header, line] = rejectedFile?.split('\n') ?? []
  assert.equal(header, 'line,column,reason,id,Verkauft,lineId,quantity,price,channel,customerId')
  assert.match(line ?? '', /^2,channel; Verkauft; quantity; price,/)
  assert.match(line ?? '', /channel must be one of store, headOffice, web; Verkauft must be a time/)
  assert.match(line ?? '', /quantity must be a number: [^;]+; price must have at most 4 decimals/)
  assert.match(line ?? '', /,1,2023-02-30,1,1.5kg,2.99999,phone,$/)
})

test('a corrected rejected file completes the import', async () => {
  const first = await shop.importFile('staff', 'id,code,surname,email\n5,=SUM(A1),Lee,"-x,""y"""\n6,,Roe,+r\n')
  assert.deepEqual(getCounts(first), [2, 1, 0, 0, 1])
  assert.equal(first.rejectedFile, "line,column,reason,id,code,surname,email\n3,code,is required,6,,Roe,'+r\n")
  const corrected = first.rejectedFile.replace('6,,Roe', '6,@R,Roe')
  assert.deepEqual(getCounts(await shop.importFile('staff', corrected, { file: 'again.csv' })), [1, 1, 0, 0, 0])
  assert.deepEqual(await shop.queryRows(`select code, email from staff where id in ('5', '6') order by id`), [
    { code: '=SUM(A1)', email: '-x,"y"' },
    { code: '@R', email: '+r' },
  ])
})

test('a rejected file is deleted once nothing is rejected', async () => {
  const bad = await shop.importFile('payment-gateways', 'name\n"a\tb"\nstripe\n')
  assert.match(bad.rejectedFile ?? '', /can't contain a tab: character 2/)
  assert.equal((await shop.importFile('payment-gateways', 'name\nstripe\n')).rejectedFile, undefined)
})

test('one line of a thousand is rejected by the database individually', async () => {
  await shop.importFile('customers', 'id,email\nfirst,taken@example.com\n')
  const lines = Array.from({ length: 1000 }, (_, i) => `b${i},${i === 617 ? 'TAKEN@example.com' : `b${i}@example.com`}`)
  const { rejectedFile, ...summary } = await shop.importFile('customers', `id,email\n${lines.join('\n')}\n`)
  assert.deepEqual(getCounts(summary), [1000, 999, 0, 0, 1])
  assert.equal(
    rejectedFile,
    'line,column,reason,id,email\n619,email,belongs to another customer: TAKEN@example.com,b617,TAKEN@example.com\n',
  )
})

test('a database rejection is reported in plain words', async () => {
  const importForReasons = async (kind: string, ...lines: string[]) =>
    (await shop.importFile(kind, lines.join('\n'))).rejectedFile
      ?.split('\n')
      .slice(1, -1)
      .map(line => line.split(',').slice(1, 3))
  await shop.importFile('stores', 'storeId,storeNumber,name\n90,900,A\n')
  assert.deepEqual(await importForReasons('stores', 'storeId,storeNumber,name', '91,900,B'), [
    ['storeNumber', 'belongs to another store: 900'],
  ])
  assert.deepEqual(await importForReasons('reward-gifts', 'programId,giftId,name', '404,1,Socks'), [
    ['programId', 'must be an existing reward program: 404'],
  ])
  assert.deepEqual(await importForReasons('reward-accounts', 'id,customerId,programId', 'r1,404,1'), [
    ['customerId', 'must be an existing customer: 404'],
  ])
  const lots = 'accountId,kind,lotId,createdAt,total,redeemed'
  assert.deepEqual(
    await importForReasons('reward-lots', lots, '22672,points,9,2026-01-01,5,6', '22672,points,9,2026-01-01,5.5,'),
    [
      ['total', 'must be at least the sum of redeemed and pending'],
      ['total', 'must be an integer of at most 2147483647 points'],
    ],
  )
  assert.deepEqual(await importForReasons('sku-mapping', 'skuId,ecommerceSku', '12001,MH01-S-Black'), [
    ['ecommerceSku', 'belongs to another SKU: MH01-S-Black'],
  ])
})

test('stock and mappings of unknown records are rejected', async () => {
  const stock = await shop.importFile(
    'stock',
    'storeNumber,sku,skuId,freeStock\n404,,12001,1\n123,nope,,1\n123,,,1\n123,nope,12001,4\n',
  )
  assert.deepEqual(
    stock.rejectedFile
      ?.split('\n')
      .slice(1, -1)
      .map(line => line.split(',').slice(0, 3)),
    [
      ['2', 'storeNumber', 'must be an existing store: 404'],
      ['3', 'sku', 'must be an existing SKU: nope'],
      ['4', 'sku', 'is required if the line has no skuId'],
    ],
  )
  for (const kind of ['store-mapping', 'sku-mapping', 'customer-mapping'] as const) {
    const original = await shop.dumpTables()
    const [key] = importTypes[kind].key
    const other = Object.keys(importTypes[kind].shape.properties)[1]
    assert.deepEqual(getCounts(await shop.importFile(kind, `${key},${other}\n404,x\n`)), [1, 0, 0, 0, 1])
    assert.equal(await shop.dumpTables(), original)
  }
})

test('the later of two lines with one key wins', async () => {
  const { inserted, unchanged } = await shop.importFile('customers', 'id,surname\nd1,A\nd2,B\nd1,C\n')
  assert.deepEqual([inserted, unchanged, (await loadCustomer('d1')).surname], [2, 1, 'C'])
})

test('the later of two names for one SKU wins, even repeatedly', async () => {
  const lines = [
    { sku: 'MH01-XS-Black', freeStock: 50, buffer: 2 },
    { skuId: '12001', freeStock: -3 },
  ]
  const file = lines.map(line => JSON.stringify({ storeNumber: '123', ...line })).join('\n')
  const first = await shop.importFile('stock', file, { file: 'stock.ndjson' })
  const stored = await shop.queryRows(`select * from stock where sku_id = '12001'`)
  assert.deepEqual([first.rejected, stored.map(row => [Number(row.free_stock), row.buffer])], [0, [[-3, 2]]])
  assert.deepEqual(getCounts(await shop.importFile('stock', file, { file: 'stock.ndjson' })), [2, 0, 0, 2, 0])
  assert.deepEqual(await shop.queryRows(`select * from stock where sku_id = '12001'`), stored)
})

test('identifiers that differ in case are distinct', async () => {
  const header = 'productId,productCode,name,colourId,skuId,sku,sizeCode,price'
  await shop.importFile('products', `${header}\nP,P,Pot,1,85049A,85049A,-,1\nP,P,Pot,1,85049a,85049a,-,2\n`)
  assert.equal((await shop.queryRows(`select from variant where lower(sku) = '85049a'`)).length, 2)
})

test('a second import of a type reports that it waits', async () => {
  const end = await lockImportType(shop.db, shop.service, 'staff')
  let waits = 0
  const second = shop.importFile('staff', 'id,code,surname\n9,Q,Quinn\n', { onWait: () => waits++ })
  await delay(200)
  assert.deepEqual([waits, await shop.queryRows(`select from staff where id = '9'`)], [1, []])
  await end()
  assert.equal((await second).inserted, 1)
})

test("imports, even waiting ones, leave the pool's connections to others", async () => {
  const poolSize = shop.db.pool.options.max
  const ends = await Promise.all(
    Array.from({ length: poolSize }, (_, i) => lockImportType(shop.db, shop.service, `kind ${i}`)),
  )
  try {
    const [locked] = await shop.queryRows(`
      select count(*)::integer as locks from pg_locks
       where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`)
    assert.equal(locked.locks, poolSize)
  } finally {
    await Promise.all(ends.map(end => end()))
  }
})

test('an import ends even if its database does not close the connection', async t => {
  const end = await lockImportType(shop.db, shop.service, 'staff')
  const [holder] = await shop.queryRows(`
    select pid from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`)
  t.after(() => process.kill(holder.pid, 'SIGCONT'))
  process.kill(holder.pid, 'SIGSTOP')
  await end()
})

test('a dry run finds errors and writes only the rejected file', async () => {
  const original = await shop.dumpTables()
  const run = await shop.importFile('stock', 'storeNumber,skuId,freeStock\n123,12001,77\n404,12001,1\n', {
    dryRun: true,
  })
  assert.deepEqual(
    [getCounts(run), run.rejectedFile?.includes('must be an existing store: 404')],
    [[2, 0, 1, 0, 1], true],
  )
  assert.equal(await shop.dumpTables(), original)
})

test('an import stops at an outage and keeps its stored lines', async () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `away${i},Lee`)
  const ended: Promise<unknown>[] = []
  const onProgress = () => {
    const terminate =
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
    ended.push(shop.queryRows(terminate).catch(() => {}))
  }
  const file = `id,surname\n${lines.join('\n')}\n`
  await assert.rejects(shop.importFile('customers', file, { onProgress }), (error: unknown) => {
    assert.ok(error instanceof ImportError)
    assert.match(
      error.message,
      /^The database is unavailable\. \d+ lines were imported and stay\. Import the file again/,
    )
    return true
  })
  await Promise.all(ended)
  // The pool can notice an ended connection only when it is used.
  const again = await shop.importFile('customers', file).catch(() => shop.importFile('customers', file))
  assert.equal(again.inserted + again.unchanged, 20_000)
  assert.ok(again.unchanged >= 1000)
})

test('a SKU moved to another product leaves the previous one', async () => {
  const header = 'productId,productCode,name,colourId,skuId,sizeCode,price\n'
  await shop.importFile('products', `${header}M1,M1,One,C1,moving,S,10\nM1,M1,One,C1,staying,S,10\n`)
  await shop.importFile('products', `${header}M2,M2,Two,C2,moving,S,10\n`)
  const rows = await shop.queryRows(`select record from product where product_id in ('M1', 'M2') order by product_id`)
  const skus = rows.map(row =>
    JSON.parse(row.record).colours.flatMap((colour: { sizes: { skuId: string }[] }) =>
      colour.sizes.map(size => size.skuId),
    ),
  )
  assert.deepEqual(skus, [['staying'], ['moving']])
})
