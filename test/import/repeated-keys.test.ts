import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { importAndWait, readData } from '../support/import-and-wait.ts'
import { type Caller, startTestApi } from '../support/service.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off', writesPerMinute: 'off' } })
after(() => api.stop())

const getCounts = ({ new: added, changed, unchanged, outdated, rejected }: Record<string, unknown>) => [
  added,
  changed,
  unchanged,
  outdated,
  rejected,
]
const importLines = (caller: Caller, type: string, lines: readonly object[]) =>
  importAndWait(caller, type, lines.map(line => `${JSON.stringify(line)}\n`).join(''), {
    'content-type': 'application/x-ndjson',
  })

test('one key in thousands of lines is stored once per batch', async () => {
  const caller = await api.createService()
  const lines = Array.from({ length: 10_000 }, (_, i) => `C1,Name ${i}\n`)
  const done = await importAndWait(caller, 'customers', `id,surname\n${lines.join('')}`)
  assert.deepEqual(getCounts(done), [1, 4, 9_995, 0, 0])
  assert.deepEqual(done.notes, [
    { note: 'same key as an earlier line, but different content: only one of them is stored', count: 9_999 },
  ])
  assert.equal((await readData(caller, '/customers/C1')).surname, 'Name 9999')
})

test('a later line keeps the fields that it lacks', async () => {
  const caller = await api.createService()
  const done = await importLines(caller, 'customers', [
    { id: 'C1', surname: 'Lee', phoneMobile: '0400' },
    { id: 'C1', surname: 'Ng', phoneMobile: null },
    { id: 'C1', city: 'Perth' },
  ])
  assert.deepEqual(getCounts(done), [1, 0, 2, 0, 0])
  const { surname, address, contact } = await readData(caller, '/customers/C1')
  assert.deepEqual([surname, address.city, contact.phones.mobile], ['Ng', 'Perth', null])
})

test('a later line keeps the subscriptions that an earlier one has ended', async () => {
  const caller = await api.createService()
  const ids = ['C1', 'C2']
  await importLines(
    caller,
    'customers',
    ids.map(id => ({ id, emailSubscription: true, smsSubscription: true })),
  )
  await importLines(caller, 'customers', [
    ...ids.map(id => ({ id, privacy: true })),
    { id: 'C1', privacy: false },
    { id: 'C2', emailSubscription: true },
  ])
  const consent = await Promise.all(
    ids.map(async id => {
      const { privacy, emailSubscription, smsSubscription } = await readData(caller, `/customers/${id}`)
      return [privacy, emailSubscription, smsSubscription]
    }),
  )
  assert.deepEqual(consent, [
    [false, false, false],
    [false, true, false],
  ])
})

test('a later line without subscriptions ends those of an earlier one', async () => {
  const caller = await api.createService()
  await importAndWait(caller, 'customers', 'id,emailSubscription,privacy\nC1,true,\nC1,,true\n')
  const { privacy, emailSubscription } = await readData(caller, '/customers/C1')
  assert.deepEqual([privacy, emailSubscription], [true, false])
})

test('a later line does not renew the fields of an outdated one', async () => {
  const caller = await api.createService()
  const header = 'id,emailSubscription,updateTimeStamp'
  await importAndWait(caller, 'customers', `${header}\nC1,false,2024-05-05 10:00:00\n`)
  await importLines(caller, 'customers', [
    { id: 'C1', emailSubscription: true, updateTimeStamp: '2024-05-01 10:00:00' },
    { id: 'C1', city: 'Perth', updateTimeStamp: '2024-05-06 10:00:00' },
  ])
  const { emailSubscription, address } = await readData(caller, '/customers/C1')
  assert.deepEqual([emailSubscription, address.city], [false, 'Perth'])
})

test('a SKU moved to another product keeps the fields of both', async () => {
  const caller = await api.createService()
  const sku = { colourId: 'C', skuId: 'S', sizeCode: 'M', price: '10.00' }
  await importLines(caller, 'products', [
    { ...sku, productId: 'P1', productCode: 'P1', name: 'Coat', description: 'Warm' },
    { ...sku, productId: 'P2', productCode: 'P2', name: 'Hat' },
  ])
  const products = (await readData(caller, '/products')) as { name: string; description: string | null }[]
  assert.deepEqual(
    products.map(({ name, description }) => [name, description]),
    [['Hat', null]],
  )
})

test('an older line of the same file is outdated', async () => {
  const caller = await api.createService()
  const header = 'id,surname,updateTimeStamp\n'
  const lines = [
    'C1,A,2024-05-01 10:00:00',
    'C1,B,2024-05-03 10:00:00',
    'C1,C,2024-05-02 10:00:00',
    'C2,A,',
    'C2,B,2024-05-01 10:00:00',
  ]
  const done = await importAndWait(caller, 'customers', `${header}${lines.join('\n')}\n`)
  assert.deepEqual(getCounts(done), [2, 0, 1, 2, 0])
  assert.deepEqual(
    [(await readData(caller, '/customers/C1')).surname, (await readData(caller, '/customers/C2')).surname],
    ['B', 'A'],
  )
})

test('earlier lines of a rejected line are rejected too', async () => {
  const caller = await api.createService()
  const lines = ['C1,One,a@example.com', 'C2,Two,', 'C2,Three,', 'C2,Four,a@example.com', 'C3,Five,']
  const done = await importAndWait(caller, 'customers', `id,surname,email\n${lines.join('\n')}\n`)
  assert.deepEqual(getCounts(done), [2, 0, 0, 0, 3])
  assert.equal((await caller.get('/customers/C2')).status, 404)
})
