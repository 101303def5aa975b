import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openImportShop } from '../support/import-shop.ts'
import { cli } from '../support/processes.ts'

const shop = await openImportShop()
after(() => shop.close())

const toPath = (name: string) => join(shop.directory, name)
/** Runs `tillbridge import …` in the shop's directory. */
function runImport(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, 'import', ...args], {
    cwd: shop.directory,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, DATABASE_URL: shop.connection },
  })
  return { status, out: stdout, err: stderr }
}
const readSale = async (id: string) => {
  const [row] = await shop.queryRows(`select record from retail_transaction where id = '${id}'`)
  return JSON.parse(row.record)
}

const german = `Bon;Pos;Datum;Uhrzeit;Menge;Preis;Artikel
G1;1;26.05.2024;14:05;1,0;1.234,50;Mantel Größe 40
G1;2;26.05.2024;14:05;0,735;12,90;Käse
G2;1;1.6.2024;;-2;0,0049;Schraube
`
const options = [
  ...['--map', 'id=Bon', '--map', 'lineId=Pos', '--map', 'saleDate=Datum', '--map', 'quantity=Menge'],
  ...['--map', 'price=Preis', '--map', 'productName=Artikel', '--set', 'channel=web', '--set', 'type=sale'],
  ...['--delimiter', ';', '--decimal', ',', '--date-format', 'D.M.YYYY', '--time', 'Uhrzeit'],
]

test('a file with another dialect is imported and Windows-1252 is detected', async () => {
  writeFileSync(toPath('bons.csv'), Buffer.from(german, 'latin1'))
  const { status, out, err } = runImport('transactions', 'bons.csv', ...options, '--save-profile', 'kassen.json')
  assert.deepEqual([status, /bons\.csv +3 +3 +0 +0 +0/.test(out)], [0, true], out + err)
  assert.match(
    err,
    /^bons\.csv is not UTF-8\. It is read as Windows-1252 with low confidence\. If that is wrong, use --encoding\.$/m,
  )
  const [first, second] = [await readSale('G1'), await readSale('G2')]
  assert.deepEqual(
    [first.saleDate, second.saleDate, first.channel],
    ['2024-05-26 14:05:00', '2024-06-01 00:00:00', 'web'],
  )
  const lines = [...first.lines, ...second.lines].map(({ quantity, price, value }) => [quantity, price, value])
  assert.deepEqual(lines, [
    [1, '1234.50', '1234.50'],
    [0.735, '12.90', '9.48'],
    [-2, '0.0049', '-0.01'],
  ])
  assert.deepEqual([first.total, first.lines[1].productName], ['1243.98', 'Käse'])
})

test("percentages use the file's decimal separator", async () => {
  const columns = 'id;saleDate;lineId;quantity;price;taxPercent;discountAmount;discountPercentage'
  writeFileSync(
    toPath('taxed.csv'),
    `${columns}\nP1;2024-05-26;1;1;10,00;8,1;1,00;12,5\nP2;2024-05-26;1;1;10,00;8.1;;\n`,
  )
  const { status, out } = runImport('transactions', 'taxed.csv', '--delimiter', ';', '--decimal', ',')
  assert.equal(status, 2)
  assert.match(out, /^1 +taxPercent +must be a percentage .*, with a comma before the decimals +line 3 +"8\.1"$/m)
  const [line] = (await readSale('P1')).lines
  assert.deepEqual([line.taxPercent, line.discounts[0].percentage], ['8.1', '12.5'])
  const withoutDecimal = runImport('transactions', 'taxed.csv', '--delimiter', ';', '--dry-run')
  assert.match(withoutDecimal.out, /^1 +taxPercent +must have a decimal point, not a comma/m)
})

test('a two-digit year of birth is never in the future', async () => {
  const next = Temporal.Now.plainDateISO().add({ days: 2 })
  writeFileSync(toPath('born.csv'), 'id,surname,dateOfBirth\nb1,Old,3/5/65\nb2,Young,3/5/19\nb3,Leap,29/2/64\n')
  writeFileSync(toPath('years.csv'), `id,surname,dateOfBirth\nb4,Late,${next}\nb5,Past,1899-12-30\n`)
  assert.equal(runImport('customers', 'born.csv', '--date-format', 'D/M/YY').status, 0)
  const { status, out } = runImport('customers', 'years.csv')
  assert.equal(status, 2)
  assert.match(out, /^1 +dateOfBirth +can't be in the future +line 2/m)
  const lateDefault = runImport('customers', 'years.csv', '--set', 'dateOfBirth=2065-05-03')
  assert.match(lateDefault.err, /--set dateOfBirth=2065-05-03: it can't be in the future\./)
  const born = await shop.queryRows(`select date_of_birth::text as day from customer where id like 'b_' order by id`)
  assert.deepEqual(
    born.map(({ day }) => day),
    ['1965-05-03', '2019-05-03', '1964-02-29', '1899-12-30'],
  )
})

test('a profile stores all file options and explicit options override it', async () => {
  const profile = JSON.parse(readFileSync(toPath('kassen.json'), 'utf8'))
  assert.deepEqual([profile.type, profile.time, profile.map.price], ['transactions', 'Uhrzeit', 'Preis'])
  writeFileSync(toPath('next.csv'), german.replaceAll('G1', 'H1').replaceAll('G2', 'H2').replaceAll('Preis', 'Brutto'))
  const { status, err } = runImport('transactions', 'next.csv', '--profile', 'kassen.json', '--map', 'price=Brutto')
  assert.deepEqual([status, err, (await readSale('H1')).total], [0, '', '1243.98'])

  const other = runImport('customers', 'next.csv', '--profile', 'kassen.json')
  assert.deepEqual(
    [other.status, other.err],
    [1, 'tillbridge: kassen.json is a profile for transactions, not for customers.\n'],
  )
  writeFileSync(toPath('odd.json'), '{"delimeter":";"}')
  const invalidProfile = runImport('transactions', 'next.csv', '--profile', 'odd.json')
  assert.match(
    invalidProfile.err,
    /^tillbridge: odd\.json is not a valid profile: .*A profile can have type, format, map, ignore, set, time, dateFormat,/,
  )
})

test('column options override the profile for any option', async () => {
  const profile = {
    map: { id: 'No', lineId: 'Row', saleDate: 'Day', quantity: 'Pieces', price: 'Each', channel: 'Way', sku: 'Code' },
    set: { type: 'sale' },
    ignore: ['Notes'],
    time: 'Clock',
  }
  writeFileSync(toPath('shop.json'), JSON.stringify(profile))
  const columns = 'No,Row,Day,Clock,Pieces,Each,Way,Code,Notes,Sort,Changed,At'
  writeFileSync(toPath('shop.csv'), `${columns}\nS1,1,2024-05-26,10:00,1,2.00,web,A,Mug,layby,2024-07-27,11:30\n`)
  const importSale = async (...args: string[]) => {
    const { status, err } = runImport('transactions', 'shop.csv', '--profile', 'shop.json', ...args)
    assert.deepEqual([status, err], [0, ''], args.join(' '))
    const [{ at: changed }] = await shop.queryRows(
      `select to_char(changed_at, 'MM-DD HH24:MI') as at from retail_transaction where id = 'S1'`,
    )
    return { ...(await readSale('S1')), changed }
  }
  const dialect = ['--ignore', '*']
  const mapTimes = ['--map', 'updateTimeStamp=Changed', '--time', 'updateTimeStamp=At', ...dialect]
  const first = await importSale(...mapTimes)
  assert.deepEqual(
    [first.saleDate, first.changed],
    ['2024-05-26 10:00:00', '07-27 11:30'],
    'the option must add a time column',
  )
  assert.equal((await importSale('--set', 'channel=headOffice', ...dialect)).channel, 'headOffice')
  assert.equal(
    (await importSale('--set', 'channel=store', '--ignore', 'Sort', '--ignore', 'Changed', '--ignore', 'At')).channel,
    'store',
  )
  assert.equal((await importSale('--map', 'type=Sort', ...dialect)).type, 'layby')
  assert.equal((await importSale('--map', 'productName=Notes', ...dialect)).lines[0].productName, 'Mug')
  assert.equal((await importSale('--time', 'saleDate=At', ...dialect)).saleDate, '2024-05-26 11:30:00')
  assert.equal(
    (await importSale('--ignore', 'Way', ...dialect)).channel,
    'web',
    'an ignored column must keep the stored value',
  )
})

test('UTF-16 is detected by its bytes or set as an option', async () => {
  const encoded = [
    ['mark.csv', Buffer.from('\ufeffid,code,surname\n1,A,Öst\n', 'utf16le'), [], /mark\.csv is read as UTF-16/],
    ['bare.csv', Buffer.from('id,code,surname\n2,B,Öst\n', 'utf16le').swap16(), [], /bare\.csv is read as UTF-16/],
    ['latin.csv', Buffer.from('id,code,surname\n3,C,\xd6st\n', 'latin1'), ['--encoding', 'iso-8859-1'], /^$/],
  ] as const
  for (const [name, bytes, args, expectedMessage] of encoded) {
    writeFileSync(toPath(name), bytes)
    const { status, err } = runImport('staff', name, ...args)
    assert.equal(status, 0, err)
    assert.match(err, expectedMessage)
  }
  assert.deepEqual(await shop.queryRows('select distinct surname from staff'), [{ surname: 'Öst' }])
  assert.match(
    runImport('staff', 'latin.csv', '--encoding', 'klingon').err,
    /^tillbridge: --encoding klingon is unknown\. Use an encoding such as utf-8/,
  )
})

/** Names in code pages whose bytes are also characters of Windows-1252. */
const namesByCodePage: Readonly<Record<string, [name: string, bytes: number[]]>> = {
  'windows-1251': ['Иван', [0xc8, 0xe2, 0xe0, 0xed]],
  'windows-1253': ['Μαρία', [0xcc, 0xe1, 0xf1, 0xdf, 0xe1]],
  'windows-1250': ['Paweł', [0x50, 0x61, 0x77, 0x65, 0xb3]],
  'windows-1254': ['Yıldız', [0x59, 0xfd, 0x6c, 0x64, 0xfd, 0x7a]],
  'windows-1256': ['محمد', [0xe3, 0xcd, 0xe3, 0xcf]],
  'koi8-r': ['Пётр', [0xf0, 0xa3, 0xd4, 0xd2]],
  big5: ['王小明', [0xa4, 0xfd, 0xa4, 0x70, 0xa9, 0xfa]],
  shift_jis: ['山田', [0x8e, 0x52, 0x93, 0x63]],
  macintosh: ['José', [0x4a, 0x6f, 0x73, 0x8e]],
}

test('words of another code page are rejected with the candidates', async () => {
  for (const [label, [name, bytes]] of Object.entries(namesByCodePage)) {
    const file = Buffer.concat([Buffer.from('id,code,surname\ncp,CP,'), Buffer.from(bytes), Buffer.from('\n')])
    writeFileSync(toPath('page.csv'), file)
    const rejected = runImport('staff', 'page.csv')
    assert.equal(rejected.status, 1, label)
    assert.match(rejected.err, /its words are not plausible in Windows-1252\. Name its encoding with --encoding/)
    assert.ok(rejected.err.includes(`${label} (${name})`), rejected.err)
    assert.equal(runImport('staff', 'page.csv', '--encoding', label).status, 0)
    assert.deepEqual(await shop.queryRows(`select surname from staff where id = 'cp'`), [{ surname: name }])
  }
})

test('words of Western languages are read with the confidence of the guess', () => {
  const names = ['Müller', 'François', 'Muñoz', 'Conceição', 'Jørgensen', 'Hämäläinen', 'O’Neil', 'Zoë']
  for (const [repeats, confidence] of [
    [1, 'low'],
    [2, 'high'],
  ] as const) {
    const someNames = repeats === 1 ? names.slice(0, 2) : [...names, ...names]
    const lines = someNames.map((name, i) => `w${i},W${i},${name.replace('’', '\x92')}\n`).join('')
    writeFileSync(toPath('west.csv'), Buffer.from(`id,code,surname\n${lines}`, 'latin1'))
    const { status, out, err } = runImport('staff', 'west.csv')
    assert.equal(status, 0, err)
    assert.match(err, new RegExp(`read as Windows-1252 with ${confidence} confidence`))
    assert.match(out, new RegExp(`^${someNames.length} +read as Windows-1252 with ${confidence} confidence`, 'm'))
  }
})

test('rejected lines of such a file can be corrected and imported again', async () => {
  writeFileSync(toPath('mixed.csv'), Buffer.from(german.replaceAll('G', 'M').replace('0,735', 'Käse'), 'latin1'))
  const first = runImport('transactions', 'mixed.csv', '--profile', 'kassen.json')
  assert.equal(first.status, 2)
  const rejected = readFileSync(toPath('mixed.csv.rejected.csv'), 'utf8')
  assert.match(
    rejected,
    /^line,column,reason,Bon,Pos,.*\n3,Menge,"must be a number: only digits, with a comma .*",M1,2,26\.05\.2024,14:05,Käse,"12,90",Käse\n$/,
  )
  writeFileSync(toPath('corrected.csv'), rejected.replace('Käse,"12', '"0,735","12'))
  const correctedRun = runImport('transactions', 'corrected.csv', '--profile', 'kassen.json')
  assert.deepEqual([correctedRun.status, (await readSale('M1')).total], [0, '1243.98'], correctedRun.err)
})

test('a UTF-8 byte order mark overrides the encoding option', async () => {
  const args = ['--encoding', 'windows-1252']
  writeFileSync(toPath('marked.csv'), Buffer.from('id,surname,code\nm1,Größe,\nm2,Käse,M2\n', 'latin1'))
  assert.equal(runImport('staff', 'marked.csv', ...args).status, 2)
  const corrected = readFileSync(toPath('marked.csv.rejected.csv'), 'utf8').replace('Größe,', 'Größe,M1')
  writeFileSync(toPath('corrected.csv'), `\ufeff${corrected}`)
  const correctedRun = runImport('staff', 'corrected.csv', ...args)
  assert.deepEqual([correctedRun.status, correctedRun.err], [0, ''])
  writeFileSync(toPath('whole.csv'), '\ufeffid,surname,code\nm3,Grün,M3\n')
  assert.equal(runImport('staff', 'whole.csv', ...args).status, 0)
  assert.deepEqual(
    (await shop.queryRows(`select surname from staff where id like 'm%' order by id`)).map(({ surname }) => surname),
    ['Größe', 'Käse', 'Grün'],
  )
})

test('rejections are grouped with counts and examples; --stop-after ends early', async () => {
  const lines = Array.from(
    { length: 5_000 },
    (_, i) => `p${i},Name,1,s${i},S,${i % 2 ? '"1,50"' : 'free'},${i % 5 ? '1.0' : '1.5'}\n`,
  )
  writeFileSync(toPath('goods.csv'), `productId,name,colourId,skuId,sizeCode,price,sequence\n${lines.join('')}`)
  const args = ['products', 'goods.csv', '--set', 'productCode=X']
  const dryRun = runImport(...args, '--dry-run')
  assert.equal(dryRun.status, 2)
  assert.match(
    dryRun.out,
    /^2,500 +price +must have a decimal point, not a comma. To read such numbers, use --decimal , +line 3 +"1,50"$/m,
  )
  assert.match(dryRun.out, /^2,500 +price +must be an amount: .* +line 2 +"free"$/m)
  assert.match(dryRun.out, /^1,000 +sequence +must be an integer and can't have decimals +line 2 +"1\.5"$/m)
  assert.match(dryRun.out, /Correct them in goods\.csv before you import it\.$/m)
  const stopped = runImport(...args, '--stop-after', '10')
  assert.match(stopped.out, /Correct them, then import that file with the same options\.$/m)
  assert.deepEqual([stopped.status, /goods\.csv +2,000 +0 +0 +0 +2,000/.test(stopped.out)], [2, true], stopped.out)
  assert.match(
    stopped.out,
    /^Stopped after line 2,001 of goods\.csv\. The lines before it are imported\. To continue, import it again with --resume\.$/m,
  )
})

test('contradictory options are rejected before the import', () => {
  writeFileSync(toPath('a.csv'), 'id;code\n1;A\n')
  const readErrors = (...args: string[]) => runImport('staff', 'a.csv', ...args).err
  assert.match(readErrors(), /The columns are not separated by commas\. Try --delimiter ";"/)
  assert.match(
    readErrors('--delimiter', ';', '--set', 'active=maybe'),
    /^tillbridge: --set active=maybe: it must be true, false, yes, no, y, n, 1 or 0/,
  )
  assert.match(
    readErrors('--delimiter', ';', '--set', 'shoe=1'),
    /^tillbridge: --set shoe=1: column shoe doesn't exist\. Columns/,
  )
  assert.match(readErrors('--delimiter', ';;'), /^tillbridge: --delimiter ;; must be one ASCII character/)
  assert.match(
    readErrors('--date-format', 'H:MM'),
    /^tillbridge: --date-format H:MM must have a year, a month and a day, such as DD\.MM\.YYYY/,
  )
  writeFileSync(toPath('a.csv'), 'sep=;\nid;code\n1;A\n')
  const noHeader =
    'tillbridge: The first line of the file must be the header, not a separator for spreadsheets. Delete the line, and use --delimiter ";".\n'
  assert.deepEqual([readErrors(), readErrors('--delimiter', ';')], [noHeader, noHeader])
  writeFileSync(toPath('a.csv'), 'sep=,\r\nid,code\r\n1,A\r\n')
  assert.match(readErrors(), /not a separator for spreadsheets\. Delete the line\.\n$/)
  writeFileSync(toPath('a.csv'), 'id,code,surname\r1,A,Lee\r2,B,Roe\r')
  assert.equal(readErrors(), 'tillbridge: The lines of the file end with CR only. Save it with LF or CRLF line ends.\n')
  writeFileSync(toPath('b.csv'), 'PAR1\x15\x04\x15')
  assert.match(runImport('staff', 'b.csv').err, /^tillbridge: b\.csv is a Parquet file\. Convert it to CSV first/)
})
