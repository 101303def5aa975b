import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { openShop } from '../support/feeds.ts'

const shop = await openShop()
after(() => shop.close())

/** The cells of the refused lines, without the three in front. */
const cellsIn = (rejected = '') =>
  parse(rejected)
    .slice(1)
    .map(cells => cells.slice(3))

/** Texts, and what stands in the rejected file for each. */
const texts = [
  ['=1+1', "'=1+1"],
  ['=HYPERLINK("http://x")', `'=HYPERLINK("http://x")`],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['+cmd', "'+cmd"],
  ['-1+1', "'-1+1"],
  ['-', "'-"],
  ["'=x", "''=x"],
  ["''-5", "'''-5"],
  // What a spreadsheet does not take for a formula.
  ['-5', '-5'],
  ['-5.00', '-5.00'],
  ['+61', '+61'],
  ['+61 (03) 9999.1234', '+61 (03) 9999.1234'],
  ["O'Hara", "O'Hara"],
  ["'tis", "'tis"],
  ["'", "'"],
  ['a=b', 'a=b'],
] as const

test('a cell that a spreadsheet would take for a formula has an apostrophe in front, which is not imported', async () => {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
  const file = texts.map(([text], i) => `f${i},${quoted(text)},\n`).join('')
  const { refused, rejected } = await shop.feed('staff', `id,surname,code\n${file}`)
  assert.equal(refused, texts.length)
  assert.deepEqual(
    cellsIn(rejected).map(([, surname]) => surname),
    texts.map(([, shown]) => shown),
  )
  let code = 0
  const mended = (rejected ?? '').replaceAll(/,$/gm, () => `,C${++code}`)
  const again = await shop.feed('staff', mended, { file: 'mended.csv' })
  assert.equal(again.inserted, texts.length)
  const stored = await shop.rows(`select surname from staff where id like 'f%' order by substr(id, 2)::integer`)
  assert.deepEqual(
    stored.map(({ surname }) => surname),
    texts.map(([text]) => text),
  )
})

test('a tab and a carriage return are no way around it, nor is the name of a column', async () => {
  const map = new Map([['surname', '=Name']])
  const { rejected } = await shop.feed('staff', 'id,=Name,code\ng1,"\t=x",G1\ng2,"\r=x",G2\n', { map })
  assert.deepEqual(parse(rejected ?? '')[0]?.slice(3), ['id', "'=Name", 'code'])
  assert.deepEqual(
    cellsIn(rejected).map(([, surname]) => surname),
    ["'\t=x", "'\r=x"],
  )
  const mended = (rejected ?? '').replace(/'[\t\r]=x/g, 'x').replace(/'[\t\r]=x/g, 'x')
  assert.equal((await shop.feed('staff', mended, { file: 'again.csv', map })).inserted, 2)
})

test('only a rejected file is read so: in any other an apostrophe is one', async () => {
  await shop.feed('staff', "id,surname,code\nh1,'=x,H1\n")
  assert.deepEqual(await shop.rows(`select surname from staff where id = 'h1'`), [{ surname: "'=x" }])
})

test('the refused lines of NDJSON are escaped too', async () => {
  const { rejected } = await shop.feed('staff', '{"id":"i1","surname":"=x"}\n{"id":"i2","surname":"y"}\n', {
    file: 'staff.ndjson',
  })
  assert.deepEqual(cellsIn(rejected), [
    ['i1', "'=x"],
    ['i2', 'y'],
  ])
})

test('a line of NDJSON that is no object keeps its text behind the reason', async () => {
  const lines = ['{"id":"j1","surname":', '["j2"]', '"j3"', '{"id":"j4","surname":"Lee"}', '{"id":"j5","code":"A"']
  const bytes = Buffer.concat([Buffer.from(`${lines.join('\n')}\n{"id":"`), Buffer.from([0xe4]), Buffer.from('"}\n')])
  const { rejected } = await shop.feed('staff', bytes, { file: 'broken.ndjson' })
  assert.deepEqual(
    parse(rejected ?? '')
      .slice(1)
      .map(([line, , reason]: string[]) => `${line} ${reason}`)
      .filter((line: string) => !line.startsWith('4 ')),
    [
      '1 The line is not a JSON object: {"id":"j1","surname":',
      '2 The line is not a JSON object: ["j2"]',
      '3 The line is not a JSON object: "j3"',
      '5 The line is not a JSON object: {"id":"j5","code":"A"',
      '6 The line is not valid UTF-8: save the file as UTF-8, or say what it is, such as --encoding windows-1252. {"id":"\ufffd"}',
    ],
  )
})
