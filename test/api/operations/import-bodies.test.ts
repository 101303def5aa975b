import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { holdKind } from '../../../src/backoffice/rows/hold.ts'
import { isProblem } from '../../support/problem.ts'
import { until } from '../../support/processes.ts'
import { type Caller, startTestService } from '../../support/service.ts'

const service = await startTestService({ settings: { readsPerMinute: 'off', writesPerMinute: 'off' } })
after(() => service.stop())

const send = (shop: Caller, body: string | Buffer, headers: Record<string, string> = {}, query = '') =>
  shop.request(`/imports/stores${query}`, {
    method: 'POST',
    headers: Object.assign({ 'content-type': 'text/csv' }, headers),
    body,
  })
const isIn = async (shop: Caller, path: unknown) => {
  await until(async () => (await shop.get(String(path))).json.data.state !== 'running', 'it is in', 30_000)
}
const csv = 'storeId,storeNumber,name\n1,101,Collins Street\n'

test('an account has two files in work at a time, and those of others are taken beside them', async () => {
  const [shop, other] = [await service.tenant(), await service.tenant()]
  const letGo = await holdKind(service.db, shop.service, 'stores', {})
  const taken = [await send(shop, csv), await send(shop, csv)]
  try {
    for (const { status, text } of taken) assert.equal(status, 202, text)
    isProblem(await send(shop, csv), 'too_many_imports', service.baseUrl)
    const theirs = await send(other, csv)
    assert.equal(theirs.status, 202, theirs.text)
    await isIn(other, theirs.headers.location)
  } finally {
    await letGo()
  }
  for (const { headers } of taken) await isIn(shop, headers.location)
  assert.equal((await send(shop, csv)).status, 202)
})
