import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { isEmail } from '../../src/domain/values/email.ts'
import { openImportShop } from '../support/import-shop.ts'
import { startTestApi } from '../support/service.ts'
import { post, put } from '../support/write.ts'

const shop = await openImportShop()
after(() => shop.close())

for (const [kind, columns, cells] of [
  ['customers', 'id', ''],
  ['staff', 'id,code,surname', ',A,Lee'],
  ['stores', 'storeNumber,storeId,name', ',1,One'],
  ['products', 'productId,productCode,name,colourId,skuId,sizeCode,price', ',M,One,C,S,S,10'],
  ['orders', 'id,orderNumber,customerId,placedAt,total', ',1,1,2024-01-01,0'],
  ['vouchers', 'number,pin,balance', ',004200,1.00'],
  ['reward-accounts', 'id,customerId,programId,tierId,joinDate', ',1,1,1,2024-01-01'],
] as const)
  test(`an identifier of ${kind} can be part of a path`, async () => {
    for (const bad of ['../../x', 'a/b', 'a\\b', '..', '.']) {
      const { rejected, rejectedFile } = await shop.importFile(kind, `${columns}\n${bad}${cells}\n`)
      assert.equal(rejected, 1, bad)
      assert.match(rejectedFile ?? '', /can't contain \/ or \\, or be \. or \.\./)
    }
    const { rejectedFile } = await shop.importFile(kind, `${columns}\n"a\u0007b"${cells}\n`)
    assert.match(rejectedFile ?? '', /can't contain the control character U\+0007: character 2/)
  })

test('unusual identifiers that fit a path are accepted', async () => {
  const unusual = ['a b', 'ä-1', '100%', 'a?b', 'a#b', '...', '.a', 'a:b', '008']
  assert.equal((await shop.importFile('customers', `id\n${unusual.join('\n')}\n`)).inserted, unusual.length)
})

test('whitespace around an identifier is trimmed', async () => {
  const { inserted } = await shop.importFile('customers', 'id\n00123 \n  00123\n00123\n')
  assert.deepEqual(
    [inserted, await shop.queryRows(`select id from customer where id like '%00123%'`)],
    [1, [{ id: '00123' }]],
  )
  assert.equal((await shop.importFile('vouchers', 'number,pin,balance\n0099 ,1234,5.00\n0099,1234,5.00\n')).inserted, 1)
  const order =
    'orderNumber,customerId,placedAt,total,skuId,quantity,price\nPAD,00123,2024-01-01,2,S,1,1.00\nPAD ,,,,S,x,1.00\n'
  assert.equal((await shop.importFile('orders', order)).rejected, 2, 'both lines belong to one order')
})

test('a value damaged by a spreadsheet is rejected', async () => {
  for (const [kind, column, required] of [
    ['ecommerce-customers', 'customerId', ''],
    ['ecommerce-variants', 'barcode', 'sku'],
    ['customers', 'ecommerceLegacyId', 'id'],
    ['customers', 'phoneMobile', 'id'],
    ['products', 'barcode', 'productId,productCode,name,colourId,skuId,sizeCode,price'],
  ] as const) {
    const names = [column, ...required.split(',').filter(Boolean)]
    const lines = ['6.47789E+12', '"6,47789E+12"', '6E+12'].map(cell => [cell, ...names.slice(1).map(() => '1')].join())
    const { rejected, rejections } = await shop.importFile(kind, `${[names.join(), ...lines].join('\n')}\n`)
    const reason = 'was converted to a number by a spreadsheet. Format its column as text, and export the file again'
    assert.deepEqual([rejected, rejections.map(({ firstMessage }) => firstMessage)], [3, [reason]], `${kind} ${column}`)
  }
  const otherCodes = ['6E12', '1e+5', 'A1.5E+10', '12E+10', '6.4.7E+12']
  assert.equal((await shop.importFile('ecommerce-customers', `customerId\n${otherCodes.join('\n')}\n`)).rejected, 0)
})

test('an email follows the same rule in files and bodies', async () => {
  const api = await startTestApi({ settings: { writesPerMinute: 'off' }, role: 'maintainer' })
  const addresses = [
    ...[
      'bad',
      'a@b',
      'a b@example.com',
      '@example.com',
      'a@example.com, b@example.com',
      'a@127.0.0.1',
      'a..b@example.com',
    ],
    ...['"a b"@example.com', '"a@b"@example.com', '"a"b@example.com', '""@example.com', 'taro.@docomo.example'],
    ...['"taro..yamada"@docomo.example', '"taro."@docomo.example', '".taro"@docomo.example'],
    ...['ann@example.com', "o'hara+shop@example.co.uk", 'ü@example.com'],
  ]
  try {
    for (const [i, email] of addresses.entries()) {
      const { rejected, rejectedFile } = await shop.importFile(
        'customers',
        `id,email\ne${i},"${email.replaceAll('"', '""')}"\n`,
      )
      const response = await post(api, '/customers', { firstname: 'A', surname: 'B', contact: { email } })
      assert.equal(response.status === 201, rejected === 0, email)
      assert.equal(isEmail(email), rejected === 0, email)
      if (rejected) assert.match(rejectedFile ?? '', /email,must be an email address,/)
    }
  } finally {
    await api.stop()
  }
})

test('a string follows the same rule in files and bodies', async () => {
  const api = await startTestApi({ settings: { writesPerMinute: 'off' }, role: 'maintainer' })
  const texts = [
    ...['a\tb', 'a\nb', '\u007f', '\u0085', 'a\u2028b', 'a\u2029b', 'a\u202eb', '\u202aAnn\u202c', '\u2066a'],
    ...['Ann', 'Zoë', 'Zoe\u0308', 'a\u00a0b', '\u200fa', 'a\u200db', '👩‍👩‍👧'],
  ]
  try {
    const { id } = (
      await post(api, '/customers', { firstname: 'A', surname: 'B', contact: { email: 'a@example.com' } })
    ).json.data
    for (const [i, firstname] of texts.entries()) {
      const { rejected, rejectedFile } = await shop.importFile('customers', `id,firstname\nt${i},"${firstname}"\n`)
      const response = await put(api, `/customers/${id}`, { firstname })
      assert.equal(response.status === 200, rejected === 0, JSON.stringify(firstname))
      if (rejected) assert.match(rejectedFile ?? '', /can't contain (a tab|a line break|the (control )?character U\+)/)
    }
  } finally {
    await api.stop()
  }
})
