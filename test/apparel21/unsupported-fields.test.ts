import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startSimulator } from '../../simulator/simulator.ts'
import { createApparel21 } from '../../src/backoffice/apparel21/driver.ts'
import { connectToBackOffice } from '../drivers/apparel21.ts'
import { startTestApi } from '../support/service.ts'

const simulator = await startSimulator({ sizes: { persons: 5 } })
const { client, upstream, backOffice } = connectToBackOffice(simulator)
const api = await startTestApi({ backOffice })
const exporting = await startTestApi({
  sharedWith: api,
  backOffice: service => createApparel21(upstream, service, true),
})
const embedded = await startTestApi()
after(async () => {
  for (const server of [exporting, api, embedded]) await server.stop()
  client.close()
  await simulator.close()
})

const lists = [
  ['/staff', 'staff'],
  ['/orders/transactions/search', 'transactions'],
  ['/customers/search', 'signUpStore'],
] as const

for (const [path, name] of lists)
  test(`${path} names unsupported fields without a call unless export files add them`, async () => {
    const { capabilities } = (await api.get('/capabilities')).json.data
    const { reason } = capabilities.find((capability: { name: string }) => capability.name === name)
    await simulator.stopAccepting()
    const { status, json } = await api.get(path)
    await simulator.accept()
    assert.equal(status, 200)
    assert.deepEqual(json.meta.warnings, [{ code: 'capability_unavailable', detail: reason }])
    for (const server of [exporting, embedded]) assert.equal((await server.get(path)).json.meta.warnings, undefined)
  })

test('a complete list has no such warning', async () => {
  for (const path of ['/stores', '/products', '/customers?updated_after=2020-01-01'])
    assert.equal((await api.get(path)).json.meta.warnings, undefined, path)
})
