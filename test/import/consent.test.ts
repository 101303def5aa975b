import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { removeCustomers } from '../../src/store/customers/removal.ts'
import { openImportShop, type Shop } from '../support/import-shop.ts'

let shop: Shop
before(async () => {
  shop = await openImportShop()
})
after(() => shop.close())

const importCustomers = async (content: string) => {
  const { inserted, changed, unchanged, rejected } = await shop.importFile('customers', content)
  return [inserted, changed, unchanged, rejected]
}
const getConsent = async (id: string) => {
  const [row] = await shop.queryRows(`select record, changed_at::text as at from customer where id = '${id}'`)
  const { privacy, emailSubscription, smsSubscription } = JSON.parse(`${row.record}}`)
  return { flags: [privacy, emailSubscription, smsSubscription], at: row.at }
}

test('a line with privacy ends unnamed subscriptions and reports it', async () => {
  await importCustomers('id,emailSubscription,smsSubscription\n7,true,true\n')
  const subscribed = await getConsent('7')
  assert.deepEqual(subscribed.flags, [false, true, true])
  assert.deepEqual(await importCustomers('id,privacy\n7,true\n'), [0, 1, 0, 0])
  const ended = await getConsent('7')
  assert.deepEqual(ended.flags, [true, false, false])
  assert.ok(ended.at > subscribed.at)
  assert.deepEqual(await importCustomers('id,privacy\n7,true\n'), [0, 0, 1, 0])
})

test('other consent in a line applies as in a write', async () => {
  const subscribed = 'id,privacy,emailSubscription,smsSubscription\n8,false,true,true\n'
  for (const [columns, line, flags] of [
    ['privacy,emailSubscription', 'true,false', [true, false, false]],
    ['privacy,emailSubscription', 'true,true', [false, true, true]],
    ['privacy,emailSubscription', 'true,', [true, false, false]],
    ['privacy', 'false', [false, true, true]],
    ['privacy', '', [false, true, true]],
    ['emailSubscription', 'false', [false, false, true]],
  ] as const) {
    await importCustomers(subscribed)
    await importCustomers(`id,${columns}\n8,${line}\n`)
    assert.deepEqual((await getConsent('8')).flags, flags, `${columns}: ${line}`)
  }
})

test('a line with privacy ends the subscriptions of a returning customer', async () => {
  await importCustomers('id,emailSubscription,ecommerceLegacyId\n9,true,6477\n')
  await shop.db.transaction(tx => removeCustomers(tx, shop.service, ['9']))
  assert.deepEqual(await importCustomers('id,privacy\n9,yes\n'), [1, 0, 0, 0])
  assert.deepEqual((await getConsent('9')).flags, [true, false, false])
  assert.deepEqual(await shop.queryRows(`select ecommerce_legacy_id as id from customer where id = '9'`), [
    { id: '6477' },
  ])
})
