import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApi } from '../support/service.ts'
import { post, put } from '../support/write.ts'
import { startShopFixture } from './shop.ts'

const { api, simulator, sync } = await startShopFixture()
const admin = await api.createAccount('admin')
const email = { type: 'eMailOptIn', yes: '4421', no: '4422' }
const sms = { type: 'smsOptIn', yes: '4431', no: '4432' }

// Consents vary, and every seventh person keeps the generated one.
for (const [i, id] of [...simulator.state.persons.keys()].entries())
  if (i % 7)
    simulator.change({
      kind: 'edit-person',
      id,
      fields: { privacy: i % 5 === 0, references: { 1322: 4421 + (i % 2), 1323: 4431 + (i % 3 ? 1 : 0) } },
    })
await sync('customers')

/** Returns the customers that our list shows as subscribed to emails or text messages. */
async function getSubscribers(after = '1970-01-01') {
  const { data } = (await api.get(`/customers/search?updated_after=${encodeURIComponent(after)}`)).json
  const findByFlag = (flag: string) =>
    data.filter((record: Record<string, boolean>) => record[flag]).map(({ id }: { id: string }) => id)
  return {
    all: data.length,
    email: findByFlag('emailSubscription').sort(),
    sms: findByFlag('smsSubscription').sort(),
  }
}
/** Returns the persons in the back office that have this reference value and no privacy. */
const findByReference = (type: number, value: number) =>
  [...simulator.state.persons.values()]
    .filter(({ privacy, references }) => !privacy && references.get(type) === value)
    .map(({ id }) => String(id))
    .sort()

test('a new subscription mapping updates stored customers and the change feed', async () => {
  assert.deepEqual([(await getSubscribers()).email, (await getSubscribers()).sms], [[], []])
  const { asOf } = (await api.get('/customers/search?limit=1')).json.meta
  simulator.ledger.clear()
  const changedSettings = await put(admin, '/settings', { subscriptionMapping: { email, sms } })
  assert.equal(changedSettings.status, 200, changedSettings.text)
  const [emailIds, smsIds] = [findByReference(1322, 4421), findByReference(1323, 4431)]
  assert.ok(emailIds.length > 5 && smsIds.length > 5)
  const now = await getSubscribers()
  assert.deepEqual([now.email, now.sms], [emailIds, smsIds])
  assert.equal((await getSubscribers(asOf)).all, new Set([...emailIds, ...smsIds]).size)
  assert.equal(simulator.ledger.calls.length, 0)
})

test("changing a mapping's yes value updates customers; removing the mapping does not", async () => {
  await put(admin, '/settings', { subscriptionMapping: { email: { ...email, yes: '4422', no: '4421' } } })
  const afterChange = await getSubscribers()
  assert.deepEqual([afterChange.email, afterChange.sms], [findByReference(1322, 4422), findByReference(1323, 4431)])
  await sync('customers')
  assert.deepEqual(await getSubscribers(), afterChange)
})

test('a mapping in an embedded service does not change consent', async t => {
  const embedded = await startTestApi()
  t.after(() => embedded.stop())
  const body = { firstname: 'Ann', surname: 'Lee', contact: { email: 'ann@example.com' }, emailSubscription: true }
  const { id } = (await post(embedded, '/customers', body)).json.data
  await put(embedded, '/settings', { subscriptionMapping: { email } })
  assert.equal((await embedded.get(`/customers/${id}`)).json.data.emailSubscription, true)
})
