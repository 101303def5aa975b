import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { importAndWait, readData } from '../support/import-and-wait.ts'
import { type Caller, startTestApi } from '../support/service.ts'
import { put } from '../support/write.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off', writesPerMinute: 'off' } })
after(() => api.stop())

const getCounts = ({ new: added, changed: updated, unchanged, outdated, rejected }: Record<string, unknown>) => ({
  added,
  changed: updated,
  unchanged,
  outdated,
  rejected,
})
const nothing = { added: 0, changed: 0, unchanged: 0, outdated: 0, rejected: 0 }
const skipped = { ...nothing, outdated: 1 }
const changed = { ...nothing, changed: 1 }
const importFile = async (caller: Caller, type: string, content: string) =>
  getCounts(await importAndWait(caller, type, content))

const getConsent = async (caller: Caller, id = 'C1') => {
  const { privacy, emailSubscription, smsSubscription } = await readData(caller, `/customers/${id}`)
  return [privacy, emailSubscription, smsSubscription]
}

/** Each import type that has a time, with a function that builds a line and one that reads the stored value. */
const types: [
  type: string,
  header: string,
  line: (value: string) => string,
  read: (caller: Caller) => Promise<unknown>,
][] = [
  [
    'stores',
    'storeId,storeNumber,name',
    name => `1,001,${name}`,
    async caller => (await readData(caller, '/stores'))[0].name,
  ],
  ['staff', 'id,code,surname', name => `7,A,${name}`, async caller => (await readData(caller, '/staff'))[0].surname],
  [
    'products',
    'productId,productCode,name,colourId,skuId,sizeCode,price',
    name => `P,P,${name},C,S,M,10.00`,
    async caller => (await readData(caller, '/products'))[0].name,
  ],
  [
    'stock',
    'storeNumber,skuId,freeStock',
    free => `001,S,${free}`,
    async caller => String((await readData(caller, '/inventory'))[0].freeStock),
  ],
  ['customers', 'id,surname', name => `C1,${name}`, async caller => (await readData(caller, '/customers/C1')).surname],
  [
    'transactions',
    'id,saleDate,lineId,quantity,price',
    price => `T1,2024-05-01 10:00:00,1,1,${price}.00`,
    async caller => String(Number((await readData(caller, '/transactions/T1')).total)),
  ],
]

test('every import type skips lines older than the stored record', async () => {
  const caller = await api.createService()
  for (const [type, header, line, readValue] of types) {
    const importLine = (value: string, time: string) =>
      importFile(caller, type, `${header},updateTimeStamp\n${line(value)},${time}\n`)
    assert.equal((await importLine('1', '2024-05-02 10:00:00')).added, 1, type)
    assert.deepEqual(await importLine('2', '2024-05-03 10:00:00'), changed, type)
    assert.deepEqual(await importLine('3', '2024-05-02 23:59:59'), skipped, type)
    assert.equal(await readValue(caller), '2', type)
    assert.deepEqual(await importLine('4', '2024-05-03 10:00:00'), changed, type)
    assert.equal(await readValue(caller), '4', type)
  }
})

test('a line without a time is as new as its import', async () => {
  const caller = await api.createService()
  await importFile(caller, 'customers', 'id,surname\nC1,Now\n')
  const older = 'id,surname,updateTimeStamp\nC1,Older,2024-05-02 10:00:00\n'
  assert.deepEqual(await importFile(caller, 'customers', older), skipped)
  assert.deepEqual(await importFile(caller, 'customers', 'id,surname\nC1,Later\n'), changed)
})

test('force_older imports older lines', async () => {
  const caller = await api.createService()
  const buildLine = (name: string, time: string) => `id,surname,updateTimeStamp\nC1,${name},${time}\n`
  await importFile(caller, 'customers', buildLine('New', '2024-05-03 10:00:00'))
  const forced = await importAndWait(caller, 'customers&force_older=true', buildLine('Old', '2024-05-02 10:00:00'))
  assert.deepEqual(getCounts(forced), changed)
  assert.equal((await readData(caller, '/customers/C1')).surname, 'Old')
})

test('an older opt-in never overrides a withdrawal', async () => {
  const caller = await api.createService()
  const file = 'id,surname,emailSubscription,smsSubscription,updateTimeStamp\nC1,Con,true,true,2024-05-02 10:00:00\n'
  await importFile(caller, 'customers', file)
  await put(caller, '/customers/C1', { emailSubscription: false, smsSubscription: false })
  assert.deepEqual(await importFile(caller, 'customers', file), skipped)
  assert.deepEqual((await getConsent(caller)).slice(1), [false, false])
})

test('a withdrawal after the opt-in applies although the record is newer', async () => {
  const caller = await api.createService()
  const header = 'id,surname,emailSubscription,smsSubscription,updateTimeStamp\n'
  await importFile(caller, 'customers', `${header}C1,One,true,true,2024-05-02 10:00:00\n`)
  await put(caller, '/customers/C1', { surname: 'Two' })
  assert.deepEqual(await importFile(caller, 'customers', `${header}C1,Three,false,true,2024-05-03 10:00:00\n`), changed)
  assert.deepEqual(await getConsent(caller), [false, false, true])
  assert.equal((await readData(caller, '/customers/C1')).surname, 'Two')
  assert.deepEqual(await importFile(caller, 'customers', `${header}C1,Four,true,true,2024-05-02 23:00:00\n`), skipped)
})

test('changes of consent by an import are recorded with their author', async () => {
  const caller = await api.createService()
  const buildLine = (flag: boolean, day: number) => `id,emailSubscription,updateTimeStamp\nC1,${flag},2024-05-0${day}\n`
  await importFile(caller, 'customers', buildLine(true, 2))
  await importFile(caller, 'customers', buildLine(false, 3))
  const { consent: changes } = await readData(caller, '/customers/C1/export')
  assert.deepEqual(
    changes.map(({ channel, oldValue, newValue }: Record<string, unknown>) => [channel, oldValue, newValue]),
    [['email', true, false]],
  )
})

test('a mapping is no new content', async () => {
  const caller = await api.createService()
  const buildLine = (name: string, time: string) => `id,surname,updateTimeStamp\nC1,${name},${time}\n`
  await importFile(caller, 'customers', buildLine('One', '2024-05-02 10:00:00'))
  await importFile(caller, 'customer-mapping', 'customerId,ecommerceLegacyId\nC1,6477890125896\n')
  assert.deepEqual(await importFile(caller, 'customers', buildLine('Two', '2024-05-03 10:00:00')), changed)
})
