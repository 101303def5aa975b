import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { openImportShop } from '../support/import-shop.ts'

const shop = await openImportShop()
after(() => shop.close())

/** Returns the cells of the rejected lines, without the three report columns. */
const parseCells = (rejectedFile = '') =>
  parse(rejectedFile)
    .slice(1)
    .map(cells => cells.slice(3))

/** Pairs of a cell and its form in the rejected file. */
const texts = [
  ['=1+1', "'=1+1"],
  ['=HYPERLINK("http://x")', `'=HYPERLINK("http://x")`],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['+cmd', "'+cmd"],
  ['-1+1', "'-1+1"],
  ['-', "'-"],
  ["'=x", "''=x"],
  ["''-5", "'''-5"],
  // A spreadsheet does not interpret these as formulas.
  ['-5', '-5'],
  ['-5.00', '-5.00'],
  ['+61', '+61'],
  ['+61 (03) 9999.1234', '+61 (03) 9999.1234'],
  ["O'Hara", "O'Hara"],
  ["'tis", "'tis"],
  ["'", "'"],
  ['a=b', 'a=b'],
] as const

test('a formula-like cell is escaped with an apostrophe, removed on import', async () => {
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`
  const file = texts.map(([text], i) => `f${i},${quote(text)},\n`).join('')
  const { rejected, rejectedFile } = await shop.importFile('staff', `id,surname,code\n${file}`)
  assert.equal(rejected, texts.length)
  assert.deepEqual(
    parseCells(rejectedFile).map(([, surname]) => surname),
    texts.map(([, shown]) => shown),
  )
  let code = 0
  const corrected = (rejectedFile ?? '').replaceAll(/,$/gm, () => `,C${++code}`)
  const again = await shop.importFile('staff', corrected, { file: 'corrected.csv' })
  assert.equal(again.inserted, texts.length)
  const stored = await shop.queryRows(`select surname from staff where id like 'f%' order by substr(id, 2)::integer`)
  assert.deepEqual(
    stored.map(({ surname }) => surname),
    texts.map(([text]) => text),
  )
})

test('tabs, carriage returns and column names are escaped too', async () => {
  const map = new Map([['surname', '=Name']])
  const { rejectedFile } = await shop.importFile('staff', 'id,=Name,code\ng1,"\t=x",G1\ng2,"\r=x",G2\n', { map })
  assert.deepEqual(parse(rejectedFile ?? '')[0]?.slice(3), ['id', "'=Name", 'code'])
  assert.deepEqual(
    parseCells(rejectedFile).map(([, surname]) => surname),
    ["'\t=x", "'\r=x"],
  )
  const corrected = (rejectedFile ?? '').replace(/'[\t\r]=x/g, 'x').replace(/'[\t\r]=x/g, 'x')
  assert.equal((await shop.importFile('staff', corrected, { file: 'again.csv', map })).inserted, 2)
})

test('only a rejected file has its apostrophes removed', async () => {
  await shop.importFile('staff', "id,surname,code\nh1,'=x,H1\n")
  assert.deepEqual(await shop.queryRows(`select surname from staff where id = 'h1'`), [{ surname: "'=x" }])
})

/** Parses the records of an NDJSON file with rejected lines. */
const parseRecords = (rejectedFile = '') =>
  rejectedFile
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))

test('rejected records stay records with their own fields and unescaped text', async () => {
  const lines = ['{"id":"i1","surname":"=x","active":true}', '{"id":"i2","surname":null,"email":"a@example.com"}']
  const { rejectedFile } = await shop.importFile('staff', lines.join('\n'), { file: 'staff.ndjson' })
  const reportFields = { line: 1, column: 'code', reason: 'is required' }
  assert.deepEqual(parseRecords(rejectedFile), [
    { ...reportFields, id: 'i1', surname: '=x', active: true },
    {
      line: 2,
      column: 'code; surname',
      reason: 'code is required; surname is required',
      ...JSON.parse(lines[1] ?? ''),
    },
  ])
  assert.match(rejectedFile ?? '', /^\{"line":1,"column":"code","reason":"is required",/)
})

test('corrected records keep the fields that they omit', async () => {
  await shop.importFile('customers', 'id,surname,phoneMobile,phoneHome\nk1,Lee,0401,0301\nk2,Roe,0402,0302\n')
  const lines = ['{"id":"k1","dateOfBirth":"soon"}', '{"id":"k2","phoneMobile":"a\\u0007","phoneHome":null}']
  const { rejectedFile = '' } = await shop.importFile('customers', lines.join('\n'), { file: 'more.ndjson' })
  const corrected = rejectedFile.replace('soon', '1990-02-01').replace('a\\u0007', '0499')
  const { changed, rejected } = await shop.importFile('customers', corrected, { file: 'corrected.ndjson' })
  assert.deepEqual([changed, rejected], [2, 0])
  assert.deepEqual(
    await shop.queryRows(`select surname, phone_mobile, phone_home from customer where id in ('k1', 'k2') order by id`),
    [
      { surname: 'Lee', phone_mobile: '0401', phone_home: '0301' },
      { surname: 'Roe', phone_mobile: '0499', phone_home: null },
    ],
  )
})

test("a record's own field survives a name shared with report columns", async () => {
  const map = new Map([
    ['lineId', 'line'],
    ['discountReason', 'reason'],
  ])
  const sale = { id: 'l1', saleDate: '2024-05-01', price: '1.00' }
  const lines = [
    { ...sale, line: '7', quantity: 'one', discountAmount: '0.10', reason: 'Gold' },
    { ...sale, line: '8', quantity: 'two' },
  ]
  const text = lines.map(line => JSON.stringify(line)).join('\n')
  const { rejectedFile = '' } = await shop.importFile('transactions', text, { file: 'sales.ndjson', map })
  const corrected = rejectedFile.replace('"one"', '1').replace('"two"', '2')
  const again = await shop.importFile('transactions', corrected, { file: 'corrected.ndjson', map })
  assert.deepEqual([again.rejected, again.inserted], [0, 2])
  const [{ record }] = await shop.queryRows(`select record from retail_transaction where id = 'l1'`)
  assert.deepEqual(
    JSON.parse(record).lines.map(({ id, discounts }: { id: string; discounts: { reason: string }[] }) => [
      id,
      discounts[0]?.reason,
    ]),
    [
      ['7', 'Gold'],
      ['8', undefined],
    ],
  )
})

test('an NDJSON line that is not an object keeps its text', async () => {
  const lines = ['{"id":"j1","surname":', '["j2"]', '"j3"', '{"id":"j4","surname":"Lee"}', '{"id":"j5","code":"A"']
  const bytes = Buffer.concat([Buffer.from(`${lines.join('\n')}\n{"id":"`), Buffer.from([0xe4]), Buffer.from('"}\n')])
  const { rejectedFile } = await shop.importFile('staff', bytes, { file: 'broken.ndjson' })
  assert.deepEqual(
    parseRecords(rejectedFile)
      .filter(({ line }) => line !== 4)
      .map(({ line, reason }) => `${line} ${reason}`),
    [
      '1 The line must be a JSON object. {"id":"j1","surname":',
      '2 The line must be a JSON object. ["j2"]',
      '3 The line must be a JSON object. "j3"',
      '5 The line must be a JSON object. {"id":"j5","code":"A"',
      '6 The line must be valid UTF-8. Save the file as UTF-8, or set its encoding, such as --encoding windows-1252. {"id":"ä"}',
    ],
  )
})
