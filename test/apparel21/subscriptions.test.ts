import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApi } from '../support/service.ts'
import { post, put } from '../support/write.ts'
import { shopOfTests } from './shop.ts'

const { api, simulator, sync } = await shopOfTests()
const admin = await api.createAccount('admin')
const email = { type: 'eMailOptIn', yes: '4421', no: '4422' }
const sms = { type: 'smsOptIn', yes: '4431', no: '4432' }

// Each with another answer, and every seventh with none.
for (const [i, id] of [...simulator.state.persons.keys()].entries())
  if (i % 7)
    simulator.change({
      kind: 'edit-person',
      id,
      fields: { privacy: i % 5 === 0, references: { 1322: 4421 + (i % 2), 1323: 4431 + (i % 3 ? 1 : 0) } },
    })
await sync('customers')

/** Returns the customers who accept emails and text messages, by our list. */
async function subscribed(after = '1970-01-01') {
  const { data } = (await api.get(`/customers/search?updated_after=${encodeURIComponent(after)}`)).json
  const subscribers = (flag: string) =>
    data.filter((record: Record<string, boolean>) => record[flag]).map(({ id }: { id: string }) => id)
  return {
    all: data.length,
    email: subscribers('emailSubscription').sort(),
    sms: subscribers('smsSubscription').sort(),
  }
}
/** Returns the same by the references in the back office. */
const withReference = (type: number, value: number) =>
  [...simulator.state.persons.values()]
    .filter(({ privacy, references }) => !privacy && references.get(type) === value)
    .map(({ id }) => String(id))
    .sort()

test('a new subscription mapping updates stored customers and the change feed', async () => {
  assert.deepEqual([(await subscribed()).email, (await subscribed()).sms], [[], []])
  const { asOf } = (await api.get('/customers/search?limit=1')).json.meta
  simulator.ledger.clear()
  const set = await put(admin, '/settings', { subscriptionMapping: { email, sms } })
  assert.equal(set.status, 200, set.text)
  const [mails, texts] = [withReference(1322, 4421), withReference(1323, 4431)]
  assert.ok(mails.length > 5 && texts.length > 5)
  const now = await subscribed()
  assert.deepEqual([now.email, now.sms], [mails, texts])
  assert.equal((await subscribed(asOf)).all, new Set([...mails, ...texts]).size)
  assert.equal(simulator.ledger.calls.length, 0)
})

test("changing a mapping's yes value updates customers; removing the mapping does not", async () => {
  await put(admin, '/settings', { subscriptionMapping: { email: { ...email, yes: '4422', no: '4421' } } })
  const turned = await subscribed()
  assert.deepEqual([turned.email, turned.sms], [withReference(1322, 4422), withReference(1323, 4431)])
  await sync('customers')
  assert.deepEqual(await subscribed(), turned)
})

test('a mapping in an embedded service does not change consent', async t => {
  const own = await startTestApi()
  t.after(() => own.stop())
  const body = { firstname: 'Ann', surname: 'Lee', contact: { email: 'ann@example.com' }, emailSubscription: true }
  const { id } = (await post(own, '/customers', body)).json.data
  await put(own, '/settings', { subscriptionMapping: { email } })
  assert.equal((await own.get(`/customers/${id}`)).json.data.emailSubscription, true)
})
