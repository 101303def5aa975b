import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { importAndWait, readData } from '../support/import-and-wait.ts'
import { startTestApi } from '../support/service.ts'
import { voucherSettings } from '../support/voucher-shop.ts'
import { post } from '../support/write.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off', writesPerMinute: 'off' } })
after(() => api.stop())

const listNotes = ({ notes }: { notes: { note: string; count: number }[] }) =>
  notes.map(({ note, count }) => `${count} ${note.replace(/:.*/, '')}`).sort()

test('apostrophes before identifiers, post codes and phones are removed', async () => {
  const caller = await api.createService()
  const header = 'id,surname,postcode,phoneMobile,city\n'
  const done = await importAndWait(caller, 'customers', `${header}'C1,'t Hooft,'0800,'+61400000001,'s-Hertogenbosch\n`)
  assert.deepEqual(listNotes(done), ['1 apostrophe before an identifier, number, post code or phone'])
  const { surname, address, contact } = await readData(caller, '/customers/C1')
  assert.deepEqual([surname, address.city, address.postcode], ["'t Hooft", "'s-Hertogenbosch", '0800'])
  assert.equal(contact.phones.mobile, '+61400000001')
})

test('texts that a spreadsheet writes as formulas are unwrapped', async () => {
  const caller = await api.createService(voucherSettings)
  const file = `id,surname,postcode,phoneMobile\n"=""007""","=""O'Neil""","=""01067""",’0400\nC2,Lee,1067.0,400\n`
  const done = await importAndWait(caller, 'customers', file)
  assert.deepEqual(listNotes(done), [
    '1 apostrophe before an identifier, number, post code or phone',
    '1 identifier, post code or phone that ends in .0',
    '1 text as a formula such as ="007"',
  ])
  const { surname, address, contact } = await readData(caller, '/customers/007')
  assert.deepEqual([surname, address.postcode, contact.phones.mobile], ["O'Neil", '01067', '0400'])
  const vouchers = `number,pin,balance\n"=""7001""","=""0123""",5.00\n7002,'0124,5.00\n`
  assert.equal((await importAndWait(caller, 'vouchers', vouchers)).new, 2)
  for (const [number, pin] of [
    ['7001', '0123'],
    ['7002', '0124'],
  ] as const)
    assert.equal((await post(caller, '/vouchers/lookup', { number, pin })).status, 200, number)
})

test('signs of writing direction around phones and emails are removed', async () => {
  const caller = await api.createService()
  const file =
    'id,surname,email,phoneMobile,postcode\nC1,Lee,\u2068lee@example.com\u2069,\u202a+61 400\u202c,´0800\nC2,\u202eeeL,,,\n'
  const done = await importAndWait(caller, 'customers', file)
  assert.deepEqual([done.new, done.rejected], [1, 1])
  assert.deepEqual(listNotes(done), [
    '1 apostrophe before an identifier, number, post code or phone',
    '1 invisible characters',
  ])
  const { address, contact } = await readData(caller, '/customers/C1')
  assert.deepEqual([contact.email, contact.phones.mobile, address.postcode], ['lee@example.com', '+61 400', '0800'])
})

test('characters that an earlier conversion has lost are remarked', async () => {
  const caller = await api.createService()
  const done = await importAndWait(caller, 'customers', 'id,surname,city\nC1,M\ufffdller,K\ufffdln\n')
  assert.deepEqual([done.new, listNotes(done)], [1, ['1 character that an earlier conversion has lost (U+FFFD)']])
})

test('numbers that could have a separator of thousands are remarked', async () => {
  const caller = await api.createService()
  await importAndWait(caller, 'stores', 'storeId,storeNumber,name\n1,001,North\n')
  await importAndWait(
    caller,
    'products',
    'productId,productCode,name,colourId,skuId,sku,sizeCode,price\nA,A,N,A,1,SKU,M,1.00\n',
  )
  const weighed = await importAndWait(caller, 'stock', 'storeNumber,sku,freeStock\n001,SKU,1.234\n')
  assert.deepEqual([weighed.new, listNotes(weighed)], [1, ['1 number with three decimals, such as 1.234']])
  const german = await importAndWait(caller, 'stock?decimal=,', 'storeNumber,sku,freeStock\n001,SKU,1.234\n')
  assert.deepEqual([german.changed, listNotes(german)], [1, []])
  const file = 'id,lineId,saleDate,sku,quantity,price\nT1,1,2026-01-01,SKU,1,1.234\n'
  assert.deepEqual(listNotes(await importAndWait(caller, 'transactions', file)), [
    '1 number with three decimals, such as 1.234',
  ])
})

test('empty columns at the end of a file are ignored', async () => {
  const caller = await api.createService()
  const file = 'storeId,storeNumber,name,,\n1,001,North,,\n2,002,South,\n3,003,West,,,,\n4,004,East,x,\n'
  const done = await importAndWait(caller, 'stores', file)
  assert.deepEqual([done.new, done.rejected], [3, 1])
  const [reason] = await readData(caller, `${done.path}/rejected`)
  assert.equal(reason.reason, 'The line must have 3 cells like the header, but has 4.')
})

test('unlikely PINs are remarked without their content', async () => {
  const caller = await api.createService(voucherSettings)
  const pins = ['1234.0', '\u00a01234', '12\u200b34', '12\ufffd4', '1234 ', '1234']
  const lines = pins.map((pin, i) => `900${i},${pin},5.00\n`)
  const done = await importAndWait(caller, 'vouchers', `number,pin,balance\n${lines.join('')}`)
  assert.deepEqual(
    [done.new, listNotes(done)],
    [6, ['1 PIN that ends in .0', '4 PIN with a space at an end or an unusual character']],
  )
})

test('times that clocks skip are remarked', async () => {
  const caller = await api.createService({ timeZone: 'Europe/Berlin' })
  const times = ['2026-03-29 02:30:00', '2026-03-29 03:00:00', '2025-10-26 02:30:00', '2026-03-28\u202f02:30']
  const lines = times.map((time, i) => `T${i},1,${time},,1,1.00\n`)
  const done = await importAndWait(caller, 'transactions', `id,lineId,saleDate,sku,quantity,price\n${lines.join('')}`)
  assert.deepEqual(
    [done.new, listNotes(done)],
    [4, ["1 saleDate doesn't exist in Europe/Berlin, because clocks skip it"]],
  )
})

test('times at a skipped midnight and on a skipped day are remarked', async () => {
  for (const [timeZone, skipped, valid] of [
    ['America/Sao_Paulo', '2018-11-04 00:30:00', '2018-11-04 01:00:00'],
    ['Pacific/Apia', '2011-12-30 10:00:00', '2011-12-31 00:30:00'],
  ] as const) {
    const caller = await api.createService({ timeZone })
    const lines = [skipped, valid].map((time, i) => `T${i},1,${time},,1,1.00\n`)
    const done = await importAndWait(caller, 'transactions', `id,lineId,saleDate,sku,quantity,price\n${lines.join('')}`)
    assert.deepEqual(
      [done.new, listNotes(done)],
      [2, [`1 saleDate doesn't exist in ${timeZone}, because clocks skip it`]],
    )
  }
})

test('lines that database tools add are skipped', async () => {
  const caller = await api.createService()
  const file = [
    'storeId,storeNumber,name',
    '-------,-----------,----',
    '1,001,-',
    '2,002,--',
    '(2 rows affected)',
    '(1 row)',
    '(1,234 rows affected),,',
    '\u001a',
  ]
  const done = await importAndWait(caller, 'stores', file.join('\n'))
  assert.deepEqual([done.new, done.skipped, done.rejected], [2, 5, 0])
  assert.deepEqual(listNotes(done), ['1 end-of-file character', '1 line of dashes', '3 row count of a database'])
  assert.deepEqual((await readData(caller, '/health')).problems, [], 'skipped lines are not reported as a problem')
})

test("signs of the service's currency are removed, those of others rejected", async () => {
  const caller = await api.createService({ currency: 'AUD' })
  const header = 'productId,productCode,name,colourId,skuId,sizeCode,price\n'
  const lines = ['S1,M,$12.00', 'S2,M,A$13', 'S3,M,14.00 AUD', 'S4,M,€15.00']
    .map(line => `P,P,Name,C,${line}\n`)
    .join('')
  const done = await importAndWait(caller, 'products', header + lines)
  assert.deepEqual([done.new, done.rejected, listNotes(done)], [3, 1, ['3 sign of the currency']])
  const [rejected] = await readData(caller, `/imports/${done.id}/rejected`)
  assert.equal(rejected.reason, 'must be in the currency of the service, not in another one')
})

test('flags are read in the languages of retailers', async () => {
  const caller = await api.createService()
  const words = ['ja', 'Oui', 'SÍ', 'sì', 'WAHR', 'nein', 'Non', 'nee', 'FAUX', 'maybe']
  const lines = words.map((word, i) => `F${i},${word}\n`).join('')
  const done = await importAndWait(caller, 'customers', `id,emailSubscription\n${lines}`)
  assert.deepEqual([done.new, done.rejected], [9, 1])
  const subscribed = []
  for (const [i, word] of words.slice(0, -1).entries())
    if ((await readData(caller, `/customers/F${i}`)).emailSubscription) subscribed.push(word)
  assert.deepEqual(subscribed, ['ja', 'Oui', 'SÍ', 'sì', 'WAHR'])
})

test('a date that does not exist is rejected as such', async () => {
  const caller = await api.createService()
  const profile = encodeURIComponent(JSON.stringify({ dateFormat: 'DD/MM/YYYY' }))
  const done = await importAndWait(caller, `customers&profile=${profile}`, 'id,dateOfBirth\nD1,30/02/1975\n')
  const [rejected] = await readData(caller, `/imports/${done.id}/rejected`)
  assert.equal(rejected.reason, 'must be an existing date in the format DD/MM/YYYY')
})

test('placeholders, invisible characters and lines without a record are remarked', async () => {
  const caller = await api.createService()
  const file = [
    'id,surname,firstname',
    'C1,Lee,NULL',
    'C2\u200b,Lee,\\N',
    ',,',
    'id,surname,firstname',
    'C3,#N/A,(null)',
    'C5,#NV,[NULL]',
    'C6,NaN,<null>',
    'C4,Null,Ann',
  ]
  const done = await importAndWait(caller, 'customers', `${file.join('\n')}\n`)
  assert.deepEqual([done.new, done.skipped, done.rejected], [6, 2, 0])
  assert.deepEqual(listNotes(done), [
    '1 invisible characters',
    '1 line without content',
    '1 repeated header',
    '5 placeholder such as NULL or #N/A',
  ])
  assert.equal((await readData(caller, '/customers/C2')).firstname, null)
  assert.equal((await readData(caller, '/customers/C4')).surname, 'Null')
})

test('a line of totals is no record', async () => {
  const caller = await api.createService()
  const file = 'id,saleDate,lineId,quantity,price\nR1,2024-05-10,1,1,10.00\nTotal,,,1,10.00\n'
  const done = await importAndWait(caller, 'transactions', file)
  assert.deepEqual([done.new, done.skipped, listNotes(done)], [1, 1, ['1 line of totals']])
})

test('the same key with different content is remarked in each import type', async () => {
  const caller = await api.createService()
  const sale = 'R1,2024-05-10 09:30,A,'
  const sales = `id,saleDate,lineId,quantity,price\n${sale}1,10.00\n${sale}2,10.00\n${sale}2,10.00\n`
  assert.ok(
    listNotes(await importAndWait(caller, 'transactions', sales)).includes(
      '1 same key as an earlier line, but different content',
    ),
  )
  const customers = 'id,surname\nC1,One\nC2,Two\nC1,Three\n'
  assert.deepEqual(listNotes(await importAndWait(caller, 'customers', customers)), [
    '1 same key as an earlier line, but different content',
  ])
})

test('doubtful signs, dates and sums of sales are remarked', async () => {
  const caller = await api.createService()
  const header = 'id,saleDate,lineId,quantity,price,discountAmount,value\n'
  const lines = [
    'R1,2024-05-10,1,1,10.00,,10.00',
    'R2,1900-01-01,1,1,10.00,,10.00',
    'R3,2199-05-10,1,1,10.00,,10.00',
    'R4,2024-05-10,1,1,-10.00,,-10.00',
    'R5,2024-05-10,1,1,10.00,11.00,',
    'R6,2024-05-10,1,-1,10.00,1.00,',
    'R7,2024-05-10,1,2,10.00,,10.00',
  ]
  const done = await importAndWait(caller, 'transactions', `${header}${lines.join('\n')}\n`)
  assert.deepEqual([done.new, done.rejected], [7, 0])
  assert.deepEqual(listNotes(done), [
    '1 discountAmount has another sign than quantity times price',
    '1 discountAmount is more than quantity times price',
    '1 price is negative',
    '1 saleDate is before 1980',
    '1 saleDate is in the future',
    '1 value differs from quantity times price minus the discount',
  ])
})

test('a line can take the email that a later line releases', async () => {
  const caller = await api.createService()
  await importAndWait(caller, 'customers', 'id,email\nC1,a@example.com\nC2,b@example.com\n')
  const done = await importAndWait(caller, 'customers', 'id,email\nC1,b@example.com\nC2,c@example.com\n')
  assert.deepEqual([done.changed, done.rejected], [2, 0])
})

test('sales whose lines do not add up to their total are rejected', async () => {
  const shop = await api.createService()
  const header = 'id,saleDate,lineId,quantity,price,discountAmount,value,total\n'
  const lines = [
    'R1,2024-05-10,1,1,10.00,,10.00,12.50',
    'R1,2024-05-10,2,0.5,5.00,,,12.50',
    'R2,2024-05-10,1,1,10.00,1.00,,9.00',
    'R3,2024-05-10,1,1,10.00,,10.00,15.00',
    'R3,2024-05-10,2,1,4.00,,4.00,15.00',
    'R4,2024-05-10,1,-1,10.00,,-10.00,10.00',
    'R5,2024-05-10,1,-1,10.00,,-10.00,-10.00',
    'R6,2024-05-10,1,1,10.00,,10.00,',
  ]
  const done = await importAndWait(shop, 'transactions', `${header}${lines.join('\n')}\n`)
  assert.deepEqual([done.new, done.rejected], [5, 3])
  const rejected = (await shop.get(`${done.path}/rejected`)).json.data
  assert.deepEqual(
    rejected.map(({ column, reason, numbers }: Record<string, unknown>) => [column, reason, numbers]),
    [['total', 'must be the sum of the lines', [5, 6, 7]]],
  )
})
